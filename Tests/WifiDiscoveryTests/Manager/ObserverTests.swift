import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("Who observes a connection", .timeLimit(.minutes(10)))
struct ObserverTests {
    /// The outcomes that a connection's observers were told.
    private func outcomes(_ connection: RouterConnection) async -> (AsyncStream<SessionTicket>, RouterConnection.Observation) {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionTicket.self)
        let observation = await connection.observe { if case .outcome(let outcome) = $0 { continuation.yield(outcome.ticket) } }
        return (stream, observation)
    }

    @Test func `of two sessions with one router, whose tickets are alike, each tells its own`() async throws {
        let fleet = try await TestFleet(1)
        let (one, other) = (fleet.manager(), fleet.manager())
        let first = try await one.connect(to: "\(fleet.macs[0])")
        let second = try await other.connect(to: "\(fleet.macs[0])")
        let (firsts, observation) = await outcomes(first)
        let (seconds, _) = await outcomes(second)
        var (firstEnds, secondEnds) = (firsts.makeAsyncIterator(), seconds.makeAsyncIterator())
        for _ in 0..<3 {
            let ticket = try await first.session.post([1])
            #expect(await firstEnds.next() == ticket)
        }
        // Had the second been told the first's ends, they would come before its own.
        let ticket = try await second.session.post([2])
        #expect(await secondEnds.next() == ticket)
        await first.stopObserving(observation)
        _ = try await first.session.send([3])
        #expect(await first.observers.isEmpty)
        await one.close()
        await other.close()
        await fleet.stop()
    }
}
