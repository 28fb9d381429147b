import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("Fail-over: when a router is left for another")
struct FailoverCoreTests {
    static let here = MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)
    static let there = MACAddress(0x02, 0, 0x5E, 0, 0x53, 2)
    static let third = MACAddress(0x02, 0, 0x5E, 0, 0x53, 3)

    static func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    static func core(_ policy: FailoverPolicy, _ change: (inout FailoverCore.Settings) -> Void = { _ in }) -> FailoverCore {
        var settings = FailoverCore.Settings()
        settings.policy = policy
        change(&settings)
        var core = FailoverCore(settings)
        core.use(here, now: .zero)
        return core
    }

    @Test("two time-outs and a success are nothing; the third without a success between asks the network", arguments: [1, 3, 5])
    func counting(limit: Int) {
        var core = FailoverCoreTests.core(.propose) { $0.timeouts = limit }
        for _ in 1..<max(2, limit) where limit > 1 { core.timedOut(now: .zero) }
        core.succeeded()
        for count in 1...limit {
            #expect(core.takeActions().isEmpty)
            core.timedOut(now: FailoverCoreTests.at(count))
        }
        #expect(core.takeActions() == [.tell(.looking(timeouts: limit)), .scan])
    }

    @Test("never means never")
    func never() {
        var core = FailoverCoreTests.core(.never)
        for second in 0..<100 { core.timedOut(now: .zero + .seconds(second)) }
        #expect(core.takeActions().isEmpty && core.deadline == .distantFuture && core.timeouts == 100)
    }

    static let comparisons: [(mine: LinkMeasurement?, others: [LinkMeasurement], expected: FailoverProposal.Reason?)] = [
        (nil, [], nil),
        (nil, [LinkMeasurement(there, roundTrip: .seconds(1))], .silent),
        (LinkMeasurement(here, signal: -70), [LinkMeasurement(there, signal: -70)], nil),
        (LinkMeasurement(here, signal: -70), [LinkMeasurement(there, signal: -62.01)], nil),
        (LinkMeasurement(here, signal: -70), [LinkMeasurement(there, signal: -62)], .stronger(current: -70, other: -62)),
        // The signal decides where both have one, whatever the round trips.
        (
            LinkMeasurement(here, signal: -70, roundTrip: .milliseconds(900)),
            [LinkMeasurement(there, signal: -69, roundTrip: .milliseconds(1))], nil
        ),
        // One without a signal can be compared by its round trip alone.
        (
            LinkMeasurement(here, signal: -70, roundTrip: .milliseconds(100)), [LinkMeasurement(there, roundTrip: .milliseconds(49))],
            .faster(current: .milliseconds(100), other: .milliseconds(49))
        ),
        (LinkMeasurement(here, roundTrip: .milliseconds(100)), [LinkMeasurement(there, roundTrip: .milliseconds(50))], nil),
        (LinkMeasurement(here, roundTrip: .milliseconds(20)), [LinkMeasurement(there, roundTrip: .milliseconds(1))], nil),
        (LinkMeasurement(here, roundTrip: .milliseconds(100)), [LinkMeasurement(there)], nil),
        (LinkMeasurement(here), [LinkMeasurement(there, roundTrip: .milliseconds(1))], nil),
    ]

    @Test("only what is better by the margin is proposed", arguments: comparisons.indices)
    func margins(index: Int) {
        let (mine, others, expected) = FailoverCoreTests.comparisons[index]
        var core = FailoverCoreTests.core(.propose)
        for _ in 0..<3 { core.timedOut(now: .zero) }
        _ = core.takeActions()
        core.measured(others + (mine.map { [$0] } ?? []), now: .zero)
        if let expected {
            let proposal = FailoverProposal(
                current: FailoverCoreTests.here, other: FailoverCoreTests.there, reason: expected, timeouts: 3)
            #expect(core.takeActions() == [.tell(.proposed(proposal))])
        } else {
            #expect(core.takeActions() == [.tell(.stays(candidates: others.count))])
        }
    }

    @Test("the best of several is taken, whatever their order, and of equal ones always the same")
    func best() throws {
        for order in [[0, 1], [1, 0]] {
            let all = [LinkMeasurement(FailoverCoreTests.there, signal: -50), LinkMeasurement(FailoverCoreTests.third, signal: -50)]
            var core = FailoverCoreTests.core(.automatic)
            for _ in 0..<3 { core.timedOut(now: .zero) }
            _ = core.takeActions()
            core.measured(order.map { all[$0] }, now: .zero)
            guard case .move(let proposal)? = core.takeActions().first else {
                Issue.record("no move")
                return
            }
            #expect(proposal.other == FailoverCoreTests.there)
        }
    }

    @Test("between two scans lies a while, to the millisecond")
    func scanInterval() {
        var core = FailoverCoreTests.core(.propose)
        for _ in 0..<3 { core.timedOut(now: .zero) }
        core.measured([LinkMeasurement(FailoverCoreTests.here)], now: FailoverCoreTests.at(3_000))
        _ = core.takeActions()
        for _ in 0..<3 { core.timedOut(now: FailoverCoreTests.at(4_000)) }
        #expect(core.deadline == FailoverCoreTests.at(13_000))
        core.advance(to: FailoverCoreTests.at(12_999))
        #expect(core.takeActions().isEmpty)
        core.advance(to: FailoverCoreTests.at(13_000))
        #expect(core.takeActions() == [.tell(.looking(timeouts: 3)), .scan])
    }

    @Test("an answer that comes while the network is asked ends the matter")
    func recovered() {
        var core = FailoverCoreTests.core(.automatic)
        for _ in 0..<3 { core.timedOut(now: .zero) }
        _ = core.takeActions()
        core.succeeded()
        core.measured([LinkMeasurement(FailoverCoreTests.there, signal: -30)], now: .zero)
        #expect(core.takeActions().isEmpty)
    }

    /// Drives a core on a network where both routers lose every command, and says when it moved.
    static func moves(for span: Duration, _ measure: (MACAddress) -> [LinkMeasurement]) -> [(at: Int64, to: MACAddress)] {
        var core = core(.automatic)
        var current = here
        var moves: [(Int64, MACAddress)] = []
        var second = 0
        while Duration.seconds(second) < span {
            let now = Instant.zero + .seconds(second)
            core.timedOut(now: now)
            core.advance(to: now)
            for action in core.takeActions() where action == .scan { core.measured(measure(current), now: now) }
            for case .move(let proposal) in core.takeActions() {
                moves.append((now.nanoseconds / 1_000_000_000, proposal.other))
                current = proposal.other
                core.moveEnded(nil, now: now)
            }
            second += 1
        }
        return moves
    }

    @Test("two equal routers: never a move, for a day of time-outs")
    func noFlappingBetweenEquals() {
        let equal = [LinkMeasurement(FailoverCoreTests.here, signal: -60), LinkMeasurement(FailoverCoreTests.there, signal: -60)]
        #expect(FailoverCoreTests.moves(for: .seconds(86_400)) { _ in equal }.isEmpty)
    }

    @Test("routers that are silent in turn are followed ever more slowly: holds of 30, 60, 120, 240, then 480 s")
    func holdDoubles() {
        let both: Set = [FailoverCoreTests.here, FailoverCoreTests.there]
        let moves = FailoverCoreTests.moves(for: .seconds(3_000)) { current in
            both.subtracting([current]).map { LinkMeasurement($0, roundTrip: .milliseconds(1)) }
        }
        let gaps = zip(moves, moves.dropFirst()).map { $1.at - $0.at }
        #expect(gaps.prefix(6) == [30, 60, 120, 240, 480, 480])
    }

    @Test("a move that failed leaves the current router and waits out the hold")
    func moveFailed() throws {
        var core = FailoverCoreTests.core(.automatic)
        for _ in 0..<3 { core.timedOut(now: .zero) }
        _ = core.takeActions()
        core.measured([LinkMeasurement(FailoverCoreTests.there)], now: .zero)
        _ = core.takeActions()
        core.moveEnded("no hello", now: FailoverCoreTests.at(5_000))
        guard case .tell(.moveFailed(_, "no hello"))? = core.takeActions().first else {
            Issue.record("the failure isn't told")
            return
        }
        for _ in 0..<3 { core.timedOut(now: FailoverCoreTests.at(6_000)) }
        #expect(core.deadline == FailoverCoreTests.at(35_000))
    }

    @Test("a user's own move counts as a move, and sets the count back")
    func ownMove() {
        var core = FailoverCoreTests.core(.automatic)
        core.timedOut(now: .zero)
        core.use(FailoverCoreTests.there, now: FailoverCoreTests.at(1_000))
        #expect(core.timeouts == 0)
        for _ in 0..<3 { core.timedOut(now: FailoverCoreTests.at(2_000)) }
        #expect(core.takeActions().isEmpty && core.deadline == FailoverCoreTests.at(31_000))
    }
}
