import SocketCore

/// The screen's table of routers: as many columns as there is room for, scrolled so that the chosen row is seen.
struct WatchTable {
    let columns: Int
    let isPainted: Bool

    private struct Field: Sendable {
        let column: Table.Column
        /// The least important is given up first where the screen is narrow.
        let importance: Int
        /// Of Wi-Fi alone: left out where no router's radio is heard.
        var isSignal = false
        let cell: @Sendable (WatchModel.Row, WatchModel) -> Table.Cell
    }

    private static let fields: [Field] = [
        Field(column: Table.Column(""), importance: 9) { row, model in
            Table.Cell((row.router.id == model.cursor ? "›" : " ") + (row.router.id == model.chosen ? "*" : " "), .green)
        },
        Field(column: Table.Column("NAME", least: 8), importance: 9) { row, _ in Table.Cell(row.router.title, row.lost == nil ? nil : .dim)
        },
        Field(column: Table.Column("MAC"), importance: 4) { row, _ in Table.Cell(row.router.id) },
        Field(column: Table.Column("ADDRESS"), importance: 3) { row, _ in Table.Cell(row.router.address) },
        Field(column: Table.Column("GRADE", least: 7), importance: 8) { row, _ in Table.Cell(row.router.grade, row.router.gradePaint) },
        Field(column: Table.Column("VERDICT"), importance: 7) { row, _ in
            if row.isBeingVerified { return Table.Cell("...", .dim) }
            return row.verdict.map { Table.Cell($0.word, $0.paint) } ?? "-"
        },
        Field(column: Table.Column("RTT", side: .right), importance: 6) { row, _ in
            guard !row.trips.samples.isEmpty else { return "" }
            return row.trips.latest.map { Table.Cell($0.briefText) } ?? Table.Cell("no answer", .red)
        },
        Field(column: Table.Column("LAST PROBES"), importance: 2) { row, _ in Table.Cell(row.trips.sparkline) },
        Field(column: Table.Column("SIGNAL", side: .right), importance: 6, isSignal: true) { row, _ in
            Table.Cell(row.signals.latest, row.signals.paint)
        },
        Field(column: Table.Column("LAST SIGNALS"), importance: 2, isSignal: true) { row, _ in Table.Cell(row.signals.sparkline) },
        Field(column: Table.Column("SESSION", least: 6), importance: 5) { row, model in
            if row.lost != nil { return Table.Cell("gone", .red) }
            guard let session = model.session, session.router == row.router.id else { return "" }
            return Table.Cell(session.state, session.paint)
        },
        Field(column: Table.Column("DEVICE", least: 6), importance: 1) { row, _ in Table.Cell(row.router.device) },
    ]

    /// Lines that the whole table would take, without its titles.
    func rowCount(_ model: WatchModel) -> Int { max(1, model.rows.count) }

    /// Titles and as many rows as `height` leaves, scrolled so that the row under the cursor is among them.
    func lines(_ model: WatchModel, height: Int) -> [String] {
        guard !model.rows.isEmpty else { return ["", "  looking for routers..."] }
        let room = max(1, height - 1)
        let at = model.rows.firstIndex { $0.router.id == model.cursor } ?? 0
        let first = min(max(0, at - room + 1), max(0, model.rows.count - room))
        let shown = first..<min(model.rows.count, first + room)
        let hasSignals = model.rows.contains { !$0.signals.samples.isEmpty }
        for least in 0...8 {
            let fields = WatchTable.fields.filter { $0.importance > least && (hasSignals || !$0.isSignal) }
            var table = Table(fields.map(\.column))
            for row in model.rows[shown] { table.add(fields.map { $0.cell(row, model) }) }
            let plain = table.lines(width: columns, painted: false)
            guard least == 8 || plain.allSatisfy({ DisplayWidth.of($0) <= columns }) else { continue }
            guard isPainted else { return plain }
            var lines = table.lines(width: columns, painted: true)
            // The chosen row stands out as a whole; its own colours would end that half way.
            let chosen = at - first + 1
            if lines.indices.contains(chosen) { lines[chosen] = Paint.inverse.apply(ScreenText.padded(plain[chosen], to: columns)) }
            return lines
        }
        return []
    }
}
