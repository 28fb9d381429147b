import SocketCore

/// One router in a scan, with what is needed to tell news from repetition.
struct RouterEntry {
    /// One place with the newest answer from it.
    struct Record {
        var place: DiscoveredRouter.Place
        var link: DiscoveryLink.ID
        var asked: NonceBook.Asked
        var boot: HexToken?
        var heardAt: Instant
        /// The listeners offered there: first those of answers to a question that was put to this place alone, the newest of them first;
        /// then the others, the newest last, unless there were too many.
        var offers: [DiscoveredRouter.Offer] = []
        /// Somebody there heard what was sent there alone: it isn't a made up place.
        var isReal = false
        /// The kernel knows the router's MAC at this address.
        var isVerified = false
        /// Probes of the same link that the router answered since, but from another place.
        var missed = 0

        /// Takes note of what is offered there; false when it's known already, or there are too many.
        mutating func note(_ router: RouterDescription, isDirect: Bool) -> Bool {
            let offer = DiscoveredRouter.Offer(Endpoint(place.address, port: router.tcp), tls: router.tls)
            guard !isDirect else {
                isReal = true
                guard offers.first != offer else { return false }
                offers.removeAll { $0 == offer }
                if offers.count == DiscoveryBounds.offersPerPlace { offers.removeLast() }
                offers.insert(offer, at: 0)
                return true
            }
            guard !offers.contains(offer), offers.count < DiscoveryBounds.offersPerPlace else { return false }
            offers.append(offer)
            return true
        }
    }

    /// A place that missed more than one answered probe is an old address: one lost datagram doesn't make it one.
    private static let missesUntilStale = 2
    /// A place not heard for two rounds and a half of a watch, while others were, lies on a link that no longer works.
    private static let placeLifetime = DiscoveryBounds.period.scaled(by: 2.5)

    /// IPv4, global, unique local and link-local IPv6 on two interfaces. Where there are more, what the kernel knows counts.
    private static let honestPlaces = 8

    /// What one reply meant.
    enum Outcome: Equatable {
        case duplicate
        case news(DiscoveredRouter.Changes)
    }

    private(set) var shown: DiscoveredRouter
    private(set) var records: [Record] = []
    /// Probes that it answered; enough of them make it worth a place in the `known` list.
    private(set) var answers = 0
    private var newestAsked: Instant?
    /// When two devices last answered one probe.
    private var rivalSeen: Instant?
    /// Addresses at which it no longer has a place; see ``takeReleased()``.
    private var released: [IPAddress] = []
    /// A goodbye came, and by then an answer must have come or it's gone.
    var leavesAt: Instant?

    /// A router that was only announced.
    init(announced router: RouterDescription, at place: DiscoveredRouter.Place, now: Instant) {
        shown = DiscoveredRouter(router: router, place: place, isConfirmed: false, lastHeard: now)
    }

    /// Announced once more: only a sign of life while nothing better is known.
    mutating func announced(_ router: RouterDescription, at place: DiscoveredRouter.Place, now: Instant) -> DiscoveredRouter.Changes {
        guard !shown.isConfirmed else { return [] }
        let changed = shown.router.withoutUptime != router.withoutUptime
        shown.router = router
        shown.place = place
        shown.lastHeard = now
        return changed ? .description : []
    }

    /// Takes an answer to a probe of our own.
    mutating func answered(
        _ router: RouterDescription, at place: DiscoveredRouter.Place, link: DiscoveryLink.ID, asked: NonceBook.Asked,
        isVerified: Bool = false, isDirect: Bool = false, now: Instant
    ) -> Outcome {
        let known = records.firstIndex { $0.place == place }
        let rival = records.contains { isRival($0, boot: router.boot, place: place, link: link, asked: asked) }
        if rival { rivalSeen = now }
        let before = shown
        if let known, records[known].asked.nonce == asked.nonce, !rival || shown.isConflicted {
            // Somebody may have forged the first answer from this place: what the second one offers counts as much.
            return records[known].note(router, isDirect: isDirect) ? .news(rearrange(before)) : .duplicate
        }
        var changes: DiscoveredRouter.Changes = []
        let isNewest = newestAsked.map { asked.sentAt >= $0 } ?? true
        note(asked, now: now)
        if rival, !shown.isConflicted {
            shown.isConflicted = true
            changes.insert(.conflict)
        }
        if !shown.isConflicted, isNewest, RouterEntry.differ(before.router.boot, router.boot), before.isConfirmed {
            changes.insert(.rebooted)
            // What answered before the reboot may be gone: it has to answer anew.
            release { RouterEntry.differ($0.boot, router.boot) }
        }
        let fresh = Record(place: place, link: link, asked: asked, boot: router.boot, heardAt: now, isVerified: isVerified)
        store(fresh, router, isDirect: isDirect)
        if isNewest, takesDescription(router) {
            shown.router = router
            if before.router.withoutUptime != router.withoutUptime, before.isConfirmed, !changes.contains(.rebooted) {
                changes.insert(.description)
            }
        }
        if !before.isConfirmed {
            shown.isConfirmed = true
            changes.insert(.confirmed)
        }
        return .news(changes.union(rearrange(before)))
    }

    /// Forgets what was reachable by a link; false when nothing is left.
    mutating func forget(_ link: DiscoveryLink.ID) -> (DiscoveredRouter.Changes, isReachable: Bool) {
        let before = shown
        release { $0.link == link }
        guard !records.isEmpty else { return ([], false) }
        return (rearrange(before), true)
    }

    /// Forgets what answered from an address; false when nothing is left.
    mutating func forget(_ source: IPAddress) -> (DiscoveredRouter.Changes, isReachable: Bool) {
        let before = shown
        release { $0.place.address.unscoped == source }
        guard !records.isEmpty else { return ([], false) }
        return (rearrange(before), true)
    }

    /// Addresses at which it has no place any more, each time once.
    mutating func takeReleased() -> [IPAddress] {
        guard !released.isEmpty else { return [] }
        defer { released = [] }
        return released.filter { source in !records.contains { $0.place.address.unscoped == source } }
    }

    private mutating func release(_ isGone: (Record) -> Bool) {
        for record in records where isGone(record) { released.append(record.place.address.unscoped) }
        records.removeAll(where: isGone)
    }

    /// Forgets places that have been silent since `limit` while others answered.
    mutating func forgetPlaces(silentSince limit: Instant) -> DiscoveredRouter.Changes {
        let before = shown
        guard records.contains(where: { $0.heardAt >= limit }) else { return [] }
        release { $0.heardAt < limit }
        return rearrange(before)
    }

    /// Takes a conflict back that hasn't shown since `limit`: one of the two devices is gone.
    mutating func forgetConflict(unseenSince limit: Instant) -> DiscoveredRouter.Changes {
        guard shown.isConflicted, let rivalSeen, rivalSeen < limit else { return [] }
        shown.isConflicted = false
        return .conflict
    }

    private static func differ(_ left: HexToken?, _ right: HexToken?) -> Bool { left != nil && right != nil && left != right }

    /// Another boot in answer to one probe: on one link that is one nonce, on two it is one epoch.
    private func isRival(
        _ record: Record, boot: HexToken?, place: DiscoveredRouter.Place, link: DiscoveryLink.ID, asked: NonceBook.Asked
    ) -> Bool {
        guard RouterEntry.differ(record.boot, boot) else { return false }
        if record.asked.nonce == asked.nonce { return true }
        return record.link != link && record.place != place && record.asked.epoch == asked.epoch
    }

    /// Of two rivals the one with the smaller boot is shown, so that the order of arrival doesn't matter.
    private func takesDescription(_ router: RouterDescription) -> Bool {
        guard shown.isConflicted, let mine = shown.router.boot, let theirs = router.boot else { return true }
        return theirs.value <= mine.value
    }

    private mutating func note(_ asked: NonceBook.Asked, now: Instant) {
        newestAsked = max(newestAsked ?? asked.sentAt, asked.sentAt)
        answers += 1
        leavesAt = nil
        shown.lastHeard = now
        guard asked.isPrompt else { return }
        let trip = now - asked.sentAt
        shown.roundTrip = min(shown.roundTrip ?? trip, trip)
    }

    private mutating func store(_ fresh: Record, _ router: RouterDescription, isDirect: Bool) {
        var record = fresh
        if let known = records.first(where: { $0.place == record.place }) { (record.offers, record.isReal) = (known.offers, known.isReal) }
        _ = record.note(router, isDirect: isDirect)
        for index in records.indices where records[index].link == record.link && records[index].asked.nonce != record.asked.nonce {
            records[index].missed += 1
        }
        if let index = records.firstIndex(where: { $0.place == record.place }) {
            records[index] = record
        } else if records.count < DiscoveryBounds.placesPerRouter {
            records.append(record)
        } else if let last = records.indices.min(by: { RouterEntry.isWorthLess(records[$0], records[$1]) }) {
            released.append(records[last].place.address.unscoped)
            records[last] = record
        }
    }

    /// Whether replies from that place offer different listeners: somebody forges them, or the router was started anew elsewhere.
    func isContested(at place: DiscoveredRouter.Place) -> Bool { records.contains { $0.place == place && $0.offers.count > 1 } }

    /// Which of two places is given up first: one that may be made up, then the one that was silent longer.
    private static func isWorthLess(_ left: Record, _ right: Record) -> Bool {
        left.isReal == right.isReal ? left.heardAt < right.heardAt : right.isReal
    }

    /// The best place is the best-ranked one of those that aren't stale.
    private mutating func rearrange(_ before: DiscoveredRouter) -> DiscoveredRouter.Changes {
        let isCrowded = records.count > RouterEntry.honestPlaces
        let ranked = records.map { (rank: PlaceRank($0, prefersVerified: isCrowded), record: $0) }
            .sorted { $0.rank < $1.rank }.map(\.record)
        let fresh = ranked.first {
            $0.missed < RouterEntry.missesUntilStale && shown.lastHeard - $0.heardAt <= RouterEntry.placeLifetime
        }
        guard let best = fresh ?? ranked.first else { return [] }
        let others = ranked.filter { $0.place != best.place }
        shown.place = best.place
        shown.alternates = others.map(\.place)
        shown.offers = best.offers + (others.filter(\.isReal) + others.filter { !$0.isReal }).flatMap(\.offers)
        guard before.isConfirmed else { return [] }
        if before.place != shown.place { return .address }
        return before.alternates != shown.alternates || before.offers != shown.offers ? .alternate : []
    }
}

/// In a crowd, what the kernel knows by the router's MAC before what only somebody says; IPv4 before IPv6 before link-local IPv6 before
/// self-assigned IPv4; then by number, so that nothing depends on order.
private struct PlaceRank: Comparable {
    private let rank: Int
    private let interface: UInt32
    private let high: UInt64
    private let low: UInt64

    init(_ record: RouterEntry.Record, prefersVerified: Bool) {
        let place = record.place
        interface = place.interface
        let family: Int
        switch place.address {
        case .v4(let bits):
            family = place.address.isLinkLocal ? 3 : 0
            (high, low) = (0, UInt64(bits))
        case .v6(let upper, let lower, _):
            family = place.address.isLinkLocal ? 2 : 1
            (high, low) = (upper, lower)
        }
        rank = family + (prefersVerified && !record.isVerified ? 4 : 0)
    }

    static func < (left: PlaceRank, right: PlaceRank) -> Bool {
        (left.rank, left.interface, left.high, left.low) < (right.rank, right.interface, right.high, right.low)
    }
}
