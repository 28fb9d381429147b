import SocketCore

/// The screen as lines: the model, drawn to a size. Knows nothing of terminals but their colours.
struct WatchScreen {
    let columns: Int
    let height: Int
    let isPainted: Bool

    private static let keys = ["↑↓ choose", "s switch", "v verify", "d details", "? help", "q quit"]
    /// Those that the help tells too are given up first where the screen is narrow.
    private static let dispensableKeys = ["d details", "v verify", "↑↓ choose", "s switch", "? help"]
    private static let mostProperties = 6

    /// Exactly `height` lines, none wider than `columns`.
    func lines(_ model: WatchModel, now: Instant) -> [String] {
        guard height > 0, columns > 0 else { return [] }
        var lines = head(model, now)
        let room = max(0, height - lines.count - 1)
        if model.showsHelp {
            lines += help
        } else {
            let table = WatchTable(columns: columns, isPainted: isPainted)
            let wanted = table.rowCount(model) + 1
            // The table keeps half where there's more below than room for it.
            let lower = below(model)
            let most = max(min(wanted, room), min(wanted, room - min(lower.count, room / 2)))
            lines += table.lines(model, height: min(wanted, max(most, 2)))
            lines += lower.prefix(max(0, height - 1 - lines.count))
            lines += latest(model, max(0, height - 1 - lines.count))
        }
        lines = Array(lines.prefix(height - 1))
        lines += Array(repeating: "", count: height - 1 - lines.count)
        lines.append(paint(keys, .dim))
        return lines.map { ScreenText.clip($0, to: columns) }
    }

    /// As many of the keys as there's room for.
    private var keys: String {
        for count in 0..<WatchScreen.dispensableKeys.count {
            let line = WatchScreen.keys.filter { !WatchScreen.dispensableKeys.prefix(count).contains($0) }.joined(separator: "  ")
            if DisplayWidth.of(line) <= columns { return line }
        }
        return "q quit"
    }

    private func paint(_ text: String, _ paint: Paint?) -> String { isPainted ? paint?.apply(text) ?? text : text }

    private func head(_ model: WatchModel, _ now: Instant) -> [String] {
        let there = model.rows.count { $0.lost == nil }
        let count = "\(there) router\(there == 1 ? "" : "s")\(model.place.isEmpty ? "" : " on \(model.place)")"
        let title = "wifictl watch  \(count)"
        let time = ScreenText.clock(now - model.started)
        let gap = max(2, columns - DisplayWidth.of(title) - time.count)
        let signal = model.signal.map { "  \(Int($0.rounded())) dBm" } ?? ""
        return [
            paint("wifictl watch", .bold) + "  \(count)" + String(repeating: " ", count: gap) + time,
            DisplayWidth.fit(DisplayWidth.printable(model.sentence.isEmpty ? model.link : model.sentence), to: columns - signal.count)
                + signal, "",
        ]
    }

    /// What stands below the table: details where they're wanted, else the session.
    private func below(_ model: WatchModel) -> [String] {
        if model.showsDetails, let row = model.selected { return [""] + details(row) }
        guard let session = model.session else { return [""] }
        let counters = model.counters
        let parts: [(Int, String)] = [
            (counters.delivered, "delivered"), (counters.unsettled, "unsettled"), (counters.otherwise, "not delivered"),
            (counters.received, "received"), (Int(clamping: counters.resends), "resent"),
            (Int(clamping: counters.duplicates), "duplicates"),
            (max(0, Int(clamping: counters.openings) - 1), "reconnected"),
        ]
        let counted = parts.filter { $0.0 > 0 || $0.1 == "delivered" }.map { "\($0.0) \($0.1)" }.joined(separator: "  ")
        var lines = [
            "",
            paint("Session", .bold)
                + " with \(DisplayWidth.printable(model.title(session.router))): \(paint(session.state, session.paint))  \(counted)",
        ]
        let width = model.properties.map { DisplayWidth.of($0.name) }.max() ?? 0
        for property in model.properties.prefix(WatchScreen.mostProperties) {
            lines.append(
                "  \(ScreenText.padded(DisplayWidth.printable(property.name), to: width))  \(DisplayWidth.printable(property.value))")
        }
        let more = model.properties.count - WatchScreen.mostProperties
        if more > 0 { lines.append("  and \(more) more") }
        return lines + [""]
    }

    private func details(_ row: WatchModel.Row) -> [String] {
        var facts = row.router.facts
        if let best = row.trips.best { facts.append(.init("round trip", "\(best.briefText) at best")) }
        if !row.signals.samples.isEmpty { facts.append(.init("signal", row.signals.latest)) }
        if let verdict = row.verdict { facts.append(.init("verdict", "\(verdict.word): \(verdict.detail)")) }
        if let lost = row.lost { facts.append(.init("gone", lost)) }
        let width = facts.map { DisplayWidth.of($0.name) }.max() ?? 0
        return [paint(DisplayWidth.printable(row.router.title), .bold)]
            + facts.flatMap { fact in
                let name = "  " + ScreenText.padded(fact.name, to: width) + "  "
                let wrapped = Table.wrap(DisplayWidth.printable(fact.value), to: max(20, columns - DisplayWidth.of(name)))
                let margin = String(repeating: " ", count: DisplayWidth.of(name))
                return wrapped.enumerated().map { ($0 == 0 ? name : margin) + $1 }
            }
    }

    /// The newest lines of news, the newest last.
    private func latest(_ model: WatchModel, _ count: Int) -> [String] {
        guard count > 0 else { return [] }
        var lines: [String] = []
        for news in model.news.suffix(count).reversed() {
            let own = told(news)
            // Half of a sentence, without its beginning, says nothing; the newest is shown as far as it goes.
            guard lines.count + own.count <= count || lines.isEmpty else { break }
            lines = own.prefix(count) + lines
        }
        return lines
    }

    /// A piece of news on as many lines as its words take: the reason stands at its end.
    private func told(_ news: WatchModel.News) -> [String] {
        let time = ScreenText.clock(news.at)
        let margin = String(repeating: " ", count: time.count)
        let words = Table.wrap(DisplayWidth.printable(news.text), to: max(20, columns - time.count - 2))
        return words.enumerated().map { (index, text) in (index == 0 ? paint(time, .dim) : margin) + "  " + paint(text, news.paint) }
    }

    private var help: [String] {
        let entries = [
            ("↑ ↓, j k", "choose a router"), ("g, G", "the first, the last"),
            ("s", "switch: open a session with it; the old one is kept until the new one stands"),
            ("v, V", "verify it, verify all: whose router is it?"), ("d, Enter", "everything that is known of it"),
            ("Ctrl-L", "draw anew"), ("Ctrl-Z", "back to the shell for a while; fg comes back"),
            ("Esc", "close this help, or the details; else quit"), ("q", "quit"), ("?", "this help"),
        ]
        return entries.map { "  " + ScreenText.padded($0.0, to: 10) + $0.1 }
    }
}
