import SocketCore

/// Moves from one router to another without a gap: the new one is probed and its session opened while the old session
/// stays; only when the new one stands is the old one drained and closed. Whatever fails before that leaves the old one as it was.
///
/// - **Inputs**: ``begin(_:from:now:)``, then as they happen ``probeAnswered(_:now:)``, ``connected(now:)``, ``opened(_:now:)``,
///   ``failed(_:at:now:)``, ``oldLost(now:)``, ``oldDrained(now:)``, ``cancel(now:)``, ``advance(now:)``.
/// - **Outputs**: ``takeActions()`` after every input; ``deadline``; ``outcome`` once it's over.
public struct SwitchCore: Sendable {
    /// Where a switch can fail.
    public enum Step: String, Hashable, Sendable, CaseIterable {
        /// A unicast probe to the new router.
        case probe
        /// The TCP connection.
        case connect
        /// Whose router it is: TLS, where that is wanted.
        case prove
        /// The hello.
        case hello
    }

    /// Where to.
    public struct Target: Hashable, Sendable {
        /// The router's identity: who answers with another one isn't it.
        public var mac: MACAddress
        /// Where to probe it (its address and the discovery port).
        public var probe: Endpoint
        /// Its session listener.
        public var session: Endpoint
        /// Whether its reply offers TLS.
        public var offersTLS: Bool

        /// A target.
        public init(mac: MACAddress, probe: Endpoint, session: Endpoint, offersTLS: Bool = false) {
            self.mac = mac
            self.probe = probe
            self.session = session
            self.offersTLS = offersTLS
        }
    }

    /// What the shell is to do.
    public enum Action: Hashable, Sendable {
        /// Send a probe that names the target's MAC; tell of its answer.
        case probe(Target)
        /// Connect and say hello; tell of each.
        case open(Target)
        /// From now on messages go to the new session.
        case adopt(Target)
        /// Give up the connection to the target.
        case abandon(Target)
        /// Take no new messages in the old session; tell when nothing of it is unsettled.
        case drainOld(MACAddress)
        /// Close the old session.
        case closeOld(MACAddress)
    }

    /// How it ended.
    public enum Outcome: Hashable, Sendable {
        /// The new router is in use; whether the old session settled everything before it was closed.
        case switched(to: MACAddress, oldSettled: Bool)
        /// It failed there; the old session is as it was, unless it was lost meanwhile by itself.
        case failed(Step, Failure, keepsOld: Bool)
        /// The caller called it off in that step.
        case cancelled(Step, keepsOld: Bool)
    }

    /// Why a step failed.
    public enum Failure: Hashable, Sendable {
        /// Nothing came in time.
        case timeout(after: Duration)
        /// The shell's reason.
        case reason(String)
        /// Another router answered.
        case wrongRouter(expected: MACAddress, found: MACAddress)
    }

    /// How long each step may take.
    public struct Timing: Equatable, Sendable {
        /// When probes are sent, from the switch's begin: more than two datagrams in a row are seldom lost.
        public var probes: [Duration] = [.zero, .milliseconds(250), .milliseconds(750)]
        /// From the first probe to giving up: the last one has more than a second.
        public var probe = Duration.seconds(2)
        /// TCP and TLS. As for every connection (design: connect 10 s).
        public var connect = Duration.seconds(10)
        /// As long as a router waits for a hello (protocol.md, section 3).
        public var hello = Duration.seconds(5)
        /// As for every close (design: drain at most 5 s).
        public var drain = Duration.seconds(5)

        /// The usual times.
        public init() {}

        func limit(of step: Step) -> Duration {
            switch step {
            case .probe: probe
            case .connect, .prove: connect
            case .hello: hello
            }
        }
    }

    private enum State: Sendable {
        case idle
        case running(Step, since: Instant)
        case draining(since: Instant)
        case over(Outcome)
    }

    private let timing: Timing
    private var state = State.idle
    private var target: Target?
    private var old: MACAddress?
    private var probesSent = 0
    private var actions: [Action] = []

    /// A switch that hasn't begun.
    public init(_ timing: Timing = Timing()) { self.timing = timing }

    /// How it ended; nil while it goes on.
    public var outcome: Outcome? { if case .over(let outcome) = state { outcome } else { nil } }
    /// The step under way; nil before, while the old session drains, and after.
    public var step: Step? { if case .running(let step, _) = state { step } else { nil } }

    /// When ``advance(now:)`` is due.
    public var deadline: Instant? {
        switch state {
        case .idle, .over: return nil
        case .draining(let since): return since + timing.drain
        case .running(.probe, let since):
            return since + (probesSent < timing.probes.count ? timing.probes[probesSent] : timing.probe)
        case .running(let step, let since): return since + timing.limit(of: step)
        }
    }

    // MARK: Inputs

    /// Begins; `old` is the router in use, nil when there is none. Only the first call counts.
    public mutating func begin(_ target: Target, from old: MACAddress?, now: Instant) {
        guard case .idle = state else { return }
        self.target = target
        self.old = old
        state = .running(.probe, since: now)
        advance(now: now)
    }

    /// A router answered the probe.
    public mutating func probeAnswered(_ mac: MACAddress, now: Instant) {
        guard step == .probe, let target else { return }
        guard mac == target.mac else { return fail(.wrongRouter(expected: target.mac, found: mac)) }
        state = .running(.connect, since: now)
        actions.append(.open(target))
    }

    /// The connection stands, TLS included.
    public mutating func connected(now: Instant) {
        if step == .connect { state = .running(.hello, since: now) }
    }

    /// The session is open: its hello named this MAC.
    public mutating func opened(_ mac: MACAddress, now: Instant) {
        guard let step, step != .probe, let target else { return }
        state = .running(.hello, since: now)
        guard mac == target.mac else { return fail(.wrongRouter(expected: target.mac, found: mac)) }
        actions.append(.adopt(target))
        guard let old else { return end(.switched(to: target.mac, oldSettled: true)) }
        actions.append(.drainOld(old))
        state = .draining(since: now)
    }

    /// The step under way failed, for this reason; or a later one, where the shell does several at once.
    public mutating func failed(_ reason: String, at later: Step? = nil, now: Instant) {
        guard let step else { return }
        if let later, step != .probe, later != .probe { state = .running(later, since: now) }
        fail(.reason(reason))
    }

    /// The old session ended by itself. The switch goes on.
    public mutating func oldLost(now: Instant) {
        guard let target else { return }
        old = nil
        if case .draining = state { end(.switched(to: target.mac, oldSettled: false)) }
    }

    /// Everything in the old session is settled.
    public mutating func oldDrained(now: Instant) { closeOld(settled: true) }

    /// The caller no longer wants it. Once the new session is adopted there's nothing left to call off.
    public mutating func cancel(now: Instant) {
        guard let step, let target else { return }
        if step != .probe { actions.append(.abandon(target)) }
        end(.cancelled(step, keepsOld: old != nil))
    }

    /// Does what is due.
    public mutating func advance(now: Instant) {
        switch state {
        case .idle, .over: return
        case .draining(let since):
            if now - since >= timing.drain { closeOld(settled: false) }
        case .running(let step, let since):
            let limit = timing.limit(of: step)
            if now - since >= limit { return fail(.timeout(after: limit)) }
            guard step == .probe, let target else { return }
            while probesSent < timing.probes.count, now - since >= timing.probes[probesSent] {
                actions.append(.probe(target))
                probesSent += 1
            }
        }
    }

    /// What to do, in order; each action is given out once.
    public mutating func takeActions() -> [Action] {
        defer { actions.removeAll() }
        return actions
    }

    private mutating func fail(_ failure: Failure) {
        guard let step, let target else { return }
        if step != .probe { actions.append(.abandon(target)) }
        end(.failed(step, failure, keepsOld: old != nil))
    }

    private mutating func closeOld(settled: Bool) {
        guard case .draining = state, let old, let target else { return }
        actions.append(.closeOld(old))
        end(.switched(to: target.mac, oldSettled: settled))
    }

    private mutating func end(_ outcome: Outcome) { state = .over(outcome) }
}
