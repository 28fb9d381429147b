import FrameCodec
import SocketCore

/// One discovery datagram: a frame in the `standard` layout whose body is a JSON object with one member that says what
/// it is (protocol.md, section 4).
public struct DiscoveryDatagram: Equatable, Sendable {
    /// UDP port for discovery, and for sessions unless a reply says otherwise.
    public static let port: UInt16 = 19510
    /// 239.255.19.51.
    public static let groupV4 = IPAddress.v4(239, 255, 19, 51)
    /// ff12::1951, of link-local scope; give it an interface before sending.
    public static let groupV6 = IPAddress.v6(high: 0xFF12_0000_0000_0000, low: 0x1951, scope: 0)
    /// What fits unfragmented into an Ethernet frame; anything longer is dropped whole.
    public static let maximumByteCount = 1472
    static let headerByteCount = FrameHeader.byteCount

    /// What the datagram says.
    public enum Message: Equatable, Sendable {
        /// A controller asks.
        case probe(Probe)
        /// A router answers.
        case reply(nonce: HexToken, RouterDescription)
        /// A router tells unasked.
        case announce(RouterDescription)
        /// A router leaves.
        case bye(mac: MACAddress, boot: HexToken?)
    }

    /// Random and not 0 for a probe; the probe's for a reply; without meaning for the others.
    public var msgId: UInt32
    /// What it says.
    public var message: Message

    /// A datagram.
    public init(msgId: UInt32, _ message: Message) {
        self.msgId = msgId
        self.message = message
    }

    /// Reads one datagram.
    ///
    /// - Throws: ``DatagramError``.
    public static func parse(_ bytes: RawSpan) throws(DatagramError) -> DiscoveryDatagram {
        guard bytes.byteCount <= maximumByteCount else { throw .tooLong(byteCount: bytes.byteCount) }
        var msgId: UInt32 = 0
        var body: Result<JSONValue, JSONError>?
        let used: Int
        do throws(FrameError) {
            var decoder = FrameDecoder(limits: FrameLimits(maximumBodyLength: maximumByteCount, versions: 1...1))
            used = try decoder.decode(bytes) { header, span in
                msgId = header.msgId
                do throws(JSONError) { body = .success(try JSONValue.parse(span)) } catch { body = .failure(error) }
                return .stop
            }
            try decoder.finish()
        } catch {
            throw .frame(error)
        }
        switch body {
        case nil: throw .frame(.truncated(have: 0, need: headerByteCount))
        case .some where used < bytes.byteCount: throw .trailingBytes(bytes.byteCount - used)
        case .failure(let error): throw .notJSON(error)
        case .success(let json): return DiscoveryDatagram(msgId: msgId, try message(json, msgId: msgId))
        }
    }

    private static func message(_ json: JSONValue, msgId: UInt32) throws(DatagramError) -> Message {
        if let object = json["reply"] {
            guard msgId != 0 else { throw .zeroMessageId }
            return .reply(nonce: try MessageFields(object).token("nonce"), try RouterDescription(object))
        }
        if let object = json["probe"] {
            guard msgId != 0 else { throw .zeroMessageId }
            return .probe(try Probe(object))
        }
        if let object = json["announce"] { return .announce(try RouterDescription(object)) }
        if let object = json["bye"] {
            return .bye(mac: try MessageFields(object).device("mac"), boot: object["boot"]?.stringValue.flatMap(HexToken.init))
        }
        throw .unknownMessage
    }

    /// The datagram's bytes. A reply or an announcement that would be too long loses what matters least: see
    /// ``ReplyEncoder``.
    public func encoded() -> [UInt8] {
        switch message {
        case .probe(let probe): return DiscoveryDatagram.frame(msgId: msgId, body: probe.body())
        case .reply(let nonce, let router):
            return ReplyEncoder.encode(router, msgId: msgId, nonce: nonce, limit: ReplyEncoder.maximumByteCount)
                ?? DiscoveryDatagram.frame(msgId: msgId, body: [])
        case .announce(let router):
            return ReplyEncoder.encode(router, msgId: msgId, nonce: nil, limit: ReplyEncoder.maximumByteCount)
                ?? DiscoveryDatagram.frame(msgId: msgId, body: [])
        case .bye(let mac, let boot):
            var members: [JSONValue.Member] = [.init("mac", .string(mac.description))]
            if let boot { members.append(.init("boot", .string(boot.description))) }
            return DiscoveryDatagram.frame(msgId: msgId, body: JSONValue.object([.init("bye", .object(members))]).encoded())
        }
    }

    /// Header and body in one array. The bodies made here are far below any limit, so the header is always writable.
    static func frame(msgId: UInt32, body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerByteCount + body.count)
        do { try FrameEncoder().encode(msgId: msgId, body: body.span.bytes, into: &bytes) } catch { return [] }
        return bytes
    }
}
