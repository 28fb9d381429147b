import SessionSimulation
import Testing

@testable import SocketCore

/// Looking for the peer before it's dialled has a span of its own.
struct LookingTests {
    @Test func `the time for connecting begins when the peer is found, and looking has an end too`() {
        let timing = SessionTiming()
        var core = SessionCore(SessionConfiguration(role: .controller), session: SessionPair.session, seed: 1, now: .zero)
        core.start(now: .zero)
        let number = core.connection
        core.looks(number, now: .zero)
        core.advance(to: Instant.zero + (timing.look - .seconds(1)))
        #expect(core.connection == number)
        let found = Instant.zero + (timing.look - .seconds(1))
        core.found(number, now: found)
        #expect(core.deadline.at == found + timing.connect)
        core.advance(to: found + timing.connect)
        #expect(core.takeEvents().states.contains(.lost(.connectTimedOut(after: timing.connect))))
        // Dialled anew; this time nobody is found.
        core.advance(to: core.deadline.at)
        let again = core.connection
        let begun = core.deadline.at
        core.looks(again, now: begun)
        core.found(number, now: begun + .seconds(1))
        #expect(core.deadline.at == begun + timing.look)
        core.advance(to: begun + timing.look)
        #expect(core.takeEvents().states.contains(.lost(.connectTimedOut(after: timing.look))))
    }
}
