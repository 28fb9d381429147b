/// One message of a netlink datagram (RFC 3549, section 2.2; numbers in the machine's own byte order).
///
///     offset  size  field
///     0       4     length of the message with this header
///     4       2     type
///     6       2     flags
///     8       4     sequence number of the request that it answers
///     12      4     port of the sender
///     16            payload
struct NetlinkMessage: Equatable {
    static let headerSize = 16
    /// The message is one of several that end with ``done``.
    static let multiple: UInt16 = 0x2
    /// The table changed while it was being dumped: what came may have gaps.
    static let dumpInterrupted: UInt16 = 0x10

    /// An error, or with code 0 an acknowledgement.
    static let error: UInt16 = 2
    /// The end of a dump.
    static let done: UInt16 = 3

    var type: UInt16
    var flags: UInt16
    var sequence: UInt32
    var payload: ArraySlice<UInt8>

    /// The messages of a datagram. A message whose length can't be right ends the row: behind it nothing has a known place.
    static func all(in datagram: [UInt8]) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = datagram[...]
        while let length = rest.native(UInt32.self, at: 0), length >= headerSize, length <= rest.count,
            let type = rest.native(UInt16.self, at: 4), let flags = rest.native(UInt16.self, at: 6),
            let sequence = rest.native(UInt32.self, at: 8)
        {
            messages.append(
                NetlinkMessage(type: type, flags: flags, sequence: sequence, payload: rest.prefix(Int(length)).dropFirst(headerSize)))
            rest = rest.dropFirst(NetlinkAttributes.aligned(Int(length)))
        }
        return messages
    }

    /// For ``error`` and ``done``: the positive error number, 0 for success; nil when the payload has no room for one.
    var errorCode: Int32? {
        payload.native(Int32.self, at: 0).map { $0 == .min ? .max : abs($0) }
    }
}

extension ArraySlice<UInt8> {
    /// A number in the machine's byte order, `offset` bytes behind the slice's start; nil when the slice ends before it does.
    func native<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type, at offset: Int) -> Number? {
        guard offset >= 0, count - offset >= MemoryLayout<Number>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }
}
