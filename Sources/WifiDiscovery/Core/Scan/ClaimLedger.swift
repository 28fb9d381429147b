import SocketCore

/// Who says what in a scan, and whose word gives way when there is too much of it. One claim is one source's word that it is one router.
///
/// Everybody on the network hears a probe and can answer it in any name, and from any IPv4 address that is on the link: neither a claim nor
/// its source proves anything. But what arrives from an address costs those who forge from others nothing, so places are shared by source.
/// When all are taken, a newcomer gets the place of the worst and newest claim of the busiest address, as long as that has at least two more
/// than the newcomer's: so claims even out, and nobody can churn them for ever. A claim that more speaks for takes the place of one that less
/// speaks for whatever the numbers are.
///
/// A host has as many addresses of an IPv6 /64 as it likes. Those of one that has half of all places displace each other alone, and give way to
/// those from elsewhere.
struct ClaimLedger {
    /// What speaks for a claim; more is greater.
    enum Level: Int, Comparable {
        case unrelated
        /// Says that it's near the access point's address: anybody can say that.
        case family
        /// Says that it's the access point: anybody can say that too.
        case radio
        /// Has the MAC of the access point, or of a router known from earlier, or answers what was asked at its address alone: few claims can.
        case expected
        /// The kernel knows that MAC at that address: one claim an address, which never gives way.
        case verified

        static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    struct Claim: Hashable {
        var mac: MACAddress
        var source: IPAddress
    }

    /// From here on an IPv6 network is a crowd: half of all routers.
    private static let crowd = DiscoveryBounds.routers / 2

    private var levels: [Claim: Level] = [:]
    /// By source and level, oldest first.
    private var claims: [IPAddress: [[MACAddress]]] = [:]
    /// Claims that may give way, above what their source has reserved: by source, over all and in each IPv6 network.
    private var sources = Ranking<IPAddress>()
    private var members: [IPAddress: Ranking<IPAddress>] = [:]
    private var totals: [IPAddress: Int] = [:]
    private var crowds: Set<IPAddress> = []
    /// Places that a source has for itself; by default none.
    private var reserved: [IPAddress: Int] = [:]

    /// All claims.
    var count: Int { levels.count }

    func level(_ claim: Claim) -> Level? { levels[claim] }

    /// Claims of one source that may give way.
    func count(of source: IPAddress) -> Int { claims[source]?.reduce(0) { $0 + $1.count } ?? 0 }

    /// Adds a claim, or notes that something else speaks for it now.
    ///
    /// - Parameter reserved: so many claims of its source don't count when the busiest is looked for.
    mutating func put(_ claim: Claim, _ level: Level, reserved places: Int) {
        let before = levels[claim]
        guard before != level || reserved[claim.source, default: 0] != places else { return }
        if before != level {
            remove(claim)
            levels[claim] = level
            if level < .verified {
                var own = claims[claim.source] ?? Array(repeating: [], count: Level.verified.rawValue)
                own[level.rawValue].append(claim.mac)
                claims[claim.source] = own
            }
        }
        reserved[claim.source] = places > 0 ? places : nil
        weigh(claim.source)
    }

    /// Takes a claim back.
    mutating func remove(_ claim: Claim) {
        guard let level = levels.removeValue(forKey: claim), level < .verified else { return }
        // What gives way is the newest.
        if let index = claims[claim.source]?[level.rawValue].lastIndex(of: claim.mac) {
            claims[claim.source]?[level.rawValue].remove(at: index)
        }
        if count(of: claim.source) == 0 { claims[claim.source] = nil }
        weigh(claim.source)
    }

    /// Which claim makes room for another one from `source`; nil when that one is to be refused.
    mutating func victim(for source: IPAddress, _ level: Level) -> Claim? {
        let own = sources.weight(source)
        if crowds.contains(source.network) {
            if let top = members[source.network]?.greatest(), top.weight > own + 1 { return worst(of: top.key) }
        } else if let top = sources.greatest(), top.weight > own + 1 {
            return worst(of: top.key)
        } else if let crowd = crowds.min(by: { "\($0)" < "\($1)" }), let top = members[crowd]?.greatest(), top.weight > own {
            return worst(of: top.key)
        }
        if let mine = worst(of: source, below: level) { return mine }
        guard level >= .expected, let top = sources.greatest() else { return nil }
        return worst(of: top.key, below: level)
    }

    /// The claim of `source` that less speaks for than `level`, the worst and newest of those; nil when there is none.
    func worst(of source: IPAddress, below level: Level) -> Claim? {
        worst(of: source).flatMap { levels[$0] ?? .verified < level ? $0 : nil }
    }

    private func worst(of source: IPAddress) -> Claim? {
        claims[source]?.first { !$0.isEmpty }?.last.map { Claim(mac: $0, source: source) }
    }

    private mutating func weigh(_ source: IPAddress) {
        let held = count(of: source)
        if held == 0 { reserved[source] = nil }
        let (before, weight) = (sources.weight(source), max(0, held - reserved[source, default: 0]))
        sources.set(source, weight)
        guard !source.isV4, weight != before else { return }
        let network = source.network
        members[network, default: Ranking()].set(source, weight)
        let total = totals[network, default: 0] + weight - before
        totals[network] = total == 0 ? nil : total
        if total == 0 { members[network] = nil }
        if total >= ClaimLedger.crowd { crowds.insert(network) } else { crowds.remove(network) }
    }
}

/// Keys with a number each, the one with the greatest at hand; of equal ones, the one that got its number last.
struct Ranking<Key: Hashable & Sendable>: Sendable {
    private var weights: [Key: Int] = [:]
    /// By number: the keys that have got it, those that have another one since among them.
    private var stacks: [[Key]] = []
    private var entries = 0

    func weight(_ key: Key) -> Int { weights[key, default: 0] }

    /// Gives a key a number; 0 forgets it.
    mutating func set(_ key: Key, _ weight: Int) {
        guard weights[key, default: 0] != weight else { return }
        weights[key] = weight == 0 ? nil : weight
        guard weight > 0 else { return }
        push(key, weight)
        if entries > 4 * weights.count + 1_024 { tidy() }
    }

    mutating func greatest() -> (key: Key, weight: Int)? {
        while let last = stacks.last {
            let weight = stacks.count - 1
            if let key = last.last {
                if weights[key] == weight { return (key, weight) }
                stacks[weight].removeLast()
                entries -= 1
            } else {
                stacks.removeLast()
            }
        }
        return nil
    }

    private mutating func push(_ key: Key, _ weight: Int) {
        while stacks.count <= weight { stacks.append([]) }
        stacks[weight].append(key)
        entries += 1
    }

    /// Leaves each key once, in the order of its last number.
    private mutating func tidy() {
        entries = 0
        for weight in stacks.indices {
            var seen: Set<Key> = []
            let kept = stacks[weight].reversed().filter { weights[$0] == weight && seen.insert($0).inserted }
            stacks[weight] = kept.reversed()
            entries += kept.count
        }
    }
}
