/// The text of a configuration file: a `name = value` a line, as on the command line but without the dashes. Blank lines and
/// lines that begin with `#` say nothing; what repeats on the command line repeats here.
enum SettingsText {
    /// More is no configuration file.
    static let largestSize = 64 << 10

    struct Line: Equatable, Sendable {
        /// From 1.
        let number: Int
        let name: String
        let value: String
    }

    /// What is wrong in which line.
    struct Problem: Error, Equatable {
        let line: Int
        let complaint: String
        let hint: String
    }

    /// The lines that say something, in order.
    static func lines(_ text: String) throws(Problem) -> [Line] {
        var lines: [Line] = []
        let rows = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, row) in rows.enumerated() {
            let content = trimmed(index == 0 && row.first == "\u{FEFF}" ? row.dropFirst() : row)
            if content.isEmpty || content.first == "#" { continue }
            guard let equals = content.firstIndex(of: "=") else {
                throw Problem(line: index + 1, complaint: "'\(content)' is no setting", hint: "write name = value")
            }
            let name = trimmed(content[..<equals])
            let value = trimmed(content[content.index(after: equals)...])
            guard !name.hasPrefix("-") else {
                throw Problem(line: index + 1, complaint: "'\(name)' has dashes", hint: "write \(name.drop { $0 == "-" }) = \(value)")
            }
            guard !value.isEmpty else {
                throw Problem(line: index + 1, complaint: "\(name) has no value", hint: "write \(name) = value, or leave the line out")
            }
            lines.append(Line(number: index + 1, name: String(name), value: String(value)))
        }
        return lines
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var rest = text.drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return rest
    }
}
