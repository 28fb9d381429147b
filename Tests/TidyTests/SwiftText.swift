/// Swift source with its strings and comments told apart from its code, line for line and column for column.
struct SwiftText {
    /// The code: string contents and comments are blanks, code inside of string interpolations stays.
    let code: [UInt8]
    /// The comments: all else is blanks.
    let comments: [UInt8]
    /// Names in the code with their offsets, in order: identifiers and keywords.
    let words: [(text: String, offset: Int)]
    /// Where each line begins.
    private let lineStarts: [Int]

    init(_ source: String) {
        var scanner = Scanner(bytes: Array(source.utf8))
        scanner.scan()
        code = scanner.code
        comments = scanner.comments
        words = SwiftText.words(scanner.code)
        lineStarts = scanner.lineStarts
    }

    var codeLines: [Substring] { SwiftText.lines(code) }
    var commentLines: [Substring] { SwiftText.lines(comments) }

    /// The code of a 1-based line.
    func code(ofLine line: Int) -> String { rest(of: lineStarts[line - 1]) }

    /// The 1-based line of an offset into `code`.
    func line(of offset: Int) -> Int {
        // The first line that begins behind it, by halves: whole files before each word would be most of what the rules cost.
        var (low, high) = (0, lineStarts.count)
        while low < high {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The code from an offset to the end of its line.
    func rest(of offset: Int) -> String {
        String(decoding: code[offset...].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// The first byte at or after `offset` that is no blank, and where it is.
    func next(from offset: Int) -> (byte: UInt8, offset: Int)? {
        code.indices.dropFirst(offset).first { code[$0] > 0x20 }.map { (code[$0], $0) }
    }

    /// The last byte before `offset` on the same line that is no blank.
    func previous(before offset: Int) -> UInt8? {
        var index = offset - 1
        while index >= 0, code[index] == 0x20 { index -= 1 }
        return index >= 0 && code[index] > 0x20 ? code[index] : nil
    }

    /// The offset of the bracket that closes the one at `offset`.
    func closing(_ offset: Int) -> Int? {
        var depth = 0
        for index in offset..<code.count {
            switch code[index] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if depth == 0 { return index }
            default: break
            }
        }
        return nil
    }

    private static func words(_ code: [UInt8]) -> [(text: String, offset: Int)] {
        var words: [(text: String, offset: Int)] = []
        var start: Int?
        for offset in 0...code.count {
            if offset < code.count, isWordByte(code[offset]) {
                start = start ?? offset
            } else if let first = start {
                words.append((String(decoding: code[first..<offset], as: UTF8.self), first))
                start = nil
            }
        }
        return words
    }

    static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "#"), 0x80...:
            true
        default: false
        }
    }

    private static func lines(_ bytes: [UInt8]) -> [Substring] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }
}

/// Walks the source once. Each function takes over behind the mark that called for it and returns behind its own end.
private struct Scanner {
    let bytes: [UInt8]
    var code: [UInt8]
    var comments: [UInt8]
    var lineStarts = [0]
    var at = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        code = [UInt8](repeating: 0x20, count: bytes.count)
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") {
            code[index] = bytes[index]
            lineStarts.append(index + 1)
        }
        comments = code
    }

    mutating func scan() {
        while at < bytes.count { step() }
    }

    private func starts(_ text: StaticString, at offset: Int) -> Bool {
        let count = text.utf8CodeUnitCount
        // Most bytes begin nothing: this is asked of each one several times.
        guard offset + count <= bytes.count, bytes[offset] == text.utf8Start[0] else { return false }
        return (1..<count).allSatisfy { bytes[offset + $0] == text.utf8Start[$0] }
    }

    /// One step in code: a comment, a string, or one byte.
    private mutating func step() {
        if starts("//", at: at) { return lineComment() }
        if starts("/*", at: at) { return blockComment() }
        let hashes = bytes[at] == UInt8(ascii: "#") ? bytes[at...].prefix { $0 == UInt8(ascii: "#") }.count : 0
        if starts("\"", at: at + hashes) { return string(hashes) }
        if bytes[at] == UInt8(ascii: "`") { return quotedName() }
        code[at] = bytes[at]
        at += 1
    }

    private mutating func lineComment() {
        while at < bytes.count, bytes[at] != UInt8(ascii: "\n") {
            comments[at] = bytes[at]
            at += 1
        }
    }

    private mutating func blockComment() {
        var depth = 0
        repeat {
            if starts("/*", at: at) { depth += 1 }
            if starts("*/", at: at) { depth -= 1 }
            let width = starts("/*", at: at) || starts("*/", at: at) ? 2 : 1
            for offset in at..<min(at + width, bytes.count) { comments[offset] = bytes[offset] }
            at += width
        } while depth > 0 && at < bytes.count
    }

    /// A name in backticks may be a whole sentence; it stands for one word.
    private mutating func quotedName() {
        repeat {
            code[at] = UInt8(ascii: "_")
            at += 1
        } while at < bytes.count && bytes[at] != UInt8(ascii: "`") && bytes[at] != UInt8(ascii: "\n")
        at += 1
    }

    private mutating func string(_ hashes: Int) {
        at += hashes
        let isLong = starts("\"\"\"", at: at)
        let quotes = isLong ? 3 : 1
        at += quotes
        while at < bytes.count {
            let closes = isLong ? starts("\"\"\"", at: at) : starts("\"", at: at)
            if closes, (0..<hashes).allSatisfy({ starts("#", at: at + quotes + $0) }) {
                at += quotes + hashes
                return
            }
            if bytes[at] == UInt8(ascii: "\\"), (0..<hashes).allSatisfy({ starts("#", at: at + 1 + $0) }) {
                at += 1 + hashes
                if starts("(", at: at) { interpolation() } else { at += 1 }
            } else {
                at += 1
            }
        }
    }

    private mutating func interpolation() {
        var depth = 0
        repeat {
            if bytes[at] == UInt8(ascii: "(") { depth += 1 }
            if bytes[at] == UInt8(ascii: ")") { depth -= 1 }
            step()
        } while depth > 0 && at < bytes.count
    }
}
