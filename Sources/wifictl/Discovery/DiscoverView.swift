import SocketCore
import WifiDiscovery

/// Shows what `discover` finds, as a table or as JSON Lines.
struct DiscoverView {
    let output: Output

    // MARK: A scan with an end

    /// All routers, the choice, and what was counted.
    func show(_ result: ScanResult, elapsed: Duration) {
        let sentence = GradeText.sentence(result.selection, result)
        if output.isJSON {
            for router in result.routers { output.json("router", router.jsonMembers) }
            output.json("selected", result.selection.jsonMembers(sentence))
            return summary(result, elapsed: elapsed)
        }
        if !result.routers.isEmpty {
            output.table(table(result))
            output.line("\n\(result.selection.mac == nil ? sentence : "Connected to \(sentence)")")
        }
        summary(result, elapsed: elapsed)
    }

    private func table(_ result: ScanResult) -> Table {
        let chosen = result.selection.mac
        let showsInterface = Set(result.routers.map(\.interface)).count > 1
        var columns = [
            Table.Column(""), Table.Column("NAME", least: 8), Table.Column("MAC"), Table.Column("ADDRESS"), Table.Column("GRADE", least: 7),
            Table.Column("EVIDENCE", least: 8), Table.Column("DEVICE", least: 6),
        ]
        if showsInterface { columns.insert(Table.Column("ON"), at: 4) }
        var table = Table(columns)
        for router in result.routers.sorted(by: { rank($0, chosen) < rank($1, chosen) }) {
            var row: [Table.Cell] = [
                Table.Cell(router.mac == chosen ? "*" : "", .green), Table.Cell(router.discovered.router.title),
                Table.Cell("\(router.mac)"), Table.Cell(DiscoverView.place(router)),
                Table.Cell(GradeText.grade(router), GradeText.paint(router)), Table.Cell(GradeText.evidence(router)),
                Table.Cell(router.discovered.router.device),
            ]
            if showsInterface { row.insert(Table.Cell(router.interface), at: 4) }
            table.add(row)
        }
        return table
    }

    /// The chosen one first, then the better grades, then by name.
    private func rank(_ router: FoundRouter, _ chosen: MACAddress?) -> (Int, LinkGrade, String, MACAddress) {
        (router.mac == chosen ? 0 : 1, router.grade, router.discovered.router.name, router.mac)
    }

    /// Where its sessions are opened; the standard port goes without saying.
    static func place(_ router: FoundRouter) -> String {
        let address = router.discovered.address.text(on: router.interface)
        let port = router.discovered.router.tcp
        if port == WifiDiscovery.DiscoveryDatagram.port { return address }
        return router.discovered.address.isV4 ? "\(address):\(port)" : "[\(address)]:\(port)"
    }

    func summary(_ result: ScanResult, elapsed: Duration) {
        if output.isJSON { output.json("summary", result.jsonMembers(elapsed: elapsed)) }
        let counters = result.counters
        let dropped = [
            (counters.invalidCount, "invalid"), (counters.stale, "not asked for"), (counters.rateLimited, "over a limit"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let note = dropped.isEmpty ? "" : "; dropped \(dropped.joined(separator: ", "))"
        let count = result.routers.count
        guard count == 0 else {
            return output.remark(
                "\(count) router\(count == 1 ? "" : "s") in \(elapsed.briefText) on \(result.interfaces.joined(separator: ", "))\(note)")
        }
        output.remark(nothing(result) + note)
        // Beside interfaces that work, one that is switched off is no news.
        let isNews = { (reason: String) in result.interfaces.isEmpty || reason != "is down" }
        for (name, reason) in result.failedInterfaces.sorted(by: { $0.key < $1.key }) {
            isNews(reason) ? output.remark("  \(name) \(reason)") : output.detail("  \(name) \(reason)")
        }
    }

    private func nothing(_ result: ScanResult) -> String {
        if result.interfaces.isEmpty { return "no router found: no interface can be scanned" }
        let probes = result.counters.probes
        return "no router answered \(probes) probe\(probes == 1 ? "" : "s") on \(result.interfaces.joined(separator: ", "))"
            + " (--to ADDRESS asks one router directly; wifictl doctor looks for the cause)"
    }

    // MARK: Watching

    /// One change: found, updated or lost.
    func change(_ word: String, _ router: FoundRouter, _ details: [String]) {
        if output.isJSON {
            let more: [JSONValue.Member] = [
                .init("change", .string(word)), .init("changes", .array(details.map { .string($0) })),
            ]
            return output.json("router", router.jsonMembers + more)
        }
        let (sign, paint): (String, Paint) =
            switch word {
            case "found": ("+", .green)
            case "lost": ("-", .red)
            default: ("~", .yellow)
            }
        let description = router.discovered.router
        let note = details.isEmpty ? "" : "  (\(details.joined(separator: ", ")))"
        let name = description.name.isEmpty ? "" : "  \(DisplayWidth.printable(description.name))"
        output.line(
            "\(output.paint(sign, paint)) \(router.mac)\(name)  \(DiscoverView.place(router)) on \(router.interface)"
                + "  \(GradeText.grade(router))\(note)")
    }

    /// Another choice than before.
    func selected(_ selection: Selection, _ sentence: String) {
        if output.isJSON { return output.json("selected", selection.jsonMembers(sentence)) }
        output.line("\(output.paint("=", .cyan)) \(selection.mac == nil ? sentence : "Connected to \(sentence)")")
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
