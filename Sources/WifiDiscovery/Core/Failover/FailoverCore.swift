import SocketCore

/// Notices that the link to the current router is bad, compares, and proposes or makes a move (design: commands and status).
///
/// Commands that time out are counted; a success sets the count back. At the limit the network is asked, and the routers that answer are
/// compared with the current one. Another one must be better by a margin: of two equal ones none is ever left for the other. After a move
/// the next one has to wait, and longer each time that moves follow each other.
///
/// - **Inputs**: ``use(_:now:)`` whenever another router becomes the current one, ``timedOut(now:)``, ``succeeded()``, ``measured(_:now:)``
///   and ``scanFailed(_:now:)`` in answer to `.scan`, ``moveEnded(_:now:)`` in answer to `.move`, ``advance(to:)``.
/// - **Outputs**: ``takeActions()`` after every input; call ``advance(to:)`` no later than ``deadline``.
public struct FailoverCore: Sendable {
    /// When it acts.
    public struct Settings: Equatable, Sendable {
        /// What it does.
        public var policy = FailoverPolicy.propose
        /// Time-outs without a success between that make a link bad.
        public var timeouts = 3
        /// dB by which another signal must be stronger: what one router's signal varies by when nothing moves.
        public var signalMargin = 8.0
        /// An answer must come in less than this part of the current router's time…
        public var roundTripFactor = 0.5
        /// …and be faster by this much: below, both are good.
        public var roundTripMargin = Duration.milliseconds(20)
        /// Between two scans: a scan costs everybody on the LAN some datagrams.
        public var scanInterval = Duration.seconds(10)
        /// From a move to the next at least; doubled for each move that follows within ``calm``.
        public var hold = Duration.seconds(30)
        /// No hold is longer.
        public var longestHold = Duration.seconds(480)
        /// Without a move for this long the hold is short again.
        public var calm = Duration.seconds(600)

        /// Proposes at three time-outs.
        public init() {}
    }

    /// What the shell is to do.
    public enum Action: Equatable, Sendable {
        /// Ask the network; tell what was measured.
        case scan
        /// Move there; tell how it ended.
        case move(FailoverProposal)
        /// Tell whoever listens.
        case tell(FailoverNotice)
    }

    private enum State: Equatable {
        case watching
        case scanning
        case moving(FailoverProposal)
    }

    private let settings: Settings
    private var state = State.watching
    private var current: MACAddress?
    private var actions: [Action] = []
    private var holdEnd = Instant.zero
    private var hold: Duration
    private var lastMove: Instant?
    private var nextScan = Instant.zero
    /// Time-outs of the current router without a success between.
    public private(set) var timeouts = 0

    /// A core that watches nothing yet.
    public init(_ settings: Settings = Settings()) {
        self.settings = settings
        hold = settings.hold
    }

    /// When ``advance(to:)`` must be called.
    public var deadline: Instant { wantsScan ? max(holdEnd, nextScan) : .distantFuture }

    private var wantsScan: Bool {
        state == .watching && settings.policy != .never && current != nil && timeouts >= max(1, settings.timeouts)
    }

    // MARK: Inputs

    /// This router is the current one from now on, by whosever wish.
    public mutating func use(_ router: MACAddress?, now: Instant) {
        guard router != current else { return }
        if current != nil, router != nil { noteMove(now) }
        current = router
        timeouts = 0
    }

    /// A command to the current router ended without an answer.
    public mutating func timedOut(now: Instant) {
        guard current != nil else { return }
        timeouts += 1
        advance(to: now)
    }

    /// A command to the current router was answered.
    public mutating func succeeded() { timeouts = 0 }

    /// The scan is over: everybody who answered and may be used, the current router among them if it answered.
    public mutating func measured(_ all: [LinkMeasurement], now: Instant) {
        guard state == .scanning else { return }
        endScan(now)
        // Answered meanwhile, or moved by the user: nothing to mend.
        guard let current, timeouts >= max(1, settings.timeouts) else { return }
        let count = timeouts
        timeouts = 0
        let others = all.filter { $0.router != current }
        guard let (other, reason) = better(than: all.first { $0.router == current }, among: others) else {
            return actions.append(.tell(.stays(candidates: others.count)))
        }
        let proposal = FailoverProposal(current: current, other: other, reason: reason, timeouts: count)
        guard settings.policy == .automatic else { return actions.append(.tell(.proposed(proposal))) }
        state = .moving(proposal)
        actions.append(.move(proposal))
    }

    /// The scan couldn't be made.
    public mutating func scanFailed(_ reason: String, now: Instant) {
        guard state == .scanning else { return }
        endScan(now)
        actions.append(.tell(.scanFailed(reason)))
    }

    /// The move is over; the reason when it failed. A move that was made is told by ``use(_:now:)`` as well, before or after.
    public mutating func moveEnded(_ failure: String?, now: Instant) {
        guard case .moving(let proposal) = state else { return }
        state = .watching
        guard let failure else {
            use(proposal.other, now: now)
            return actions.append(.tell(.moved(proposal)))
        }
        noteMove(now)
        actions.append(.tell(.moveFailed(proposal, failure)))
    }

    /// Does what is due.
    public mutating func advance(to now: Instant) {
        guard wantsScan, now >= deadline else { return }
        state = .scanning
        actions.append(.tell(.looking(timeouts: timeouts)))
        actions.append(.scan)
    }

    /// What to do, in order; each action is given out once.
    public mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    // MARK: Deciding

    private mutating func endScan(_ now: Instant) {
        state = .watching
        nextScan = now + settings.scanInterval
    }

    private mutating func noteMove(_ now: Instant) {
        if let lastMove, now - lastMove < settings.calm {
            hold = min(hold + hold, settings.longestHold)
        } else {
            hold = settings.hold
        }
        lastMove = now
        holdEnd = now + hold
    }

    /// The best of the others, if it's better by the margin.
    private func better(
        than mine: LinkMeasurement?, among others: [LinkMeasurement]
    ) -> (MACAddress, FailoverProposal.Reason)? {
        guard let mine else { return best(of: others).map { ($0.router, .silent) } }
        if let signal = mine.signal {
            let known = others.filter { $0.signal != nil }
            if let other = best(of: known), let theirs = other.signal {
                return theirs - signal >= settings.signalMargin ? (other.router, .stronger(current: signal, other: theirs)) : nil
            }
        }
        guard let time = mine.roundTrip, let other = fastest(of: others), let theirs = other.roundTrip,
            theirs < time.scaled(by: settings.roundTripFactor), time - theirs >= settings.roundTripMargin
        else { return nil }
        return (other.router, .faster(current: time, other: theirs))
    }

    /// By signal where all have one, else by round trip; equal ones by their MACs, so that the choice doesn't depend on order.
    private func best(of all: [LinkMeasurement]) -> LinkMeasurement? {
        guard all.allSatisfy({ $0.signal != nil }) else { return fastest(of: all) }
        return all.min { (-($0.signal ?? 0), $0.router) < (-($1.signal ?? 0), $1.router) }
    }

    private func fastest(of all: [LinkMeasurement]) -> LinkMeasurement? {
        all.min { ($0.roundTrip ?? .seconds(3_600), $0.router) < ($1.roundTrip ?? .seconds(3_600), $1.router) }
    }
}
