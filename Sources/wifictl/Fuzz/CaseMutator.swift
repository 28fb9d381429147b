import FrameCodec
import SocketCore

/// Damages a stream in one to three places.
enum CaseMutator {
    private static let interesting: [UInt8] = [0, 1, 0x0A, 0x20, 0x2D, 0x2F, 0x30, 0x39, 0x3A, 0x7F, 0x80, 0xFE, 0xFF]

    static func mutate(_ bytes: inout [UInt8], layout: FrameLayout, _ dice: inout SeededGenerator) {
        for _ in 0...dice.below(3) {
            guard !bytes.isEmpty else { return bytes.append(dice.pick(interesting)) }
            apply(&bytes, layout, &dice)
        }
    }

    private static func apply(_ bytes: inout [UInt8], _ layout: FrameLayout, _ dice: inout SeededGenerator) {
        let place = dice.below(bytes.count)
        switch dice.below(16) {
        case 0, 1: bytes[place] ^= 1 << UInt8(dice.below(8))
        case 2: bytes[place] = dice.pick(interesting)
        case 3: bytes[place] &+= dice.once(in: 2) ? 1 : 255
        // The stream ends anywhere: truncation is the damage that networks do.
        case 4, 5, 6: bytes.removeLast(bytes.count - place)
        case 7: bytes.removeSubrange(place..<min(bytes.count, place + 1 + dice.below(12)))
        case 8: bytes.insert(dice.pick(interesting), at: place)
        case 9: bytes.append(contentsOf: copy(bytes, place, 64))
        case 10: bytes.insert(contentsOf: copy(bytes, 0, FrameHeader.byteCount), at: place)
        case 11, 12: overwriteLength(&bytes, HostileValues.lengthField(1 << dice.below(20), layout, &dice), at: place)
        case 13: overwriteLength(&bytes, HostileValues.lengthField(bytes.count, layout, &dice), at: 0)
        case 14: bytes.append(dice.pick(interesting))
        default: reverse(&bytes, place, min(bytes.count, place + 4))
        }
    }

    /// A copy that shares no memory: a slice would make the array it is added to move to fresh memory, capacity and all.
    private static func copy(_ bytes: [UInt8], _ start: Int, _ most: Int) -> [UInt8] {
        bytes.withUnsafeBufferPointer { [UInt8]($0[start..<min(bytes.count, start + most)]) }
    }

    /// A length field over what stands where the header at `start` would have it.
    private static func overwriteLength(_ bytes: inout [UInt8], _ field: UInt32, at start: Int) {
        guard start + FrameHeader.byteCount <= bytes.count else { return }
        for index in 0..<4 { bytes[start + 6 + index] = UInt8(truncatingIfNeeded: field >> UInt32(24 - 8 * index)) }
    }

    /// Four bytes the other way round: a field in the other byte order.
    private static func reverse(_ bytes: inout [UInt8], _ start: Int, _ end: Int) {
        bytes[start..<end].reverse()
    }
}
