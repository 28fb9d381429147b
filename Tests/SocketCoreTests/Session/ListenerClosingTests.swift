import FrameCodec
import Synchronization
import Testing

@testable import SocketCore

/// A listener that is closed while hundreds of connections are in every phase that there is: it ends, and nothing is left of them.
@Suite("Closing a listener with hundreds of connections", .timeLimit(.minutes(10)))
struct ListenerClosingTests {
    /// Of each kind: silent, with half a hello, open and idle, open with messages both ways that nobody takes, gone, and being closed.
    private static let ofEachKind = 120

    private enum Kind: CaseIterable { case silent, halfHello, idle, unread, gone, closing }

    /// Connections of one kind; the ends that stay open.
    private static func connect(_ kind: Kind, to endpoint: Endpoint) throws -> [RawConnection] {
        var kept: [RawConnection] = []
        for _ in 0..<ofEachKind {
            let connection = try RawConnection(to: endpoint)
            switch kind {
            case .silent: break
            case .halfHello: try connection.write([0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 123])
            case .idle: try connection.hello(.random())
            case .unread:
                try connection.hello(.random())
                try connection.write(Frame(msgId: 1, body: text(1)), Frame(msgId: 0, body: text(2)))
            case .gone:
                try connection.hello(.random())
                continue
            case .closing:
                try connection.hello(.random())
                connection.finish()
            }
            kept.append(connection)
        }
        return kept
    }

    @Test func `it ends, every connection with it, and every session tells so`() async throws {
        SystemCalls.raiseDescriptorLimit(to: 8_192)
        let loop = try EventLoop(name: "closing")
        let began = Mutex<[Session]>([])
        let ended = Happenings<LossReason>()
        var configuration = SessionConfiguration(role: .router)
        configuration.timing.linger = .milliseconds(300)
        configuration.timing.drain = .milliseconds(900)
        configuration.timing.hello = .seconds(300)
        let listener = SessionListener(configuration, loop: loop) { event in
            if case .began(let session, _, _) = event { began.withLock { $0.append(session) } }
        }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        var connections: [RawConnection] = []
        for kind in Kind.allCases {
            connections += try await RawPeer().run { _ in try ListenerClosingTests.connect(kind, to: endpoint) }
        }
        let sessions = began.withLock { $0 }
        #expect(sessions.count == 4 * ListenerClosingTests.ofEachKind)
        for session in sessions.prefix(sessions.count / 2) {
            _ = try await session.post(text(3))
            Task(executorPreference: loop) {
                for await batch in session.events {
                    for case .state(.closed(let reason)) in batch { ended.add(reason) }
                }
            }
        }
        // Meanwhile others come, as long as they're let in: some are in the kernel's queue when the listener goes.
        let isOver = Mutex(false)
        async let newcomers = RawPeer().run { _ in
            var kept: [RawConnection] = []
            while !isOver.withLock({ $0 }), let next = try? RawConnection(to: endpoint) { if kept.count < 200 { kept.append(next) } }
            return kept
        }
        await listener.close()
        isOver.withLock { $0 = true }
        connections += try await newcomers
        #expect(await listener.sessionCount == 0)
        var left = sessions.count / 2
        _ = await ended.until { _ in
            left -= 1
            return left == 0
        }
        for session in sessions { #expect(await session.isClosed) }
        // Each peer sees an end: none is left with a connection that nobody holds.
        let ends = try await RawPeer().run { [connections] _ in
            connections.map { connection in
                connection.setPatience(60)
                return connection.drain()
            }
        }
        #expect(!ends.contains(.silent))
        #expect(await OnLoop(loop).run { $0.armedTimers } == 0)
        loop.stop()
    }

    @Test(arguments: [true, false]) func `two thousand sessions, each closed by a task of its own or by the listener, end`(byTasks: Bool)
        async throws
    {
        let count = 2_000
        SystemCalls.raiseDescriptorLimit(to: 3 * count)
        let loop = try EventLoop(name: "closing-many")
        let began = Mutex<[Session]>([])
        let listener = SessionListener(SessionConfiguration(role: .router), loop: loop) { event in
            if case .began(let session, _, _) = event { began.withLock { $0.append(session) } }
        }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        let connections = try await RawPeer().run { _ in
            try (0..<count).map { _ in
                let connection = try RawConnection(to: endpoint)
                try connection.hello(.random())
                return connection
            }
        }
        // Peers that hang up once they're told the end: the close needn't wait for its time to be over.
        async let peers: Void = RawPeer().run { _ in
            for connection in connections {
                _ = connection.drain()
                connection.finish()
            }
        }
        if byTasks {
            await withTaskGroup { group in
                for session in began.withLock({ $0 }) { group.addTask { await session.close() } }
            }
        }
        await listener.close()
        _ = try await peers
        #expect(await listener.sessionCount == 0)
        loop.stop()
    }
}

extension Session {
    var isClosed: Bool { core.isClosed }
}
