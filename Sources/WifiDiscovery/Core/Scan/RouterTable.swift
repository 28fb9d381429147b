import SocketCore

/// The routers of one scan, bounded; ``ClaimLedger`` says whose word gives way to whose.
struct RouterTable {
    private(set) var entries: [MACAddress: RouterEntry] = [:]
    private(set) var ledger = ClaimLedger()
    private(set) var announcedCount = 0
    private var announcedPerSource: [IPAddress: Int] = [:]
    private var announcedBy: [MACAddress: IPAddress] = [:]
    /// In the order in which they were found; nil where one is gone.
    private var listed: [MACAddress?] = []
    private var positions: [MACAddress: Int] = [:]
    /// Routers that said goodbye and may still prove that they are there.
    private(set) var leaving: Set<MACAddress> = []

    /// Room for one more claim, or one more announced router.
    enum Room: Equatable {
        case free
        case full
        /// The oldest router that was only announced has to go first.
        case afterLosing(MACAddress)
        /// This claim has to go first; look again then.
        case afterDropping(ClaimLedger.Claim)
    }

    /// In the order in which they were found: what the `known` list is taken from in turn.
    var order: [MACAddress] { listed.compactMap { $0 } }

    // MARK: Room

    mutating func room(for claim: ClaimLedger.Claim, _ level: ClaimLedger.Level) -> Room {
        if ledger.level(claim) != nil { return .free }
        if ledger.count(of: claim.source) >= DiscoveryBounds.routersPerSource, level < .verified {
            return ledger.worst(of: claim.source, below: level).map(Room.afterDropping) ?? .full
        }
        if let entry = entries[claim.mac], entry.records.count >= DiscoveryBounds.placesPerRouter {
            let claims = entry.records.map { ClaimLedger.Claim(mac: claim.mac, source: $0.place.address.unscoped) }
            return claims.last { (ledger.level($0) ?? .unrelated) < level }.map(Room.afterDropping) ?? .full
        }
        let isNew = entries[claim.mac] == nil
        guard isNew && entries.count >= DiscoveryBounds.routers || ledger.count >= DiscoveryBounds.claims else { return .free }
        if isNew, let oldest = oldestAnnounced { return .afterLosing(oldest) }
        return ledger.victim(for: claim.source, level).map(Room.afterDropping) ?? .full
    }

    func hasRoomForAnnounced(from source: IPAddress) -> Bool {
        announcedCount < DiscoveryBounds.announcedRouters && entries.count < DiscoveryBounds.routers
            && announcedPerSource[source.network, default: 0] < DiscoveryBounds.announcedPerNetwork
    }

    private var oldestAnnounced: MACAddress? {
        guard announcedCount > 0 else { return nil }
        let oldest = entries.values.filter { !$0.shown.isConfirmed }.min {
            ($0.shown.lastHeard, $0.shown.router.mac) < ($1.shown.lastHeard, $1.shown.router.mac)
        }
        return oldest?.shown.router.mac
    }

    // MARK: Changes

    /// A router that was only announced.
    mutating func insert(announced entry: RouterEntry, from source: IPAddress) {
        insert(entry)
        announcedCount += 1
        announcedPerSource[source.network, default: 0] += 1
        announcedBy[entry.shown.router.mac] = source.network
    }

    /// Notes that `claim` is made, after room for it was found; `entry` for a router that isn't listed yet.
    mutating func put(_ claim: ClaimLedger.Claim, _ level: ClaimLedger.Level, reserved: Int, entry: @autoclosure () -> RouterEntry) {
        if entries[claim.mac] == nil { insert(entry()) }
        ledger.put(claim, level, reserved: reserved)
    }

    private mutating func insert(_ entry: RouterEntry) {
        let mac = entry.shown.router.mac
        entries[mac] = entry
        positions[mac] = listed.count
        listed.append(mac)
    }

    /// Changes an entry; claims that it no longer holds a place for are taken back. nil when there is none.
    mutating func change<Result>(_ mac: MACAddress, _ body: (inout RouterEntry) -> Result) -> Result? {
        guard let index = entries.index(forKey: mac) else { return nil }
        let result = body(&entries.values[index])
        for source in entries.values[index].takeReleased() { ledger.remove(ClaimLedger.Claim(mac: mac, source: source)) }
        return result
    }

    /// Takes a claim back, and the places that its source holds for it.
    mutating func drop(_ claim: ClaimLedger.Claim) -> (DiscoveredRouter.Changes, isReachable: Bool)? {
        ledger.remove(claim)
        return change(claim.mac) { $0.forget(claim.source) }
    }

    mutating func remove(_ mac: MACAddress) -> RouterEntry? {
        guard let entry = entries.removeValue(forKey: mac) else { return nil }
        if let position = positions.removeValue(forKey: mac) { listed[position] = nil }
        if listed.count > 2 * entries.count + 64 { compact() }
        stopsAnnouncing(mac)
        for record in entry.records { ledger.remove(ClaimLedger.Claim(mac: mac, source: record.place.address.unscoped)) }
        return entry
    }

    private mutating func compact() {
        listed = listed.filter { $0 != nil }
        positions = Dictionary(listed.enumerated().compactMap { index, mac in mac.map { ($0, index) } }, uniquingKeysWith: { $1 })
    }

    /// It answered a probe of our own, or is gone.
    private mutating func stopsAnnouncing(_ mac: MACAddress) {
        guard let network = announcedBy.removeValue(forKey: mac) else { return }
        announcedCount -= 1
        if let count = announcedPerSource[network] { announcedPerSource[network] = count > 1 ? count - 1 : nil }
    }

    mutating func confirmed(_ mac: MACAddress) { stopsAnnouncing(mac) }

    // MARK: Goodbyes

    /// When the next router that said goodbye is given up.
    var nextLeave: Instant? { leaving.isEmpty ? nil : leaving.compactMap { entries[$0]?.leavesAt }.min() }

    mutating func markLeaving(_ mac: MACAddress, at: Instant) {
        entries[mac]?.leavesAt = at
        leaving.insert(mac)
    }

    /// Those whose grace is over; the ones that answered are taken off the list.
    mutating func left(now: Instant) -> [MACAddress] {
        var gone: [MACAddress] = []
        for mac in leaving {
            guard let at = entries[mac]?.leavesAt else {
                leaving.remove(mac)
                continue
            }
            if at <= now {
                leaving.remove(mac)
                gone.append(mac)
            }
        }
        return gone.sorted()
    }
}
