import Synchronization
import Testing

@testable import SocketCore
@testable import WifiDiscovery

/// A connection's own knowledge of how its session stands, told in an order that the test chooses: the session underneath never dials, so
/// that whoever asked it instead would wait for ever.
@Suite("Who waits for a session to stand", .timeLimit(.minutes(2)))
struct StandingTests {
    private let connection = RouterConnection(Session(to: Endpoint(.loopback, port: 9)), mac: MACAddress(2, 0, 0, 0, 0, 1))
    private let opening = SessionOpening(session: .random(), version: 1, memoryLost: false)
    private let tooLate = LossReason.connectTimedOut(after: .seconds(10))

    /// Somebody who waits, once it does.
    private func waiter() async -> Task<SessionOpening, any Error> {
        let before = await connection.openWaiters.count
        let task = Task { [connection] in try await connection.opened() }
        while await connection.openWaiters.count == before { await Task.yield() }
        return task
    }

    @Test func `what was told before is known at once, and what wasn't told isn't known`() async throws {
        let first = await waiter()
        await connection.hears(.connecting(attempt: 1), .open(opening))
        #expect(try await first.value == opening)
        #expect(try await connection.opened() == opening)
        await connection.hears(.lost(.silent(for: .seconds(30))))
        let second = await waiter()
        await connection.hears(.reconnecting(attempt: 1, after: .seconds(1)), .connecting(attempt: 2), .resumed(opening))
        #expect(try await second.value == opening)
    }

    @Test func `a loss is told to all who wait, and to none who come later`() async throws {
        let both = [await waiter(), await waiter()]
        await connection.hears(.connecting(attempt: 1), .lost(tooLate))
        for one in both { await #expect(throws: tooLate) { _ = try await one.value } }
        let third = await waiter()
        await connection.hears(.connecting(attempt: 2), .open(opening))
        #expect(try await third.value == opening)
    }

    @Test func `a loss between a beginning and the wait is the first failure behind that beginning`() async throws {
        let beginning = await connection.failures
        await connection.hears(.connecting(attempt: 1), .lost(tooLate), .reconnecting(attempt: 1, after: .seconds(1)))
        await #expect(throws: tooLate) { _ = try await connection.opened(since: beginning) }
        // Once it stands, what was before doesn't matter.
        await connection.hears(.connecting(attempt: 2), .open(opening))
        #expect(try await connection.opened(since: beginning) == opening)
    }

    @Test func `a suspension is no failure: who waits goes on waiting for the return`() async throws {
        await connection.hears(.connecting(attempt: 1), .open(opening), .lost(.suspended), .suspended)
        let one = await waiter()
        await connection.hears(.connecting(attempt: 1), .lost(.suspended), .suspended, .connecting(attempt: 1), .resumed(opening))
        #expect(try await one.value == opening)
    }

    @Test func `the end is told to who waits, and to who comes later`() async throws {
        let one = await waiter()
        await connection.hears(.closed(.refused("no")))
        await #expect(throws: LossReason.refused("no")) { _ = try await one.value }
        await #expect(throws: LossReason.refused("no")) { _ = try await connection.opened() }
    }

    @Test func `a connection that is closed before it began leaves nobody waiting`() async throws {
        let one = await waiter()
        await connection.close()
        await #expect(throws: LossReason.closed) { _ = try await one.value }
        await #expect(throws: LossReason.closed) { _ = try await connection.open() }
    }

    @Test func `a return right behind a suspension waits for the new connection`() async throws {
        let fleet = try await TestFleet(1)
        let manager = fleet.manager()
        let router = try await manager.connect()
        let told = Mutex<[SessionState]>([])
        _ = await router.observe { event in if case .state(let state) = event { told.withLock { $0.append(state) } } }
        let opening = try await router.blink()
        let states = told.withLock { $0 }
        #expect(states == [.lost(.suspended), .suspended, .connecting(attempt: 1), .resumed(opening)])
        await manager.close()
        await fleet.stop()
    }

    @Test func `who wants a router waits for all of its closings, however many wait`() async throws {
        let (manager, mac) = (RouterManager(), MACAddress(2, 0, 0, 0, 0, 1))
        var gates: [AsyncStream<Void>.Continuation] = []
        var closings: [Task<Void, Never>] = []
        for count in 1...2 {
            let (gate, open) = AsyncStream<Void>.makeStream()
            gates.append(open)
            closings.append(Task { await manager.depart(mac) { for await _ in gate {} } })
            while await manager.departing[mac]?.closings != count { await Task.yield() }
        }
        let borrowers = (0..<3).map { _ in Task { await manager.borrowHeld(mac, exception: false) === nil } }
        while await manager.departing[mac]?.waiters.count != borrowers.count { await Task.yield() }
        gates[0].finish()
        await closings[0].value
        #expect(await manager.departing[mac]?.waiters.count == borrowers.count)
        gates[1].finish()
        for borrower in borrowers { #expect(await borrower.value) }
        await closings[1].value
        #expect(await manager.departing.isEmpty)
    }
}

extension RouterConnection {
    /// As its session tells.
    fileprivate func hears(_ states: SessionState...) { session(session, happened: states.map { .state($0) }) }

    /// Away and back, with nothing between.
    fileprivate func blink() async throws -> SessionOpening {
        await suspend()
        return try await resume()
    }
}
