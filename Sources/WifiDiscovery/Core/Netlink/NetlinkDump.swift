/// Asks the kernel for a table and reads the answer, as bytes (RFC 3549; linux/netlink.h). All numbers are in host order.
///
///     offset  size  field
///     0       4     length, header included; the next message begins at the next multiple of 4
///     4       2     type
///     6       2     flags
///     8       4     sequence number of the request
///     12      4     port
public struct NetlinkDump: Sendable {
    /// Which table.
    public enum Table: UInt16, Sendable {
        /// IPv4 and IPv6 routes (RTM_GETROUTE).
        case routes = 26
        /// Hardware addresses of neighbours (RTM_GETNEIGH).
        case neighbours = 30
    }

    static let headerByteCount = 16
    /// Both `rtmsg` and `ndmsg` take 12 bytes, and zeros mean "of every family".
    private static let queryByteCount = 12
    private static let requestAndDump: UInt16 = 0x301
    private static let interruptedFlag: UInt16 = 0x10
    private static let typeError: UInt16 = 2
    private static let typeDone: UInt16 = 3

    /// The request's number, which its answers repeat.
    public let sequence: UInt32
    /// True once the kernel has said that this was all.
    public private(set) var isComplete = false
    private var isInterrupted = false

    /// An answer to the request with that number.
    public init(sequence: UInt32) { self.sequence = sequence }

    /// The request's bytes.
    public static func request(_ table: Table, sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        append(UInt32(headerByteCount + queryByteCount), to: &bytes)
        append(table.rawValue, to: &bytes)
        append(requestAndDump, to: &bytes)
        append(sequence, to: &bytes)
        append(UInt32(0), to: &bytes)
        return bytes + [UInt8](repeating: 0, count: queryByteCount)
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }

    /// Reads one datagram of the answer, giving each message's type and payload to `take`. Messages of other requests are
    /// skipped.
    ///
    /// - Throws: ``NetlinkError``; ``NetlinkError/interrupted`` only with the end of the answer.
    public mutating func read(_ datagram: [UInt8], _ take: (UInt16, NetlinkBytes) throws(NetlinkError) -> Void) throws(NetlinkError) {
        let all = NetlinkBytes(datagram[...])
        var offset = 0
        while offset < all.count {
            guard let length = all.number(at: offset, as: UInt32.self).map(Int.init),
                let type = all.number(at: offset + 4, as: UInt16.self),
                let flags = all.number(at: offset + 6, as: UInt16.self), let number = all.number(at: offset + 8, as: UInt32.self),
                length >= NetlinkDump.headerByteCount, length <= all.count - offset
            else {
                let declared = all.number(at: offset, as: UInt32.self).map(Int.init) ?? 0
                throw .badLength(offset: offset, declared: declared, have: all.count - offset)
            }
            let payload = all.slice(offset + NetlinkDump.headerByteCount..<offset + length)
            offset += (length + 3) & ~3
            guard number == sequence else { continue }
            if flags & NetlinkDump.interruptedFlag != 0 { isInterrupted = true }
            switch type {
            case NetlinkDump.typeDone:
                isComplete = true
                if isInterrupted { throw .interrupted }
            case NetlinkDump.typeError:
                isComplete = true
                if let code = payload.number(at: 0, as: Int32.self), code != 0 { throw .refused(errno: -code) }
            default: try take(type, payload)
            }
        }
    }
}
