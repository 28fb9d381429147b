import FrameCodec

/// A device's end of a link, as its firmware's C code uses it: bytes that came in go to `device_link_received`, which hands each message
/// to the application and writes the receipts that are due (docs/protocol.md, what a frame means in a session).
///
///     size_t device_link_size(void);
///     void   device_link_open(void *link, uint32_t largest_body);
///     long   device_link_received(void *link, const void *bytes, long count, void *output, long capacity);
///     void   device_link_close(void *link);
///     void   device_took_message(uint32_t id, const void *body, long length);      the application's own
struct DeviceLink: ~Copyable {
    /// What `device_link_received` answers when the stream is broken: the connection is to be closed.
    static let broken = -1
    /// What it answers when the output has no room for a receipt: with 10 bytes for each 10 received that can't happen.
    static let outputTooSmall = -2

    private var decoder: FrameDecoder
    private let encoder: FrameEncoder

    init(largestBody: UInt32) {
        let limits = FrameLimits(maximumBodyLength: Int(clamping: largestBody), versions: 1...1)
        decoder = FrameDecoder(limits: limits)
        encoder = FrameEncoder(limits: limits)
    }

    /// Decodes a read in place and writes a receipt for each message that wants one.
    mutating func received(_ bytes: RawSpan, into output: inout OutputRawSpan, _ took: (FrameHeader, RawSpan) -> Void) -> Bool {
        var hasRoom = true
        do throws(FrameError) {
            try decoder.decode(bytes) { header, body in
                guard header.bodyLength > 0 else { return .more }
                took(header, body)
                guard header.msgId != 0 else { return .more }
                do throws(FrameError) {
                    try encoder.encode(msgId: header.msgId, version: header.version, body: RawSpan(), into: &output)
                } catch {
                    hasRoom = false
                    return .stop
                }
                return .more
            }
        } catch {
            return false
        }
        return hasRoom
    }

    var failed: Bool { decoder.failure != nil }
}

@_extern(c, "device_took_message")
func deviceTookMessage(_ id: UInt32, _ body: UnsafeRawPointer?, _ length: Int)

/// The bytes that a link takes, for the caller to set aside, aligned to 16.
@_cdecl("device_link_size")
public func deviceLinkSize() -> Int { MemoryLayout<DeviceLink>.stride }

/// Starts a link in memory that the caller has set aside. `largestBody` is in bytes.
@_cdecl("device_link_open")
public func deviceLinkOpen(_ link: UnsafeMutableRawPointer, _ largestBody: UInt32) {
    link.initializeMemory(as: DeviceLink.self, to: DeviceLink(largestBody: largestBody))
}

/// Takes bytes that came in. Gives how many bytes of receipts were written, or a negative number: see ``DeviceLink``.
@_cdecl("device_link_received")
public func deviceLinkReceived(
    _ link: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ count: Int, _ output: UnsafeMutableRawPointer, _ capacity: Int
) -> Int {
    let room = UnsafeMutableRawBufferPointer(start: output, count: capacity)
    var receipts = OutputRawSpan(buffer: room, initializedCount: 0)
    let input = UnsafeRawBufferPointer(start: bytes, count: count).bytes
    let link = link.assumingMemoryBound(to: DeviceLink.self)
    let went = link.pointee.received(input, into: &receipts) { header, body in
        body.withUnsafeBytes { deviceTookMessage(header.msgId, $0.baseAddress, $0.count) }
    }
    let written = receipts.finalize(for: room)
    return went ? written : link.pointee.failed ? DeviceLink.broken : DeviceLink.outputTooSmall
}

/// Ends a link; its memory is the caller's again.
@_cdecl("device_link_close")
public func deviceLinkClose(_ link: UnsafeMutableRawPointer) {
    link.assumingMemoryBound(to: DeviceLink.self).deinitialize(count: 1)
}
