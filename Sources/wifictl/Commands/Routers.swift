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
            is known. What is forgotten is forgotten whole: that it spoke TLS, and a key that was pinned, too.
            """,
        options: [forget], usesNetwork: false,
        examples: [
            Example("wifictl routers", "lists them"),
            Example("wifictl routers --forget Attic", "takes one off the list"),
        ]
    ) { arguments, context in
        let directory = RouterDirectory(home: context.home)
        guard arguments.isGiven(forget) else {
            var options = RouterManager.Options()
            options.home = context.home
            return show(try await RouterManager(options).routers, context.output)
        }
        var forgotten: [MACAddress] = []
        try directory.update { known in
            for text in arguments[forget] {
                let entry = try known.router(named: text)
                let router = entry.router
                let wasCurrent = known.current == router.mac
                known.forget(router.mac)
                forgotten.append(router.mac)
                guard !context.output.isJSON else {
                    context.output.json("router", members(entry, isCurrent: wasCurrent) + [.init("forgotten", true)])
                    continue
                }
                context.output.remark(
                    "\(router.title)\(router.name.isEmpty ? "" : " (\(router.mac))") is forgotten"
                        + (wasCurrent ? "; it was the current one" : ""))
            }
        }
        try TrustState(home: context.home).update { kept in for mac in forgotten { kept.memory.forget(mac) } }
        return .success
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
