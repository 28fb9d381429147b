extension Rule {
    private static let longestFile = 400
    private static let longestFunction = 70
    private static let widestProse = 140

    static let fileLength = Rule("no Swift file over 400 lines") { file in
        let count = file.source.utf8.count { $0 == UInt8(ascii: "\n") }
        return file.isSwift && count > longestFile ? [file.violation(count, "\(count) lines, \(longestFile) allowed")] : []
    }

    static let functionLength = Rule("no function over 70 lines") { file in
        guard file.isSwift else { return [] }
        let text = file.text
        return functions(text).filter { $0.lines > longestFunction }.map {
            file.violation($0.line, "\($0.name) has \($0.lines) lines, \(longestFunction) allowed")
        }
    }

    static let proseWidth = Rule("prose is wrapped at 140 columns") { file in
        guard file.path.hasSuffix(".md") else { return [] }
        return file.source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            // A table's row can't be wrapped.
            line.utf8.count > widestProse && line.count > widestProse && !line.hasPrefix("|")
                ? file.violation(index + 1, "\(line.count) columns") : nil
        }
    }

    /// Functions, initialisers and accessors with a body: where they begin and how many lines they take, the braces' own included.
    static func functions(_ text: SwiftText) -> [(name: String, line: Int, lines: Int)] {
        let words = text.words
        return words.enumerated().compactMap { index, word in
            guard ["func", "init", "deinit", "subscript", "var"].contains(word.text),
                text.previous(before: word.offset) != UInt8(ascii: "."), let open = body(from: word.offset + word.text.utf8.count, text),
                let close = text.closing(open)
            else { return nil }
            let name = ["func", "var"].contains(word.text) && index + 1 < words.count ? words[index + 1].text : word.text
            let first = text.line(of: word.offset)
            return (name, first, text.line(of: close) - first + 1)
        }
    }

    private static let declarations: Set<String> = [
        "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "enum", "class", "actor", "extension", "protocol", "static",
        "typealias", "return", "if", "guard", "for", "while", "switch",
    ]

    /// The brace that opens the body of what is declared before `offset`; nil when something else comes first.
    private static func body(from offset: Int, _ text: SwiftText) -> Int? {
        var at = offset
        while let next = text.next(from: at) {
            switch next.byte {
            case UInt8(ascii: "{"): return next.offset
            case UInt8(ascii: "}"), UInt8(ascii: ";"), UInt8(ascii: "="):
                // An operator's name or a default value isn't the end; an initial value is.
                if next.byte != UInt8(ascii: "=") { return nil }
                if !isOperatorName(next.offset, text) { return nil }
                at = next.offset + 1
            case UInt8(ascii: "("), UInt8(ascii: "["):
                guard let close = text.closing(next.offset) else { return nil }
                at = close + 1
            case let byte where SwiftText.isWordByte(byte):
                let word = text.code[next.offset...].prefix { SwiftText.isWordByte($0) }
                if next.offset > offset + 1, declarations.contains(String(decoding: word, as: UTF8.self)) { return nil }
                at = next.offset + word.count
            default: at = next.offset + 1
            }
        }
        return nil
    }

    private static func isOperatorName(_ offset: Int, _ text: SwiftText) -> Bool {
        let neighbours = [offset - 1, offset + 1].map { text.code.indices.contains($0) ? text.code[$0] : 0x20 }
        return neighbours.contains {
            [UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "!"), UInt8(ascii: "~")].contains($0)
        }
    }
}
