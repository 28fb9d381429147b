import SocketCore
import WifiDiscovery

/// `routers`: the list of known routers.
extension Command {
    private static let forget = RepeatedOption("forget", "ROUTER", .text, "take this router off the list")

    static let routers = Command(
        name: "routers", summary: "lists the known routers with the current one marked",
        discussion: """
            Lists what earlier scans found on this machine; nothing is asked on the network. Once a company root is configured, only \
            routers that prove to be the company's come to the list, and those that were named with --unproven. The exit status is 1 when no router \
            is known. What is forgotten is forgotten whole: that it spoke TLS, a key that was pinned, and messages that wait \
            for it, too: their number is told. While another process has a session with it, nothing is forgotten.
            """,
        options: [forget], usesNetwork: false,
        examples: [
            Example("wifictl routers", "lists them"),
            Example("wifictl routers --forget Attic", "takes one off the list"),
        ]
    ) { arguments, context in
        guard arguments.isGiven(forget) else {
            var options = RouterManager.Options()
            options.home = context.home
            return show(try await RouterManager(options).routers, context.output)
        }
        return try forget(arguments[forget], context)
    }

    /// Takes routers off the list, with all that is kept of them, and tells of it once that is done.
    private static func forget(_ texts: [String], _ context: Context) throws -> ExitStatus {
        let directory = RouterDirectory(home: context.home)
        let known = try directory.load()
        var entries: [KnownRouter] = []
        for entry in try texts.map({ try known.router(named: $0) }) where !entries.contains(where: { $0.router.mac == entry.router.mac }) {
            entries.append(entry)
        }
        let macs = entries.map(\.router.mac)
        let outboxes = OutboxStore(home: context.home) { context.output.warning($0) }
        do {
            let discarded = try outboxes.discard(macs) { counts in
                // First what nobody sees: when the rest fails, the same command can be given again.
                try TrustState(home: context.home).update { kept in for mac in macs { kept.memory.forget(mac) } }
                try directory.update { known in for mac in macs { known.forget(mac) } }
                return counts
            }
            for entry in entries {
                tell(entry, wasCurrent: known.current == entry.router.mac, discarded[entry.router.mac] ?? 0, context.output)
            }
        } catch OutboxJournalError.inUse {
            throw ToolError(
                "nothing is forgotten: another process has a session with \(macs.count == 1 ? "that router" : "one of these routers")",
                hint: "end it first; wifictl agent stop ends the agent")
        }
        return .success
    }

    private static func tell(_ entry: KnownRouter, wasCurrent: Bool, _ discarded: Int, _ output: Output) {
        guard !output.isJSON else {
            let more: [JSONValue.Member] = [.init("forgotten", true), .init("discarded", .whole(discarded))]
            return output.json("router", members(entry, isCurrent: wasCurrent) + more)
        }
        let router = entry.router
        output.remark(
            "\(router.title)\(router.name.isEmpty ? "" : " (\(router.mac))") is forgotten" + (wasCurrent ? "; it was the current one" : ""))
        if discarded > 0 {
            let (were, are) = discarded == 1 ? ("was", "is") : ("were", "are")
            output.warning("\(counted(discarded, "message")) that \(were) kept for \(router.title) \(are) discarded")
        }
    }

    private static func show(_ listed: [ListedRouter], _ output: Output) -> ExitStatus {
        let current = listed.first { $0.standing == .current }?.mac
        let routers = listed.map(\.router)
        guard !routers.isEmpty else {
            output.remark("no router is known yet (wifictl discover finds them)")
            return .negative
        }
        if output.isJSON {
            for router in routers { output.json("router", members(router, isCurrent: router.router.mac == current)) }
            return .success
        }
        var table = Table([
            Table.Column(""), Table.Column("NAME", least: 8), Table.Column("MAC"), Table.Column("ADDRESS"), Table.Column("ON", goes: 4),
            Table.Column("DEVICE", least: 6, goes: 3), Table.Column("SEEN", goes: 2), Table.Column("NOTE", least: 4, goes: 1),
        ])
        let now = WallTime.systemNow()
        for router in routers.sorted(by: { NaturalOrder($0.router.title) < NaturalOrder($1.router.title) }) {
            let isCurrent = router.router.mac == current
            table.add([
                Table.Cell(isCurrent ? "*" : "", .green), Table.Cell(router.router.title, isCurrent ? .bold : nil),
                Table.Cell("\(router.router.mac)"), Table.Cell(place(router)), Table.Cell(router.interface),
                Table.Cell(router.router.device), Table.Cell(router.lastSeen?.agoText(at: now) ?? ""), Table.Cell(note(router)),
            ])
        }
        output.table(table)
        return .success
    }

    private static func address(_ router: KnownRouter) -> String {
        router.address.isV4 || !router.address.isLinkLocal ? "\(router.address)" : "\(router.address)%\(router.interface)"
    }

    private static func place(_ router: KnownRouter) -> String {
        if router.router.tcp == DiscoveryDatagram.port { return address(router) }
        return router.address.isV4 ? "\(address(router)):\(router.router.tcp)" : "[\(address(router))]:\(router.router.tcp)"
    }

    private static func note(_ router: KnownRouter) -> String {
        [router.isConfirmed ? nil : "only announced", router.hasSpokenTLS ? "TLS" : nil].compactMap { $0 }.joined(separator: ", ")
    }

    private static func members(_ router: KnownRouter, isCurrent: Bool) -> [JSONValue.Member] {
        router.router.lineMembers(address: address(router), interface: router.interface) + [
            .init("dialect", "native"), .init("grade", .null),
            // Of the list nobody knows the link, nor who else answers.
            .init("evidence", ["gateway": .null, "neighbour": .null, "onlyResponder": .null]), .init("conflict", false),
            .init("confirmed", .bool(router.isConfirmed)), .init("rttMs", .null), .init("current", .bool(isCurrent)),
            .init("lastSeen", .text(router.lastSeen?.description)),
        ]
    }
}
