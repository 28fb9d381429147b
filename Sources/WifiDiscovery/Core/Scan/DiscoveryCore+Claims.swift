import SocketCore

/// What speaks for a reply, and whose reply gives way when there are too many.
extension DiscoveryCore {
    /// Whether few replies can be like this one: it has the access point's MAC, that of a router known from earlier, or the one that the
    /// kernel knows at its source.
    func isExpected(_ mac: MACAddress, at place: DiscoveredRouter.Place) -> Bool {
        linkAddresses.contains(mac) || configuration.expected.contains(mac) || isVerified(mac, at: place)
    }

    private func isVerified(_ mac: MACAddress, at place: DiscoveredRouter.Place) -> Bool {
        facts.neighbours[NetworkFacts.Place(place.address, interface: place.interface)] == mac
    }

    /// What speaks for a claim. What the kernel has verified once stays so: its table forgets what isn't used.
    func level(
        of router: RouterDescription, _ claim: ClaimLedger.Claim, at place: DiscoveredRouter.Place, isDirect: Bool
    ) -> ClaimLedger.Level {
        let known = table.ledger.level(claim)
        if known == .verified || isVerified(router.mac, at: place) { return .verified }
        let own = known ?? level(of: router)
        return isDirect ? max(own, .expected) : own
    }

    /// A reply is one too many. Somebody may have forged the others from its address, so that is asked alone.
    mutating func refused(at place: DiscoveredRouter.Place, now: Instant) {
        counters.rateLimited += 1
        askDirectly(place, now: now)
    }

    private func level(of router: RouterDescription) -> ClaimLedger.Level {
        if configuration.expected.contains(router.mac) { return .expected }
        switch Grading.of(router, link: linkAddresses).grade {
        case .exact: return .expected
        case .radio: return .radio
        case .family: return .family
        case .vendor, .none, .unknown: return .unrelated
        }
    }

    /// How many claims from a place don't count against its source.
    func reserved(_ place: DiscoveredRouter.Place) -> Int {
        let place = NetworkFacts.Place(place.address, interface: place.interface)
        if facts.gateways.contains(place) { return DiscoveryBounds.routersOfGateway }
        return facts.neighbours[place] == nil ? 0 : DiscoveryBounds.routersOfNeighbour
    }

    /// The link is another one: so is what speaks for each claim.
    mutating func regrade() {
        for (mac, entry) in table.entries.sorted(by: { $0.key < $1.key }) {
            let level = level(of: entry.shown.router)
            for record in entry.records {
                let claim = ClaimLedger.Claim(mac: mac, source: record.place.address.unscoped)
                guard table.ledger.level(claim) != .verified else { continue }
                table.put(claim, level, reserved: reserved(record.place), entry: entry)
            }
        }
    }

    mutating func makeRoom(for claim: ClaimLedger.Claim, _ level: ClaimLedger.Level) -> Bool {
        while true {
            switch table.room(for: claim, level) {
            case .free: return true
            case .full: return false
            case .afterLosing(let mac): lose(mac, .evicted)
            case .afterDropping(let other): drop(other)
            }
        }
    }

    private mutating func drop(_ claim: ClaimLedger.Claim) {
        counters.displaced += 1
        guard let (changes, isReachable) = table.drop(claim) else { return }
        if !isReachable { return lose(claim.mac, .evicted) }
        if !changes.isEmpty { report(claim.mac, changes) }
    }

    /// What to say of a flood; nil when all that came was kept.
    var flood: Flood? {
        guard counters.displaced + counters.rateLimited > 0, let loudest = budget.loudest else { return nil }
        return Flood(sources: loudest.sources, loudest: loudest.source, replies: loudest.replies)
    }
}
