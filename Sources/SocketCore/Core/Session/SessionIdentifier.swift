/// A session's name: 128 random bits that the controller chose, 32 hex digits on the wire (protocol.md, section 3).
public struct SessionIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The first sixteen digits.
    public let high: UInt64
    /// The last sixteen digits.
    public let low: UInt64

    /// An identifier of the given bits; whoever makes one takes them from a secure source.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads exactly 32 hex digits; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, HexText.isHex(text),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// 32 lower-case hex digits.
    public var description: String { HexText.digits(high) + HexText.digits(low) }
}

/// Hex digits without Foundation.
enum HexText {
    /// Sixteen lower-case digits.
    static func digits(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    /// Two lower-case digits a byte.
    static func bytes(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    /// Whether every character is a hex digit: a sign, which number readers accept, is none.
    static func isHex(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
        }
    }
}
