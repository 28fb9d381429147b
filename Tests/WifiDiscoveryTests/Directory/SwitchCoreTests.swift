import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct SwitchCoreTests {
    static let old = SimulatedLAN.mac(1)
    static let new = SimulatedLAN.mac(2)
    static let target = SwitchCore.Target(
        mac: new, probe: Endpoint(.v4(192, 0, 2, 2), port: 19510), session: Endpoint(.v4(192, 0, 2, 2), port: 4000))

    static func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    static func begun(from old: MACAddress? = old) -> SwitchCore {
        var core = SwitchCore()
        core.begin(target, from: old, now: .zero)
        return core
    }

    @Test func `first the probe, then the session, then the old one is drained and closed`() {
        var core = Self.begun()
        #expect(core.takeActions() == [.probe(Self.target)])
        core.probeAnswered(Self.new, now: Self.at(3))
        #expect(core.takeActions() == [.open(Self.target)])
        core.connected(now: Self.at(5))
        #expect(core.takeActions().isEmpty && core.step == .hello)
        core.opened(Self.new, now: Self.at(8))
        #expect(core.takeActions() == [.adopt(Self.target), .drainOld(Self.old)])
        #expect(core.outcome == nil && core.deadline == Self.at(5008))
        core.oldDrained(now: Self.at(20))
        #expect(core.takeActions() == [.closeOld(Self.old)])
        #expect(core.outcome == .switched(to: Self.new, oldSettled: true) && core.deadline == nil)
    }

    @Test func `an old session that won't drain is closed after 5 s`() {
        var core = Self.begun()
        core.probeAnswered(Self.new, now: .zero)
        core.opened(Self.new, now: .zero)
        _ = core.takeActions()
        core.advance(now: Self.at(4999))
        #expect(core.outcome == nil)
        core.advance(now: Self.at(5000))
        #expect(core.takeActions() == [.closeOld(Self.old)])
        #expect(core.outcome == .switched(to: Self.new, oldSettled: false))
    }

    @Test func `without an old one it's over when the new one stands`() {
        var core = Self.begun(from: nil)
        core.probeAnswered(Self.new, now: .zero)
        core.opened(Self.new, now: .zero)
        #expect(core.takeActions() == [.probe(Self.target), .open(Self.target), .adopt(Self.target)])
        #expect(core.outcome == .switched(to: Self.new, oldSettled: true))
    }

    @Test func `the probe is sent three times in two seconds`() {
        var core = Self.begun()
        var times: [Int64] = []
        var now = Instant.zero
        while core.outcome == nil {
            times += core.takeActions().map { _ in now.nanoseconds / 1_000_000 }
            guard let due = core.deadline else { break }
            now = due
            core.advance(now: now)
        }
        #expect(times == [0, 250, 750])
        #expect(now == Self.at(2000))
        #expect(core.outcome == .failed(.probe, .timeout(after: .seconds(2)), keepsOld: true))
        #expect(core.takeActions().isEmpty)
    }

    @Test("each step has its time, and a failure keeps the old one", arguments: [(SwitchCore.Step.connect, 10_000), (.hello, 5000)])
    func timeouts(step: SwitchCore.Step, limit: Int) {
        var core = Self.begun()
        core.probeAnswered(Self.new, now: .zero)
        if step == .hello { core.connected(now: .zero) }
        _ = core.takeActions()
        core.advance(now: Self.at(limit - 1))
        #expect(core.outcome == nil && core.deadline == Self.at(limit))
        core.advance(now: Self.at(limit))
        #expect(core.outcome == .failed(step, .timeout(after: .milliseconds(limit)), keepsOld: true))
        #expect(core.takeActions() == [.abandon(Self.target)])
    }

    @Test("whatever the shell reports fails the step under way", arguments: SwitchCore.Step.allCases)
    func failures(step: SwitchCore.Step) {
        var core = Self.begun()
        if step != .probe { core.probeAnswered(Self.new, now: .zero) }
        if step == .hello { core.connected(now: .zero) }
        _ = core.takeActions()
        // Proving is a part of connecting that the shell tells apart.
        core.failed("connection refused", at: step == .prove ? .prove : nil, now: .zero)
        #expect(core.outcome == .failed(step, .reason("connection refused"), keepsOld: true))
        #expect(core.takeActions() == (step == .probe ? [] : [.abandon(Self.target)]))
        core.opened(Self.new, now: .zero)
        core.probeAnswered(Self.new, now: .zero)
        core.cancel(now: .zero)
        #expect(core.takeActions().isEmpty)
    }

    @Test func `another router than the wanted one is refused, by probe and by hello`() {
        var probed = Self.begun()
        probed.probeAnswered(Self.old, now: .zero)
        #expect(probed.outcome == .failed(.probe, .wrongRouter(expected: Self.new, found: Self.old), keepsOld: true))
        var opened = Self.begun()
        opened.probeAnswered(Self.new, now: .zero)
        opened.connected(now: .zero)
        _ = opened.takeActions()
        opened.opened(Self.old, now: .zero)
        #expect(opened.outcome == .failed(.hello, .wrongRouter(expected: Self.new, found: Self.old), keepsOld: true))
        #expect(opened.takeActions() == [.abandon(Self.target)])
    }

    @Test func `an old session lost by itself doesn't stop the switch`() {
        var core = Self.begun()
        core.oldLost(now: .zero)
        core.probeAnswered(Self.new, now: .zero)
        core.failed("reset", now: .zero)
        #expect(core.outcome == .failed(.connect, .reason("reset"), keepsOld: false))
        var draining = Self.begun()
        draining.probeAnswered(Self.new, now: .zero)
        draining.opened(Self.new, now: .zero)
        draining.oldLost(now: .zero)
        #expect(draining.outcome == .switched(to: Self.new, oldSettled: false))
    }

    @Test func `it can be called off until the new one is adopted`() {
        var core = Self.begun()
        core.probeAnswered(Self.new, now: .zero)
        core.cancel(now: .zero)
        #expect(core.outcome == .cancelled(.connect, keepsOld: true))
        #expect(core.takeActions() == [.probe(Self.target), .open(Self.target), .abandon(Self.target)])
        var adopted = Self.begun()
        adopted.probeAnswered(Self.new, now: .zero)
        adopted.opened(Self.new, now: .zero)
        adopted.cancel(now: .zero)
        #expect(adopted.outcome == nil)
    }

    @Test func `answers at the wrong time change nothing`() {
        var core = SwitchCore()
        core.probeAnswered(Self.new, now: .zero)
        core.connected(now: .zero)
        core.opened(Self.new, now: .zero)
        core.oldDrained(now: .zero)
        core.oldLost(now: .zero)
        core.failed("x", now: .zero)
        core.cancel(now: .zero)
        core.advance(now: Self.at(99_999))
        #expect(core.takeActions().isEmpty && core.outcome == nil && core.deadline == nil)
        core.begin(Self.target, from: Self.old, now: .zero)
        core.connected(now: .zero)
        core.opened(Self.new, now: .zero)
        core.oldDrained(now: .zero)
        #expect(core.takeActions() == [.probe(Self.target)] && core.step == .probe)
    }
}
