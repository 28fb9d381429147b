/// What kind of file begins with certain bytes.
enum CaptureFormat: Equatable, Sendable {
    /// The bytes of a stream, as they are.
    case raw
    /// A pcap file; numbers in the given byte order, time stamps in units of 1 / `ticksPerSecond` s.
    case pcap(bigEndian: Bool, ticksPerSecond: UInt64)
    /// A pcapng file.
    case pcapng

    /// Bytes of a pcap file's magic number and version, which together tell it from a stream.
    private static let pcapPrefixLength = 8
    /// Bytes up to and with a section header's byte-order magic.
    private static let pcapngPrefixLength = 12

    /// Judges a file's first bytes; nil asks for more of them, which never happens once they can't begin a capture any more.
    ///
    /// The magic number alone isn't taken as proof, since a stream of frames may begin with any message id: the major
    /// version of a pcap file (2) and the byte-order magic of a pcapng section must be there too. No frame that a
    /// decoder accepts looks like that by chance.
    ///
    /// - Parameter ended: whether no more bytes will come.
    static func recognise(_ bytes: [UInt8], ended: Bool) -> CaptureFormat? {
        if bytes.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) {
            guard bytes.count >= pcapngPrefixLength else { return ended ? .raw : nil }
            let order = Array(bytes[8..<12])
            return order == [0x1A, 0x2B, 0x3C, 0x4D] || order == [0x4D, 0x3C, 0x2B, 0x1A] ? .pcapng : .raw
        }
        for (magic, bigEndian, ticks) in magics where bytes.starts(with: magic) {
            guard bytes.count >= pcapPrefixLength else { return ended ? .raw : nil }
            let major = bigEndian ? [bytes[4], bytes[5]] : [bytes[5], bytes[4]]
            return major == [0, 2] ? .pcap(bigEndian: bigEndian, ticksPerSecond: ticks) : .raw
        }
        let mayBegin = ([[0x0A, 0x0D, 0x0D, 0x0A]] + magics.map(\.0)).contains { $0.starts(with: bytes) }
        return mayBegin && !ended ? nil : .raw
    }

    private static let magics: [([UInt8], Bool, UInt64)] = [
        ([0xA1, 0xB2, 0xC3, 0xD4], true, 1_000_000), ([0xD4, 0xC3, 0xB2, 0xA1], false, 1_000_000),
        ([0xA1, 0xB2, 0x3C, 0x4D], true, 1_000_000_000), ([0x4D, 0x3C, 0xB2, 0xA1], false, 1_000_000_000),
    ]
}
