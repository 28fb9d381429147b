import SocketCore
import WifiDiscovery

/// Shows what `discover` finds, as a table or as JSON Lines.
struct DiscoverView {
    let output: Output
    /// Whether routers were asked at their addresses, and not all.
    var asksDirectly = false

    // MARK: A scan with an end

    /// All routers, the choice, and what was counted.
    func show(_ findings: DiscoverFindings, elapsed: Duration) {
        let sentence = GradeText.sentence(findings)
        if output.isJSON {
            for row in findings.rows { output.json("router", row.jsonMembers + (findings.verdicts?.members(row) ?? [])) }
            output.json("selected", findings.selection.jsonMembers(sentence))
            return summary(findings, elapsed: elapsed)
        }
        if !findings.rows.isEmpty {
            output.table(table(findings))
            output.line("")
            output.sentence(findings.selection.mac == nil ? sentence : "Connected to \(sentence)")
        }
        summary(findings, elapsed: elapsed)
    }

    /// The rows under their titles.
    func table(_ findings: DiscoverFindings) -> Table {
        let chosen = findings.selection.mac
        let showsInterface = Set(findings.rows.map(\.interface)).count > 1
        // What the row is about stays readable: what describes the device goes first, then by what else one can name it.
        var columns = [
            Table.Column(""), Table.Column("NAME", least: 8), Table.Column("MAC", goes: 6), Table.Column("ADDRESS", goes: 4),
        ]
        if showsInterface { columns.append(Table.Column("ON", goes: 3)) }
        if findings.isForeign { columns.append(Table.Column("DIALECT", least: 7, goes: 5, yields: 2)) }
        if findings.verdicts != nil { columns.append(Table.Column("VERDICT", least: 8, yields: 2)) }
        columns += [
            Table.Column("GRADE", least: 9, yields: 2), Table.Column("EVIDENCE", least: 16, goes: 2),
            Table.Column("DEVICE", least: 12, goes: 1),
        ]
        var table = Table(columns)
        for row in findings.rows.sorted(by: { rank($0, chosen) < rank($1, chosen) }) {
            var cells = [
                Table.Cell(row.mac != nil && row.mac == chosen ? "*" : "", .green), Table.Cell(row.title),
                Table.Cell(row.mac?.description ?? "?"), Table.Cell(row.place),
            ]
            if showsInterface { cells.append(Table.Cell(row.interface)) }
            if findings.isForeign { cells.append(Table.Cell(row.dialects.map(\.rawValue).joined(separator: ","))) }
            if let verdicts = findings.verdicts { cells.append(verdicts.verdict(row).map(VerifyReport.cell) ?? "") }
            cells += [
                Table.Cell(GradeText.grade(row), GradeText.paint(row), short: GradeText.word(row)), Table.Cell(GradeText.evidence(row)),
                Table.Cell(row.product),
            ]
            table.add(cells)
        }
        return table
    }

    /// The chosen one first, then the better grades, then by name.
    private func rank(_ row: DiscoverRow, _ chosen: MACAddress?) -> (Int, LinkGrade, NaturalOrder, String) {
        (row.mac != nil && row.mac == chosen ? 0 : 1, row.grading.grade, NaturalOrder(row.title), row.mac?.description ?? row.place)
    }

    func summary(_ findings: DiscoverFindings, elapsed: Duration) {
        if output.isJSON { output.json("summary", findings.jsonMembers(elapsed: elapsed)) }
        let result = findings.native
        let counters = result.counters
        let dropped = [
            (counters.invalidCount, "invalid"), (counters.stale, "not asked for"), (counters.rateLimited, "over a limit"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let note = dropped.isEmpty ? "" : "; dropped \(dropped.joined(separator: ", "))"
        if let flood = counters.flood {
            output.warning(
                "more routers were claimed than a network holds, from \(flood.sources) address\(flood.sources == 1 ? "" : "es") "
                    + "(\(flood.loudest): \(flood.replies) replies or more): somebody forges replies, and only a verdict tells which are "
                    + "genuine (wifictl verify)")
        }
        for (what, reason) in findings.dialectFailures.sorted(by: { $0.key < $1.key }) { output.detail("  \(what): \(reason)") }
        let count = findings.rows.count
        guard count == 0, !findings.hasFound else {
            let kinds =
                findings.isForeign ? " (\(findings.counts.map { "\($0.dialect.rawValue) \($0.rows)" }.joined(separator: ", ")))" : ""
            let place = result.interfaces.isEmpty ? "" : " on \(result.interfaces.joined(separator: ", "))"
            let there = count == 0 ? "no router is left" : counted(count, "router")
            return output.remark("\(there)\(kinds) \(count == 0 ? "after" : "in") \(elapsed.briefText)\(place)\(note)")
        }
        output.remark(nothing(findings) + note)
        // Beside interfaces that work, one that is switched off is no news.
        let isNews = { (reason: String) in result.interfaces.isEmpty || reason != "is down" }
        for (name, reason) in result.failedInterfaces.sorted(by: { $0.key < $1.key }) {
            isNews(reason) ? output.remark("  \(name) \(reason)") : output.detail("  \(name) \(reason)")
        }
    }

    private func nothing(_ findings: DiscoverFindings) -> String {
        let result = findings.native
        if result.interfaces.isEmpty { return "no router found: no interface can be scanned" }
        let probes = result.counters.probes
        let foreign = findings.counts.map(\.dialect).filter { $0 != .native }.map(\.rawValue).joined(separator: ", ")
        let questions = [probes == 0 ? "" : " " + counted(probes, "probe"), foreign.isEmpty ? "" : " in \(foreign)"]
        return "no router answered\(questions.filter { !$0.isEmpty }.joined(separator: ", nor")) on "
            + result.interfaces.joined(separator: ", ")
            + (asksDirectly
                ? " (is it on, and is --port the one that it answers on? wifictl doctor looks for the cause)"
                : " (--to ADDRESS asks one router directly; wifictl doctor looks for the cause)")
    }

    // MARK: Watching

    /// One change: found, updated or lost; its details as scripts read them, and in words where these say more.
    func change(_ word: String, _ row: DiscoverRow, _ details: [String], _ clauses: [String]? = nil) {
        if output.isJSON {
            let more: [JSONValue.Member] = [
                .init("change", .string(word)), .init("changes", .array(details.map { .string($0) })),
            ]
            return output.json("router", row.jsonMembers + more)
        }
        let (sign, paint): (String, Paint) =
            switch word {
            case "found": ("+", .green)
            case "lost": ("-", .red)
            default: ("~", .yellow)
            }
        let note = details.isEmpty ? "" : "  (\((clauses ?? details).joined(separator: "; ")))"
        let name = row.name.isEmpty ? "" : "  \(DisplayWidth.printable(row.name))"
        let dialects = row.dialects == [.native] ? "" : " by \(row.dialects.map(\.rawValue).joined(separator: ", "))"
        output.line(
            "\(output.paint(sign, paint)) \(row.mac?.description ?? "?")\(name)  \(row.place) on \(row.interface)\(dialects)"
                + "  \(GradeText.grade(row))\(note)")
    }

    /// The Wi-Fi link is another one.
    func link(_ addresses: Set<MACAddress>, _ unknown: WirelessUnknown?) {
        let sorted = addresses.sorted().map { "\($0)" }
        if output.isJSON {
            return output.json("link", [.init("bssids", .array(sorted.map { .string($0) })), .init("unknown", .text(unknown?.word))])
        }
        let words = addresses.isEmpty ? unknown.map { "\($0)" } ?? "no access point" : "now at \(sorted.joined(separator: ", "))"
        output.line("\(output.paint("=", .cyan)) Wi-Fi: \(words)")
    }

    /// Another choice than before.
    func selected(_ findings: DiscoverFindings) {
        let sentence = GradeText.sentence(findings)
        if output.isJSON { return output.json("selected", findings.selection.jsonMembers(sentence)) }
        output.line("\(output.paint("=", .cyan)) \(findings.selection.mac == nil ? sentence : "Connected to \(sentence)")")
    }
}

extension DiscoveredRouter.Changes {
    /// The changes as words for people and scripts.
    var words: [String] {
        let names: [(DiscoveredRouter.Changes, String)] = [
            (.confirmed, "confirmed"), (.address, "address"), (.rebooted, "rebooted"), (.description, "description"),
            (.conflict, "conflict"), (.alternate, "alternate"),
        ]
        return names.filter { contains($0.0) }.map(\.1)
    }
}
