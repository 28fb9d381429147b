/// Bytes that numbers are read from, each read checked: nil beyond the end, never a trap.
struct ByteWindow: Sendable {
    private(set) var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// The byte at `offset`.
    func uint8(_ offset: Int) -> UInt8? {
        offset >= 0 && offset < bytes.count ? bytes[bytes.startIndex + offset] : nil
    }

    func uint16(_ offset: Int, bigEndian: Bool = true) -> UInt16? {
        number(offset, 2, bigEndian).map { UInt16(truncatingIfNeeded: $0) }
    }

    func uint32(_ offset: Int, bigEndian: Bool = true) -> UInt32? {
        number(offset, 4, bigEndian).map { UInt32(truncatingIfNeeded: $0) }
    }

    func uint64(_ offset: Int, bigEndian: Bool = true) -> UInt64? { number(offset, 8, bigEndian) }

    /// What follows the first `length` bytes; nil when there are fewer.
    func dropFirst(_ length: Int) -> ByteWindow? {
        length >= 0 && length <= bytes.count ? ByteWindow(bytes.dropFirst(length)) : nil
    }

    /// At most `length` bytes from the start.
    func prefix(_ length: Int) -> ByteWindow { ByteWindow(bytes.prefix(max(0, length))) }

    private func number(_ offset: Int, _ width: Int, _ bigEndian: Bool) -> UInt64? {
        guard offset >= 0, offset <= bytes.count - width else { return nil }
        let start = bytes.startIndex + offset
        var value: UInt64 = 0
        for index in 0..<width {
            value = value << 8 | UInt64(bytes[bigEndian ? start + index : start + width - 1 - index])
        }
        return value
    }
}
