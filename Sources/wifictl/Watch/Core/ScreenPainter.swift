/// Turns one screen after the other into what a terminal is told: only the lines that changed, in one piece, between the marks by
/// which terminals that know them show it all at once.
struct ScreenPainter: Sendable {
    /// Alternate screen, no cursor, no wrapping at the right edge.
    static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J"
    /// The reverse of ``enter``, and colours off: right after whatever was under way.
    static let leave: StaticString = "\u{1b}[?2026l\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l"
    private static let beginUpdate = "\u{1b}[?2026h"
    private static let endUpdate = "\u{1b}[?2026l"

    private var shown: [String] = []
    private var columns = 0

    /// Everything is drawn anew next time.
    mutating func forget() { shown = [] }

    /// What brings the terminal from the last screen to this one; nil when nothing changed.
    mutating func frame(_ lines: [String], columns: Int) -> [UInt8]? {
        let isSame = columns == self.columns && lines.count == shown.count
        var text = ""
        for (row, line) in lines.enumerated() where !isSame || shown[row] != line {
            text += "\u{1b}[\(row + 1);1H\(line)\u{1b}[0m"
            // Behind a full line the cursor stands on its last column, which erasing would take away.
            if ScreenPainter.width(line) < columns { text += "\u{1b}[K" }
        }
        (shown, self.columns) = (lines, columns)
        return text.isEmpty ? nil : Array((ScreenPainter.beginUpdate + text + ScreenPainter.endUpdate).utf8)
    }

    private static func width(_ line: String) -> Int {
        var rest = line[...]
        var width = 0
        while let character = rest.popFirst() {
            if character == "\u{1b}" { rest = rest.drop { $0 != "m" }.dropFirst() } else { width += DisplayWidth.of(character) }
        }
        return width
    }
}
