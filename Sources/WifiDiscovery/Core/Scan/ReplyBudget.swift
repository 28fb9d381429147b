import SocketCore

/// How many replies are still looked at, in all and a source.
///
/// Replies beyond ``DiscoveryBounds/replies`` come from a flood, but not all of them: whoever has sent few so far is still heard, and so is
/// what more speaks for than that somebody says so.
struct ReplyBudget {
    private var total = 0
    private var expected = 0
    private var perSource: [IPAddress: Int] = [:]
    private var perNetwork: [IPAddress: Int] = [:]
    private var begun: Instant?

    /// Counts one reply; false when it is one too many. While watching, the budget is renewed every period.
    mutating func take(from source: IPAddress, isExpected: Bool, now: Instant, renews: Bool) -> Bool {
        if let begun, renews, now - begun >= DiscoveryBounds.period {
            self = ReplyBudget()
            self.begun = now
        } else if begun == nil {
            begun = now
        }
        if takeShare(of: source) { return true }
        guard isExpected, expected < DiscoveryBounds.replies else { return false }
        expected += 1
        return true
    }

    /// How many sources were counted, and the one with the most, the lowest of equals; nil without any.
    var loudest: (source: IPAddress, replies: Int, sources: Int)? {
        perSource.max { ($0.value, "\($1.key)") < ($1.value, "\($0.key)") }.map { ($0.key, $0.value, perSource.count) }
    }

    private mutating func takeShare(of source: IPAddress) -> Bool {
        let own = perSource[source, default: 0]
        // A host has as many IPv6 addresses of a /64 as it likes: they fill half of the list, and once they have said a lot each is heard once.
        let isCrowd = !source.isV4 && perNetwork[source.network, default: 0] >= DiscoveryBounds.repliesPerSource
        let most = isCrowd ? 1 : total >= DiscoveryBounds.replies ? DiscoveryBounds.repliesUnderFlood : DiscoveryBounds.repliesPerSource
        guard own < most, own > 0 || perSource.count < (source.isV4 ? DiscoveryBounds.sources : DiscoveryBounds.sources / 2) else {
            return false
        }
        total += 1
        perSource[source] = own + 1
        if !source.isV4 { perNetwork[source.network, default: 0] += 1 }
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

/// Which addresses may be asked anew because of replies that contradict each other, or are too many.
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
