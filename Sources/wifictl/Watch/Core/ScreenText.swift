/// Lines that may hold colours, cut to a terminal's width.
enum ScreenText {
    /// `line` cut to `columns`, its colours kept and ended.
    static func clip(_ line: String, to columns: Int) -> String {
        var used = 0
        var kept = ""
        var isPainted = false
        var rest = line[...]
        while let character = rest.popFirst() {
            if character == "\u{1b}" {
                let sequence = rest.prefix { $0 != "m" } + "m"
                rest = rest.dropFirst(sequence.count)
                kept += "\u{1b}" + sequence
                isPainted = !sequence.hasSuffix("[0m")
                continue
            }
            let width = DisplayWidth.of(character)
            guard used + width <= columns else { break }
            used += width
            kept.append(character)
        }
        return isPainted ? kept + "\u{1b}[0m" : kept
    }

    /// `text` to a width, blanks added.
    static func padded(_ text: String, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - DisplayWidth.of(text)))
    }

    /// `0:07`, `12:40`, `1:02:03`.
    static func clock(_ span: Duration) -> String {
        let seconds = max(0, span.components.seconds)
        let two = { (number: Int64) in number < 10 ? "0\(number)" : "\(number)" }
        let tail = "\(two(seconds % 60))"
        return seconds < 3_600 ? "\(seconds / 60):\(tail)" : "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(tail)"
    }
}
