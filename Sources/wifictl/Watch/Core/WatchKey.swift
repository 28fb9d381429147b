/// The keys that the screen knows.
enum WatchKey: Equatable, Sendable {
    case up, down, first, last
    case move, verify, verifyAll, details, help, back, quit, suspend, repaint

    /// The keys in what a terminal sent; what it doesn't know is left out.
    static func keys(_ bytes: [UInt8]) -> [WatchKey] {
        var keys: [WatchKey] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == 0x1B {
                if let key = escaped(&rest) { keys.append(key) }
            } else if let key = plain[byte] {
                keys.append(key)
            }
        }
        return keys
    }

    /// Behind ESC: a cursor key in either of its two spellings, or the key itself, which leaves what one is in.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> WatchKey? {
        guard let kind = rest.first, kind == UInt8(ascii: "[") || kind == UInt8(ascii: "O") else { return .back }
        rest.removeFirst()
        while let byte = rest.popFirst() {
            // Numbers and separators stand before the letter that says which key it is.
            guard (0x40...0x7E).contains(byte) else { continue }
            switch byte {
            case UInt8(ascii: "A"): return .up
            case UInt8(ascii: "B"): return .down
            case UInt8(ascii: "H"): return .first
            case UInt8(ascii: "F"): return .last
            default: return nil
            }
        }
        return nil
    }

    private static let plain: [UInt8: WatchKey] = [
        UInt8(ascii: "k"): .up, UInt8(ascii: "j"): .down, UInt8(ascii: "g"): .first, UInt8(ascii: "G"): .last, UInt8(ascii: "s"): .move,
        UInt8(ascii: "v"): .verify, UInt8(ascii: "V"): .verifyAll, UInt8(ascii: "d"): .details, 0x0D: .details, 0x0A: .details,
        UInt8(ascii: "?"): .help, UInt8(ascii: "h"): .help, UInt8(ascii: "q"): .quit, UInt8(ascii: "Q"): .quit, 0x1A: .suspend,
        0x0C: .repaint,
    ]
}
