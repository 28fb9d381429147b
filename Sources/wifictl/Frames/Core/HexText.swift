/// Why text is no hex dump.
enum HexTextError: Error, Equatable, Sendable {
    /// A character that is neither a digit nor one of the separators.
    case badCharacter(line: Int, character: Character)
    /// A group with an odd number of digits, which can't be whole bytes.
    case oddDigits(line: Int, group: String)
    /// A line that says that it begins at `stated` although `counted` bytes came before it.
    case wrongOffset(line: Int, stated: Int, counted: Int)
    /// `*`, which dump tools print for lines that they left out.
    case leftOut(line: Int)
}

extension HexTextError: CustomStringConvertible {
    var description: String {
        switch self {
        case .badCharacter(let line, let character): "line \(line): '\(character)' is no hex digit"
        case .oddDigits(let line, let group): "line \(line): '\(group)' has an odd number of digits"
        case .wrongOffset(let line, let stated, let counted):
            "line \(line) says that it begins at offset \(stated), but \(counted) bytes came before it"
        case .leftOut(let line): "line \(line): '*' stands for repeated lines that the dump left out (make it with hexdump -v or xxd)"
        }
    }
}

/// Reads hex text a line at a time: plain digits, `0x` in front of groups, commas, colons between, and the dumps of xxd, `hexdump -C`,
/// `od -A x -t x1`, tcpdump and Wireshark, with their offsets and text columns.
///
/// The first group of a line is an offset if a colon follows it, or if it has at least four digits, says exactly how many
/// bytes came before, and only groups of two digits follow. Every stated offset is checked against the bytes read, so that
/// a text column taken for bytes, or a lost line, is found.
struct HexText: Sendable {
    /// Bytes read so far.
    private(set) var byteCount = 0
    /// Lines read so far.
    private(set) var lineNumber = 0
    /// Whether a first column without a colon was taken for offsets: the one guess made here, worth a remark.
    private(set) var hasGuessedOffsets = false
    /// What the first stated offset was ahead of the bytes read: a dump may begin anywhere.
    private var base: Int?

    /// The bytes that one line holds.
    mutating func bytes(ofLine line: some Sequence<UInt8>) throws(HexTextError) -> [UInt8] {
        lineNumber += 1
        let text = HexText.withoutComment(Array(line))
        var segments = HexText.segments(of: text)
        guard let first = segments.first?.first else { return [] }
        if first == [UInt8(ascii: "*")] { throw .leftOut(line: lineNumber) }
        var isDump = false
        if first.last == UInt8(ascii: ":") {
            try check(offset: first.dropLast())
            isDump = true
        } else if isBareOffset(first, segments) {
            hasGuessedOffsets = true
            try check(offset: first[...])
            isDump = true
        }
        if isDump {
            segments[0].removeFirst()
            segments = HexText.withoutTextColumn(segments.filter { !$0.isEmpty })
        }
        var bytes: [UInt8] = []
        for group in segments.joined() { bytes += try read(group) }
        byteCount += bytes.count
        return bytes
    }

    private mutating func check(offset digits: ArraySlice<UInt8>) throws(HexTextError) {
        var value = 0
        for digit in HexText.withoutPrefix(digits) {
            guard let nibble = HexText.value(of: digit), value < 1 << 56 else { throw badCharacter(digit) }
            value = value << 4 | Int(nibble)
        }
        guard let base else {
            base = value - byteCount
            return
        }
        guard value - base == byteCount else { throw .wrongOffset(line: lineNumber, stated: value, counted: byteCount + base) }
    }

    private func isBareOffset(_ first: [UInt8], _ segments: [[[UInt8]]]) -> Bool {
        guard first.count >= 4, first.count <= 16, first.allSatisfy({ HexText.value(of: $0) != nil }) else { return false }
        let stated = first.reduce(0) { $0 << 4 | Int(HexText.value(of: $1) ?? 0) }
        guard stated == byteCount + (base ?? 0) else { return false }
        let rest = segments.joined().dropFirst().prefix { $0.first != UInt8(ascii: "|") }
        if rest.isEmpty { return hasGuessedOffsets }
        // A text column may follow, so only what stands in front of the next wide gap has to be pairs.
        let near = segments[0].count > 1 ? segments[0].dropFirst() : segments.dropFirst().first?[...] ?? []
        return !near.isEmpty && near.allSatisfy { $0.count == 2 && $0.allSatisfy { HexText.value(of: $0) != nil } }
    }

    private func read(_ group: [UInt8]) throws(HexTextError) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in group.split(separator: UInt8(ascii: ":")) {
            let digits = HexText.withoutPrefix(part)
            bytes.reserveCapacity(bytes.count + digits.count / 2)
            var high: UInt8?
            for digit in digits {
                guard let nibble = HexText.value(of: digit) else { throw badCharacter(digit) }
                if let first = high { bytes.append(first << 4 | nibble) }
                high = high == nil ? nibble : nil
            }
            guard high == nil, !digits.isEmpty else {
                throw .oddDigits(line: lineNumber, group: String(decoding: part.prefix(20), as: UTF8.self))
            }
        }
        return bytes
    }

    private func badCharacter(_ byte: UInt8) -> HexTextError {
        .badCharacter(line: lineNumber, character: byte < 0x80 ? Character(Unicode.Scalar(byte)) : "\u{FFFD}")
    }
}

extension HexText {
    /// The value of one ASCII hex digit.
    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46: digit - 0x41 + 10
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }

    private static func withoutPrefix(_ digits: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        digits.count >= 2 && digits.first == 0x30 && digits.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
            ? digits.dropFirst(2) : digits
    }

    /// Nothing of a line that begins with `#` or `//`.
    private static func withoutComment(_ line: [UInt8]) -> [UInt8] {
        let words = line.drop { $0 == 0x20 || $0 == 0x09 }
        return words.first == UInt8(ascii: "#") || words.starts(with: "//".utf8) ? [] : line
    }

    /// Groups of characters, in segments that stand two or more blanks apart. Commas, braces and semicolons part like a blank.
    private static func segments(of line: [UInt8]) -> [[[UInt8]]] {
        var segments: [[[UInt8]]] = []
        var blanks = 2
        var isInGroup = false
        for byte in line {
            switch byte {
            case 0x20, 0x0D, UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ";"):
                blanks += 1
                isInGroup = false
            case 0x09:
                blanks += 2
                isInGroup = false
            default:
                if isInGroup {
                    segments[segments.count - 1][segments[segments.count - 1].count - 1].append(byte)
                } else if blanks >= 2 {
                    segments.append([[byte]])
                } else {
                    segments[segments.count - 1].append([byte])
                }
                isInGroup = true
                blanks = 0
            }
        }
        return segments
    }

    /// What a dump line holds beside its text: the first segment, and a second half after eight pairs, as `hexdump -C` and
    /// Wireshark part them.
    private static func withoutTextColumn(_ segments: [[[UInt8]]]) -> [[[UInt8]]] {
        guard let first = segments.first else { return [] }
        let isPairs = { (segment: [[UInt8]]) in
            segment.allSatisfy { $0.count == 2 && $0.allSatisfy { value(of: $0) != nil } }
        }
        if first.first?.first == UInt8(ascii: "|") { return [] }
        guard segments.count > 1, first.count == 8, isPairs(first), segments[1].count <= 8, isPairs(segments[1]) else { return [first] }
        return [first, segments[1]]
    }
}
