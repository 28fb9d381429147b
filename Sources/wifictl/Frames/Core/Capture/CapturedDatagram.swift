import FrameCodec
import SocketCore

/// A UDP datagram on the discovery port, taken apart (protocol.md, section 4).
struct CapturedDatagram: Sendable {
    /// What the body says that it is.
    enum Kind: String, Sendable, CaseIterable {
        case probe, reply, announce, bye
    }

    let source: Endpoint
    let destination: Endpoint
    /// Bytes of the datagram.
    let length: Int
    let content: Result<Content, Invalid>

    struct Content: Sendable {
        let kind: Kind
        let header: FrameHeader
        /// What stands under the kind's name.
        let value: JSONValue
    }

    /// Why it counts as none.
    enum Invalid: String, Error, Sendable, CustomStringConvertible {
        case cutOff = "the capture kept only its start"
        case noHeader = "shorter than a header, or its header can't be right"
        case wrongLength = "its length isn't the one that its header declares"
        case noJSON = "its body is no JSON object"
        case unknownKind = "its body is none of probe, reply, announce and bye"

        var description: String { rawValue }
    }

    init(_ datagram: UDPDatagram) {
        source = datagram.source
        destination = datagram.destination
        length = datagram.length
        content = Result { () throws(Invalid) in try CapturedDatagram.content(of: datagram) }
    }

    private static func content(of datagram: UDPDatagram) throws(Invalid) -> Content {
        guard datagram.payload.count == datagram.length else { throw .cutOff }
        var decoder = FrameDecoder()
        var frame: Frame?
        do throws(FrameError) {
            try decoder.decode(Array(datagram.payload).span.bytes) { header, body in
                frame = Frame(header, body)
                return .stop
            }
        } catch {
            throw .noHeader
        }
        guard let frame else { throw datagram.length < FrameHeader.byteCount ? .noHeader : .wrongLength }
        guard frame.header.frameByteCount == datagram.length else { throw .wrongLength }
        let body: JSONValue
        do throws(JSONError) { body = try JSONValue.parse(frame.body) } catch { throw .noJSON }
        guard body.objectValue != nil else { throw .noJSON }
        for kind in Kind.allCases {
            if let value = body[kind.rawValue] { return Content(kind: kind, header: frame.header, value: value) }
        }
        throw .unknownKind
    }
}
