/// A part of a netlink reply, with reading that can't run over its end.
public struct NetlinkBytes: Sendable {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// How many bytes there are.
    var count: Int { bytes.count }

    /// A number in host order; nil where it isn't wholly inside.
    func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: Int, as type: Number.Type) -> Number? {
        guard offset >= 0, offset + MemoryLayout<Number>.size <= count else { return nil }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    /// A part, cut to what is there.
    func slice(_ range: Range<Int>) -> NetlinkBytes {
        let inside = range.clamped(to: 0..<count)
        return NetlinkBytes(bytes[bytes.startIndex + inside.lowerBound..<bytes.startIndex + inside.upperBound])
    }

    /// All as an array.
    var copy: [UInt8] { Array(bytes) }

    /// Gives each attribute's type and value; attributes begin at `offset` and each at a multiple of 4 from there.
    ///
    /// - Throws: ``NetlinkError/badLength(offset:declared:have:)``, and what `take` throws.
    func attributes(from offset: Int, _ take: (UInt16, NetlinkBytes) throws(NetlinkError) -> Void) throws(NetlinkError) {
        try records(from: offset, headerByteCount: 4) { record throws(NetlinkError) in
            // The upper two bits say "nested" and "network order", not what it is.
            try take((record.number(at: 2, as: UInt16.self) ?? 0) & 0x3FFF, record.slice(4..<record.count))
        }
    }

    /// Gives each record of a row; a record begins with its own length in 16 bits, header included, and the next one at the next
    /// multiple of 4.
    ///
    /// - Throws: ``NetlinkError/badLength(offset:declared:have:)``, and what `take` throws.
    func records(
        from offset: Int, headerByteCount: Int, _ take: (NetlinkBytes) throws(NetlinkError) -> Void
    ) throws(NetlinkError) {
        var start = offset
        while start < count {
            let length = Int(number(at: start, as: UInt16.self) ?? 0)
            guard length >= headerByteCount, length <= count - start else {
                throw .badLength(offset: start, declared: length, have: count - start)
            }
            try take(slice(start..<start + length))
            start += (length + 3) & ~3
        }
    }
}
