/// Sixteen hex digits as a value: a probe's nonce, a router's boot (protocol.md, section 4).
///
/// Read in either case, written in lower case.
public struct HexToken: Hashable, Sendable, BitwiseCopyable, CustomStringConvertible, LosslessStringConvertible {
    /// The number that the digits write.
    public let value: UInt64

    /// The token of that number.
    public init(_ value: UInt64) { self.value = value }

    /// Reads exactly 16 hex digits; nil for anything else.
    public init?(_ text: String) {
        guard text.utf8.count == 16 else { return nil }
        var value: UInt64 = 0
        for byte in text.utf8 {
            guard let digit = StaticHex.value(byte) else { return nil }
            value = value << 4 | digit
        }
        self.value = value
    }

    /// Sixteen lower-case hex digits.
    public var description: String {
        String(unsafeUninitializedCapacity: 16) { buffer in
            for index in 0..<16 { buffer[index] = StaticHex.digits[Int(value >> UInt64(60 - 4 * index) & 0xF)] }
            return 16
        }
    }
}

/// Hex digits as bytes: what the standard library offers costs a character each.
enum StaticHex {
    static let digits: [UInt8] = Array("0123456789abcdef".utf8)

    static func value(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
