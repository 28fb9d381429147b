import FrameCodec
import Synchronization
import Testing

@testable import SocketCore

/// Ends that something else comes into the middle of.
@Suite("Ends in the middle of something", .timeLimit(.minutes(2)))
struct OverlappingEndsTests {
    @Test func `a close whose controller comes over another connection has ended, and doesn't wait for its time`() async throws {
        let began = Happenings<Session>()
        var configuration = SessionConfiguration(role: .router)
        // No timer comes to its rescue.
        configuration.timing.linger = .seconds(3_600)
        configuration.timing.drain = .seconds(3_600)
        configuration.timing.resend.base = .seconds(3_600)
        configuration.timing.heartbeat = .seconds(3_600)
        configuration.timing.silence = .seconds(3_600)
        let listener = SessionListener(configuration) { if case .began(let session, _, _) = $0 { began.add(session) } }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        let identifier = SessionIdentifier.random()
        let old = try await RawPeer().run { _ in
            let connection = try RawConnection(to: endpoint)
            try connection.hello(identifier)
            return connection
        }
        let session = try #require(await began.next())
        // Its receipt is what the close waits for.
        _ = try await session.post(text(1))
        let closing = Task { await session.close() }
        while !(await session.isClosing) { await Task.yield() }
        let end = try await RawPeer().run { _ in
            let new = try RawConnection(to: endpoint)
            try new.sayHello(identifier, resume: true)
            return new.drain()
        }
        #expect(end != .silent)
        await closing.value
        #expect(await listener.sessionCount == 0)
        await listener.close()
        _ = old
    }

    @Test func `a suspension returns with its own connection, though the one before it ends meanwhile`() async throws {
        let peer = try RawPeer()
        let loop = try EventLoop(name: "suspensions")
        let session = Session(to: peer.endpoint, .hasty { $0.timing.farewell = .seconds(3_600) }, loop: loop)
        let log = SessionLog(session)
        async let script = peer.run { peer in
            let first = try peer.accept()
            try first.greet()
            let second = try peer.accept()
            try second.greet()
            _ = second.drain()
            // The first one's farewell ends, and with it its suspension alone.
            first.finish()
            return (first, second)
        }
        await session.start()
        await log.state { if case .open = $0 { true } else { false } }
        let suspensions = (1...2).map { number in
            Task(executorPreference: loop) {
                if number == 2 { await log.state { if case .resumed = $0 { true } else { false } } }
                await session.suspend()
                return await OnLoop(loop).run { $0.residents.descriptors }
            }
        }
        while !(await session.isSuspended) { await Task.yield() }
        await session.resume()
        let (_, second) = try await script
        _ = await suspensions[0].value
        second.finish()
        #expect(await suspensions[1].value == 1, "only the loop's own is left")
        await session.close()
        loop.stop()
    }

    @Test func `who cuts the connection of a session that closes, while being told of something, hears the end as well`() async throws {
        let began = Happenings<Session>()
        let listener = SessionListener(SessionConfiguration(role: .router)) {
            if case .began(let session, _, _) = $0 { began.add(session) }
        }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        let connection = try await RawPeer().run { _ in
            let connection = try RawConnection(to: endpoint)
            try connection.hello(.random())
            return connection
        }
        let session = try #require(await began.next())
        let attendant = CuttingAttendant()
        await session.attend(by: attendant)
        // In one tick: its outcome comes when it's written, which is when the close goes on.
        try await OnLoop(session.loop).run { _ in
            try session.assumeIsolated { session in
                try session.offer(text(1), wantsReceipt: false)
                session.beginClosing(.endSession)
            }
        }
        await session.close()
        #expect(await attendant.last.next() == true, "it's told of the end, and then that nothing more comes")
        await listener.close()
        _ = connection
    }
}

/// Cuts the connection when a message has its outcome.
private final class CuttingAttendant: SessionAttendant {
    /// Whether the end was among what it was told.
    let last = Happenings<Bool>()
    private let hasEnded = Mutex(false)

    func session(_ session: Session, happened events: [SessionEvent]) {
        for event in events {
            if case .outcome = event { session.assumeIsolated { $0.dropConnection() } }
            if case .state(.closed) = event { hasEnded.withLock { $0 = true } }
        }
    }

    func sessionEnded(_ session: Session) { last.add(hasEnded.withLock { $0 }) }
}

extension Session {
    var isClosing: Bool { core.closing != nil }
}
