import SocketCore

/// The routers of one scan, bounded.
struct RouterTable {
    var entries: [MACAddress: RouterEntry] = [:]
    /// In the order in which they were found: what the `known` list is taken from in turn.
    private(set) var order: [MACAddress] = []
    private(set) var announcedCount = 0
    private var perSource: [IPAddress: Int] = [:]
    private var sourceOf: [MACAddress: IPAddress] = [:]

    /// Room for one more router from `source`; a confirmed one pushes the oldest unconfirmed one out.
    enum Room: Equatable {
        case free
        case full
        case after(evicting: MACAddress)
    }

    func room(for source: IPAddress, confirmed: Bool) -> Room {
        if perSource[source.unscoped, default: 0] >= DiscoveryBounds.routersPerSource { return .full }
        if !confirmed, announcedCount >= DiscoveryBounds.announcedRouters { return .full }
        if entries.count < DiscoveryBounds.routers { return .free }
        guard confirmed, announcedCount > 0 else { return .full }
        let oldest = entries.values.filter { !$0.shown.isConfirmed }.min {
            ($0.shown.lastHeard, $0.shown.router.mac) < ($1.shown.lastHeard, $1.shown.router.mac)
        }
        return oldest.map { .after(evicting: $0.shown.router.mac) } ?? .full
    }

    mutating func insert(_ entry: RouterEntry, from source: IPAddress) {
        let mac = entry.shown.router.mac
        entries[mac] = entry
        order.append(mac)
        if !entry.shown.isConfirmed { announcedCount += 1 }
        perSource[source.unscoped, default: 0] += 1
        sourceOf[mac] = source.unscoped
    }

    mutating func confirmed() { announcedCount -= 1 }

    mutating func remove(_ mac: MACAddress) -> RouterEntry? {
        guard let entry = entries.removeValue(forKey: mac) else { return nil }
        order.removeAll { $0 == mac }
        if !entry.shown.isConfirmed { announcedCount -= 1 }
        if let source = sourceOf.removeValue(forKey: mac), let count = perSource[source] {
            perSource[source] = count > 1 ? count - 1 : nil
        }
        return entry
    }

    /// When the next router that said goodbye is given up.
    var nextLeave: Instant? { leaving.isEmpty ? nil : leaving.compactMap { entries[$0]?.leavesAt }.min() }
    /// Routers that said goodbye and may still prove that they are there.
    private(set) var leaving: Set<MACAddress> = []

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

/// How many replies are still looked at, in all and a source.
struct ReplyBudget {
    private var total = 0
    private var perSource: [IPAddress: Int] = [:]
    private var begun: Instant?

    /// Counts one reply; false when it is one too many. While watching, the budget is renewed every period.
    mutating func take(from source: IPAddress, now: Instant, renews: Bool) -> Bool {
        if let begun, renews, now - begun >= DiscoveryBounds.period {
            self = ReplyBudget()
            self.begun = now
        } else if begun == nil {
            begun = now
        }
        guard total < DiscoveryBounds.replies, perSource[source, default: 0] < DiscoveryBounds.repliesPerSource else { return false }
        total += 1
        perSource[source, default: 0] += 1
        return true
    }
}

/// How many unicast probes hints may still cause.
struct FollowUpBudget {
    private var begun: Instant?
    private var used = 0

    mutating func take(now: Instant) -> Bool {
        if begun.map({ now - $0 >= DiscoveryBounds.followUpSpan }) ?? true { (begun, used) = (now, 0) }
        guard used < DiscoveryBounds.followUps else { return false }
        used += 1
        return true
    }
}

/// Which addresses may be asked anew because of replies that contradict each other.
struct ContestedAddresses {
    private var begun: Instant?
    private var asked: Set<IPAddress> = []

    /// False when that address, or too many others, were asked within ``DiscoveryBounds/followUpSpan``.
    mutating func take(_ address: IPAddress, now: Instant) -> Bool {
        if begun.map({ now - $0 >= DiscoveryBounds.followUpSpan }) ?? true { (begun, asked) = (now, []) }
        guard asked.count < DiscoveryBounds.contestedAddresses else { return false }
        return asked.insert(address).inserted
    }
}
