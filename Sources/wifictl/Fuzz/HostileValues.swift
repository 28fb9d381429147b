import FrameCodec
import SocketCore

/// The values at which frame decoders break.
enum HostileValues {
    static let msgIds: [UInt32] = [0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF]

    /// Signed and unsigned ends, lengths for which header and length together wrap in 32 bits, and ends of shorter integers.
    static let lengths: [UInt32] = [
        0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFF5, 0xFFFF_FFF6, 0xFFFF_FFF7, 0x8000_0010, 0x7FFF_FFF5, 0x7FFF_FFF6,
        0x0100_0000, 0x00FF_FFFF, 0x0001_0000, 0x0000_FFFF, 0x0001_0010, 0x0000_8000, 0x0000_7FFF, 0x0000_0100, 0x1000_0000, 0,
    ]

    /// Fields that are no number, or just so one, where the length is written in digits.
    static let digitFields: [UInt32] = [
        "    ", "\0\0\0\0", "-001", "+016", " +16", "-0  ", "0x10", "1e3 ", "1 6 ", "1\0006", " 16\0", "16  ", "  16", "16\0 ", "\0\0 1",
        "\0001  ", " \0001", "9999", "0000", "   0", "0   ", "0\0\0\0", "000A", "12.5", "1,00", "\t\t16", "0016", "/016", ":016", "00\n1",
    ].map { field($0) }

    /// First bytes of protocols that end up on the wrong port.
    static let otherProtocols: [[UInt8]] = [
        Array("GET / HTTP/1.1\r\nHost: router\r\n\r\n".utf8),
        [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03] + Array(repeating: 0x5A, count: 32),
        Array("SSH-2.0-OpenSSH_9.9\r\n".utf8),
        Array("M-SEARCH * HTTP/1.1\r\nMAN: \"ssdp:discover\"\r\n\r\n".utf8),
        Array("{\"hello\":{\"session\":\"00\"}}".utf8),
        [0x10, 0x16, 0x00, 0x04] + Array("MQTT".utf8) + [0x04, 0x02, 0x00, 0x3C],
        Array(repeating: 0, count: 40), Array(repeating: 0xFF, count: 40), Array(repeating: 0x20, count: 40),
    ]

    /// The field that says `length` in a layout, as it goes out; a length that the digits can't say comes out wrong, as from a careless sender.
    static func lengthField(_ length: Int, _ layout: FrameLayout) -> UInt32 {
        let number = UInt32(truncatingIfNeeded: length)
        switch layout {
        case .standard: return number
        case .littleEndian: return number.byteSwapped
        case .asciiLength:
            var rest = number
            var field: UInt32 = 0
            for place in 0..<4 {
                field |= (0x30 + rest % 10) << UInt32(8 * place)
                rest /= 10
            }
            return field
        }
    }

    /// A field chosen to do harm to a decoder with this limit.
    static func lengthField(_ limit: Int, _ layout: FrameLayout, _ dice: inout SeededGenerator) -> UInt32 {
        switch dice.below(layout == .asciiLength ? 8 : 5) {
        case 0: lengthField(limit + 1, layout)
        case 1: lengthField(max(0, limit - dice.below(2)), layout)
        case 2: lengthField(Int(dice.pick(lengths)), layout)
        // The same number written in the other byte order.
        case 3: lengthField(dice.below(64), layout).byteSwapped
        case 4: UInt32(truncatingIfNeeded: dice.next())
        default: dice.pick(digitFields)
        }
    }

    private static func field(_ text: String) -> UInt32 {
        text.utf8.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
