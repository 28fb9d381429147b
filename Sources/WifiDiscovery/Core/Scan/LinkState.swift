import SocketCore

/// A link with what the scan remembers about it: its rounds, how silent it is and how much gets lost on it.
struct LinkState {
    /// Rounds that stay dense after one in which something was missing.
    private static let denseRoundsAfterLoss = 3

    var link: DiscoveryLink
    var nonces = NonceBook()
    var nextRound: Instant
    /// Rounds begun.
    private(set) var round = 0
    /// Rounds in a row that everybody was asked in and nobody answered.
    private(set) var silentRounds = 0
    /// The first send failure. One way of sending may go on failing while others work.
    private(set) var failure: String?
    /// Whether anything came since then.
    private(set) var worksInSpite = false

    private var denseRounds = 0
    private var latest: HexToken?
    private var wasHeard = false
    private var askedEverybody = false
    /// Routers of the link that were known when the round began and not asked to stay silent, and how many of them answered.
    private var expected = 0
    private var answered = 0
    private var foundLate = false

    init(_ link: DiscoveryLink, now: Instant) {
        self.link = link
        nextRound = now
    }

    /// True while datagrams seem to get lost: a router was missing, or was found only by a later round.
    var isLossy: Bool { denseRounds > 0 }

    /// Ends the round before and draws its conclusions.
    mutating func endRound() {
        if wasHeard {
            silentRounds = 0
        } else if round > 0, askedEverybody {
            silentRounds += 1
        }
        if answered < expected || foundLate {
            denseRounds = LinkState.denseRoundsAfterLoss
        } else if expected > 0 {
            // Where all the known ones stay silent on request, nothing was proven either way.
            denseRounds = max(denseRounds - 1, 0)
        }
    }

    /// Begins a round with the probe of that nonce.
    mutating func beginRound(_ asked: NonceBook.Asked, expected: Int, asksEverybody: Bool) {
        nonces.remember(asked)
        round += 1
        latest = asked.nonce
        (wasHeard, askedEverybody, answered, foundLate) = (false, asksEverybody, 0, false)
        self.expected = expected
    }

    /// A router of the link answered, for the first time ever or again.
    mutating func heard(_ asked: NonceBook.Asked, isNew: Bool, now: Instant) {
        wasHeard = true
        worksInSpite = true
        guard asked.nonce == latest else { return }
        if !isNew { answered += 1 }
        guard isNew, round > 1 else { return }
        // Found only now, so earlier datagrams got lost: the next round needn't wait for a long gap to end.
        foundLate = true
        if round <= ProbeSchedule.denseRounds { nextRound = min(nextRound, now + ProbeSchedule.denseGap) }
    }

    /// A probe couldn't be sent. Where the group can't even be sent to, the directed broadcast needn't wait for two silent rounds.
    mutating func sendFailed(reason: String, toGroup: Bool, now: Instant) {
        guard failure == nil else { return }
        (failure, worksInSpite) = (reason, false)
        if toGroup, !link.broadcasts.isEmpty { nextRound = now }
    }

    /// Begins anew with the first round.
    mutating func restart(now: Instant) {
        round = 0
        nextRound = now
    }
}

/// When the rounds of a link come: 0, 0.25, 0.75, 1.75 … s, the gaps doubling up to the period of a watch; denser while
/// datagrams get lost.
enum ProbeSchedule {
    static let firstGap: Duration = .milliseconds(250)
    /// While routers are known to be missed: short, since those that answered are asked to stay silent, and still below the ten
    /// probes a second that a router answers.
    static let denseGap: Duration = .milliseconds(150)
    /// A bad link isn't made worse for ever: after this many rounds the plain schedule holds.
    static let denseRounds = 24
    /// While a watched router is silent, before it's called lost.
    static let anxiousGap: Duration = .seconds(2)
    /// Answers that were asked to wait need this much longer to arrive.
    static let answerMargin: Duration = .milliseconds(50)
    /// Controllers that were switched on together drift apart.
    static let jitter = 0.1

    static func gap(afterRound round: Int, isLossy: Bool, isAnxious: Bool, wait: Duration, random unit: Double) -> Duration {
        // 250 ms doubled six times is over the period.
        var gap = round < 6 ? min(firstGap.scaled(by: Double(1 << round)), DiscoveryBounds.period) : DiscoveryBounds.period
        if isLossy, round < denseRounds { gap = min(gap, denseGap) }
        if isAnxious { gap = min(gap, anxiousGap) }
        return max(gap, wait + answerMargin).scaled(by: 1 - jitter + 2 * jitter * unit)
    }
}
