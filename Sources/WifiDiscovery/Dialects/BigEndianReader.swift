/// Reads big-endian numbers and pieces from bytes that a stranger sent; nil wherever they end too early.
struct BigEndianReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func uint8() -> UInt8? { rest.popFirst() }

    mutating func uint16() -> UInt16? {
        bytes(2).map { $0.reduce(0) { $0 << 8 | UInt16($1) } }
    }

    mutating func uint32() -> UInt32? {
        bytes(4).map { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

extension ArraySlice<UInt8> {
    /// Exactly six bytes as a hardware address.
    var macAddress: MACAddress? {
        count == 6 ? MACAddress(bits: reduce(0) { $0 << 8 | UInt64($1) }) : nil
    }

    /// UTF-8 up to the first NUL; what isn't UTF-8 becomes U+FFFD.
    var terminatedText: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}
