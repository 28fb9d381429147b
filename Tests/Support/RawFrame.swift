import FrameCodec

/// Headers written byte by byte, without the encoder, so that tests can say what no encoder would.
public enum RawFrame {
    /// Ten header bytes with `length` in the length field, whether it's true, allowed or not. `asciiLength` shows its last four digits.
    public static func header(_ layout: FrameLayout = .standard, msgId: UInt32 = 1, version: UInt16 = 1, length: UInt32) -> [UInt8] {
        switch layout {
        case .standard: big(msgId, 4) + big(UInt32(version), 2) + big(length, 4)
        case .littleEndian: big(msgId, 4).reversed() + big(UInt32(version), 2).reversed() + big(length, 4).reversed()
        case .asciiLength: header(msgId: msgId, version: version, field: [1_000, 100, 10, 1].map { UInt8(48 + length / $0 % 10) })
        }
    }

    /// Ten header bytes, msgId and version big-endian, with these four in the length field.
    public static func header(msgId: UInt32 = 1, version: UInt16 = 1, field: [UInt8]) -> [UInt8] {
        big(msgId, 4) + big(UInt32(version), 2) + field
    }

    /// A whole frame.
    public static func frame(_ body: [UInt8] = [], msgId: UInt32 = 1, version: UInt16 = 1, layout: FrameLayout = .standard) -> [UInt8] {
        header(layout, msgId: msgId, version: version, length: UInt32(body.count)) + body
    }

    private static func big(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
    }
}
