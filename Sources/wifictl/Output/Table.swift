/// Rows under column titles, fitted to a width by shortening the columns that may be shortened.
struct Table: Sendable {
    struct Column: Sendable {
        enum Side: Sendable { case left, right }
        let title: String
        let side: Side
        /// The width below which the column isn't shortened; nil for a column that never is (an address cut short is
        /// no address).
        let least: Int?
        /// Whether text that doesn't fit goes on below instead of being cut; for sentences, in the last column.
        let wraps: Bool
        /// At which step the column is left out where there's no room for it, the first being 1; nil for one that always stays.
        let goes: Int?
        /// The step from which on it may be shortened: before that, others go.
        let yields: Int

        init(_ title: String, side: Side = .left, least: Int? = nil, wraps: Bool = false, goes: Int? = nil, yields: Int = 0) {
            self.title = title
            self.side = side
            self.least = least
            self.wraps = wraps
            self.goes = goes
            self.yields = yields
        }
    }

    struct Cell: Sendable, ExpressibleByStringInterpolation {
        let text: String
        /// What says the most important of it, for where the whole doesn't fit; nil cuts it off.
        let short: String?
        let paint: Paint?

        init(_ text: String, _ paint: Paint? = nil, short: String? = nil) {
            self.text = DisplayWidth.printable(text)
            self.short = short.map(DisplayWidth.printable)
            self.paint = paint
        }

        fileprivate func fitted(to width: Int) -> String {
            DisplayWidth.fit(DisplayWidth.of(text) > width ? short ?? text : text, to: width)
        }

        init(stringLiteral text: String) { self.init(text) }
    }

    static let gap = "  "
    let columns: [Column]
    private(set) var rows: [[Cell]] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row; missing cells are empty.
    mutating func add(_ row: [Cell]) {
        precondition(row.count <= columns.count, "a row has more cells than the table has columns")
        rows.append(row + Array(repeating: "", count: columns.count - row.count))
    }

    /// The lines, titles first. Where a wrapping last column leaves no room for the others, it stands below each row. `width` nil means as wide as it gets; `painted` allows colours.
    func lines(width: Int?, painted: Bool) -> [String] { lines(width: width, painted: painted, step: 0) }

    private func lines(width: Int?, painted: Bool, step: Int) -> [String] {
        let widths = fittedWidths(to: width, step)
        if let width, columns.count > 1, columns.last?.wraps == true, total(widths) > width {
            return stacked(width, painted, step)
        }
        let steps = columns.flatMap { [$0.goes ?? 0, $0.yields] }
        if let width, total(widths) > width, let next = steps.filter({ $0 > step }).min() {
            let going = columns.indices.filter { columns[$0].goes == next }
            return going.reversed().reduce(self) { $0.without($1) }.lines(width: width, painted: painted, step: next)
        }
        let titles = columns.map { Cell($0.title, .bold) }
        return ([titles] + rows).flatMap { row in parts(of: row, widths).map { line($0, widths, painted) } }
    }

    private func total(_ widths: [Int]) -> Int { widths.reduce(Table.gap.count * max(0, columns.count - 1), +) }

    /// The rows without their last cell, which follows each on lines of its own.
    private func stacked(_ width: Int, _ painted: Bool, _ step: Int) -> [String] {
        let heads = without(columns.count - 1).lines(width: width, painted: painted, step: step)
        let bodies = rows.map { row -> [String] in
            guard let last = row.last, !last.text.isEmpty else { return [] }
            return Table.wrap(last.text, to: width - Table.gap.count).map { Table.gap + (painted ? last.paint?.apply($0) ?? $0 : $0) }
        }
        return heads.prefix(1) + zip(heads.dropFirst(), bodies).flatMap { [$0] + $1 }
    }

    private func without(_ column: Int) -> Table {
        var table = Table(columns.indices.filter { $0 != column }.map { columns[$0] })
        for row in rows { table.add(row.indices.filter { $0 != column }.map { row[$0] }) }
        return table
    }

    /// A row as the rows of lines that it takes: more than one where its last cell is wrapped.
    private func parts(of row: [Cell], _ widths: [Int]) -> [[Cell]] {
        guard let last = columns.indices.last, columns[last].wraps else { return [row] }
        let lines = Table.wrap(row[last].text, to: widths[last])
        return lines.enumerated().map { index, text in
            let before: [Cell] = index == 0 ? Array(row.dropLast()) : Array(repeating: "", count: last)
            return before + [Cell(text, row[last].paint)]
        }
    }

    /// Text cut between words into lines of that width; a word that is longer has a line of its own.
    static func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, DisplayWidth.of(line) + 1 + DisplayWidth.of(String(word)) > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [line]
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ painted: Bool) -> String {
        var line = ""
        for (index, cell) in cells.enumerated() {
            let text = cell.fitted(to: widths[index])
            let padding = String(repeating: " ", count: max(0, widths[index] - DisplayWidth.of(text)))
            let shown = painted ? cell.paint?.apply(text) ?? text : text
            let isLast = index == cells.count - 1
            line += columns[index].side == .right ? padding + shown : shown + (isLast ? "" : padding)
            if !isLast { line += Table.gap }
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }

    /// Natural widths, then one column at a time taken from the widest of those that may still shrink.
    private func fittedWidths(to width: Int?, _ step: Int) -> [Int] {
        let natural = columns.indices.map { index in
            ([columns[index].title] + rows.map { $0[index].text }).map(DisplayWidth.of).max() ?? 0
        }
        guard let width else { return natural }
        let fitted = shrunk(natural, to: width, step)
        // Where short words took the place of long ones, they need less than what was left to them: others have it.
        let used = columns.indices.map { index in
            guard fitted[index] < natural[index], rows.contains(where: { $0[index].short != nil }) else { return natural[index] }
            return ([columns[index].title] + rows.map { $0[index].fitted(to: fitted[index]) }).map(DisplayWidth.of).max() ?? 0
        }
        return used == natural ? fitted : shrunk(used, to: width, step)
    }

    private func shrunk(_ natural: [Int], to width: Int, _ step: Int) -> [Int] {
        var widths = natural
        let gaps = Table.gap.count * max(0, columns.count - 1)
        var excess = widths.reduce(gaps, +) - width
        while excess > 0 {
            let shrinkable = columns.indices.filter { widths[$0] > columns[$0].least ?? Int.max && columns[$0].yields <= step }
            guard let widest = shrinkable.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }
}
