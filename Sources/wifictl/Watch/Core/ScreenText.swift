/// Lines that may hold colours, cut to a terminal's width.
enum ScreenText {
    /// `line` cut to `columns`, the last of them an ellipsis when something was cut; its colours are kept and ended.
    static func clip(_ line: String, to columns: Int) -> String {
        let room = isWider(line, than: columns) ? columns - 1 : columns
        var (used, kept, isPainted, isCut) = (0, "", false, false)
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
            guard used + width <= room else {
                isCut = columns > 0
                break
            }
            used += width
            kept.append(character)
        }
        if isCut { kept += "…" }
        return isPainted ? kept + "\u{1b}[0m" : kept
    }

    private static func isWider(_ line: String, than columns: Int) -> Bool {
        var rest = line[...]
        var used = 0
        while used <= columns, let character = rest.popFirst() {
            if character == "\u{1b}" { rest = rest.drop { $0 != "m" }.dropFirst() } else { used += DisplayWidth.of(character) }
        }
        return used > columns
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
