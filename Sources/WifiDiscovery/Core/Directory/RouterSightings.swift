import SocketCore

/// What this run has heard and proven of routers: the live part of a manager's list.
struct RouterSightings: Sendable {
    /// Presence and addresses.
    private(set) var directory = DirectoryCore()
    private var found: [MACAddress: FoundRouter] = [:]
    private var judgements: [MACAddress: Judgement] = [:]

    /// How a router was last found.
    subscript(mac: MACAddress) -> FoundRouter? { found[mac] }

    /// A scan has found these.
    mutating func note(_ routers: some Collection<FoundRouter>, now: Instant, date: WallTime) {
        for router in routers {
            directory.merge(router.discovered, interface: router.interface, now: now, date: date)
            if directory[router.mac] != nil { found[router.mac] = router }
        }
        if found.count > DirectoryCore.capacity { found = found.filter { directory[$0.key] != nil } }
    }

    /// A watch has lost this one.
    mutating func lost(_ router: FoundRouter, _ loss: DiscoveryEvent.Loss, now: Instant) {
        directory.apply(.lost(router.discovered, loss), interface: { _ in router.interface }, now: now)
    }

    /// A verifier has judged these.
    mutating func note(_ findings: [RouterVerifier.Finding]) {
        for finding in findings { judgements[finding.subject.mac] = finding.judgement }
        if judgements.count > DirectoryCore.capacity { judgements = judgements.filter { directory[$0.key] != nil } }
    }

    /// All routers, the known ones of earlier runs among them: the current one first, then those that are there, then by name.
    mutating func list(
        known: DirectoryCore, current: MACAddress?, kept: Set<MACAddress>, wantsProof: Bool, now: Instant
    ) -> [ListedRouter] {
        directory.expire(now: now)
        let macs = Set(known.all.map(\.router.mac)).union(directory.all.map(\.router.mac))
        let all = macs.compactMap { mac -> ListedRouter? in
            guard let router = directory[mac] ?? known[mac] else { return nil }
            let sighting = directory[mac] == nil ? nil : found[mac]
            return ListedRouter(
                router: router,
                standing: ListedRouter.standing(
                    of: router, isCurrent: mac == current, isConflicted: sighting?.discovered.isConflicted ?? false,
                    judgement: judgements[mac], wantsProof: wantsProof),
                grading: sighting?.grading, evidence: sighting?.evidence, hasSession: kept.contains(mac))
        }
        return all.sorted { left, right in
            let rank = { (router: ListedRouter) in router.mac == current ? 0 : router.router.isPresent ? 1 : 2 }
            return (rank(left), left.name, left.mac) < (rank(right), right.name, right.mac)
        }
    }
}
