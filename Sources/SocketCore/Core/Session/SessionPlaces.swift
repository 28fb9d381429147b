/// Which sessions give way when a router's listener has as many as it keeps and one more comes.
///
/// A network (an IPv4 address, or an IPv6 /64) is greedy while it has more than its fair part: all places divided by the networks that
/// have any. In this order give way, the first kind that there is, some at a time:
///
/// 1. sessions without connection of greedy networks;
/// 2. sessions without connection of the newcomer's own network;
/// 3. where the newcomer's network isn't greedy, connected sessions of the network with the most, the newest first, as long as it's greedy;
/// 4. where none is greedy, sessions without connection of any.
///
/// Among those without connection, those that owe nothing go first, then those gone for longest. So whoever fills all places from one
/// network keeps out nobody but itself, and costs nobody else the resumption.
struct SessionPlaces {
    /// One kept session.
    struct Kept {
        /// Where its controller connected from last.
        var source: IPAddress
        /// Since when it's without connection; nil with one.
        var offlineSince: Instant?
        /// Whether messages wait for its controller.
        var owes: Bool
        /// Counts up with each connection: greater is newer.
        var number: UInt64
    }

    /// The part of all places that is freed at once, so that the next newcomers needn't look again.
    private static let batch = 16

    /// The indices of those that give way to a newcomer from `source`; empty when it's to be refused.
    static func giveWay(among kept: [Kept], to source: IPAddress, places: Int) -> [Int] {
        let most = max(1, places / batch)
        let own = source.network
        let counts = kept.reduce(into: [IPAddress: Int]()) { $0[$1.source.network, default: 0] += 1 }
        let others = counts[own] == nil ? 1 : 0
        let fair = max(1, places / (counts.count + others))
        let gone = kept.indices.filter { kept[$0].offlineSince != nil }.sorted { left, right in
            (kept[left].owes ? 1 : 0, kept[left].offlineSince ?? .zero) < (kept[right].owes ? 1 : 0, kept[right].offlineSince ?? .zero)
        }
        let greedy = Set(counts.filter { $0.value > fair }.keys)
        let goneGreedy = gone.filter { greedy.contains(kept[$0].source.network) }
        if !goneGreedy.isEmpty { return Array(goneGreedy.prefix(most)) }
        let goneOwn = gone.filter { kept[$0].source.network == own }
        if !goneOwn.isEmpty { return Array(goneOwn.prefix(most)) }
        guard let busiest = greedy.max(by: { (counts[$0] ?? 0, "\($0)") < (counts[$1] ?? 0, "\($1)") }) else {
            return Array(gone.prefix(most))
        }
        guard !greedy.contains(own) else { return [] }
        let newest = kept.indices.filter { kept[$0].source.network == busiest }.sorted { kept[$0].number > kept[$1].number }
        return Array(newest.prefix(min(most, newest.count - fair)))
    }
}
