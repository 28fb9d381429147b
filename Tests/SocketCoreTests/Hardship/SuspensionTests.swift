import FrameCodec
import Glibc
import Testing

@testable import SocketCore

/// An app that goes to the background and comes back, over real sockets.
@Suite("Suspended sessions", .timeLimit(.minutes(10)))
struct SuspensionTests {
    /// A loop that nobody else has: what is armed on it is the session's.
    private func armedTimers(_ loop: EventLoop) async -> Int { await OnLoop(loop).run { $0.armedTimers } }

    @Test func `suspended, a session has given its socket up in order and runs no timer; back, it dials once and sends once`() async throws
    {
        let peer = try RawPeer()
        let loop = try EventLoop(name: "suspension")
        let session = Session(to: peer.endpoint, .hasty(), loop: loop)
        let log = SessionLog(session)
        let ends = Happenings<RawConnection.End>()
        async let script = peer.run { peer in
            let first = try peer.accept()
            try first.greet()
            guard try first.message()?.msgId == 1 else { throw RawPeer.Failure(text: "not the first message") }
            // Unread at the other side when it is suspended: a close that isn't orderly would answer this with a reset.
            try first.write(Frame(msgId: 7, body: text(7)))
            ends.add(first.drain())
            first.finish()
            let second = try peer.accept()
            let hello = try second.greet()
            var frames: [Frame] = []
            while let next = try second.frame() {
                frames.append(next)
                if !next.body.isEmpty { try second.receipt(next.msgId) }
                if next.msgId == 3 { break }
            }
            try second.write(Frame(msgId: 7, body: text(7)))
            while let next = try second.frame(), next != Frame(msgId: 7) {}
            return (frames, hello, second)
        }
        await session.start()
        _ = try await session.post(text(1))
        await log.state { if case .open = $0 { true } else { false } }
        #expect(await armedTimers(loop) > 0)
        await session.suspend()
        #expect(await ends.next() == .finished)
        #expect(await session.isSuspended)
        #expect(await armedTimers(loop) == 0)
        // What is given to it meanwhile waits.
        for number in 2...3 { _ = try await session.post(text(number)) }
        #expect(await armedTimers(loop) == 0)
        await session.resume()
        #expect(await log.outcomes(3).map(\.sends) == [2, 1, 1])
        let (frames, hello, _) = try await script
        #expect(frames.map(\.msgId) == [1, 2, 3], "each once, and no heartbeats to make up for the time away")
        #expect(hello.resume && hello.session == session.identifier)
        #expect(await session.counters.openings == 2)
        await session.close(.keepForLater)
        loop.stop()
    }

    @Test func `a peer that doesn't end its half is waited for no longer than a second; a dial under way is dropped`() async throws {
        let peer = try RawPeer()
        let session = Session(to: peer.endpoint, .hasty { $0.timing.farewell = .milliseconds(50) })
        let log = SessionLog(session)
        async let script = peer.run { peer in
            let first = try peer.accept()
            try first.greet()
            // Goes on holding its half open.
            let second = try peer.accept()
            try second.greet()
            return (first, second)
        }
        await session.start()
        await log.state { if case .open = $0 { true } else { false } }
        await session.suspend()
        await session.resume()
        await log.state { if case .resumed = $0 { true } else { false } }
        _ = try await script
        // Nobody accepts this one: it's on its way when the app goes away, and again.
        await session.dropConnection()
        for _ in 0..<3 {
            await session.suspend()
            await session.resume()
        }
        await session.suspend()
        await session.close(.keepForLater)
    }

    @Test func `a router resends to a controller that was away what it had not receipted, and what came up meanwhile, once`() async throws {
        let ends = try await BothEnds()
        let (session, router, log, theirLog) = (ends.session, ends.router, ends.log, ends.theirLog)
        for number in 1...5 { _ = try await router.post(text(number)) }
        #expect(await log.bodies(5) == (1...5).map(text))
        await session.suspend()
        await theirLog.state { if case .lost = $0 { true } else { false } }
        for number in 6...50 { _ = try await router.post(text(number)) }
        await session.resume()
        #expect(await log.bodies(45) == (6...50).map(text))
        #expect(await theirLog.outcomes(50).allSatisfy { $0.result == .delivered })
        #expect(await session.counters.duplicates == 0)
        await session.close()
        await ends.listener.close()
    }

    @Test func `a hundred reconnects leave one timer`() async throws {
        let router = EchoRouter(echoes: false)
        let loop = try EventLoop(name: "reconnects")
        var configuration = SessionConfiguration.hasty()
        configuration.timing.reconnect.ceiling = .milliseconds(5)
        let session = Session(to: try await router.open(), configuration, loop: loop)
        let log = SessionLog(session)
        await session.start()
        await log.state { if case .open = $0 { true } else { false } }
        for _ in 0..<100 {
            await session.dropConnection()
            await log.state { if case .resumed = $0 { true } else { false } }
        }
        #expect(await armedTimers(loop) == 1)
        #expect(await session.counters.openings == 101)
        await session.close()
        #expect(await armedTimers(loop) == 0)
        await router.listener.close()
        loop.stop()
    }
}
