import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SocketCore

/// Signals that have come; the handler may touch nothing else.
private let interruptions = Atomic<Int>(0)

/// Sends a signal to one thread a thousand times a second, without SA_RESTART, so that its calls end with EINTR.
private final class SignalStorm: Sendable {
    private static let number = SIGURG
    private let isOver = Mutex(false)

    init(on thread: pthread_t) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in interruptions.add(1, ordering: .relaxed) }
        sigaction(SignalStorm.number, &action, nil)
        Thread.detachNewThread { [self] in
            // A descriptor that nothing ever comes to: its wait is the storm's beat.
            var ends: [Int32] = [-1, -1]
            pipe(&ends)
            var never = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            while !isOver.withLock({ $0 }) {
                pthread_kill(thread, SignalStorm.number)
                poll(&never, 1, 1)
            }
            for end in ends { close(end) }
        }
    }

    func stop() { isOver.withLock { $0 = true } }
}

@Suite("Sessions whose system calls are interrupted", .timeLimit(.minutes(10)))
struct InterruptionTests {
    @Test func `two thousand messages each way, with a journal, while a signal hits the loop's thread a thousand times a second`()
        async throws
    {
        let loop = try EventLoop(name: "interrupted")
        let home = try TemporaryDirectory()
        let began = Happenings<Session>()
        let listener = SessionListener(SessionConfiguration(role: .router), loop: loop) {
            if case .began(let session, _, _) = $0 { began.add(session) }
        }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        let storm = SignalStorm(
            on: await OnLoop(loop).run { _ in
                // A thread that was started from a task's has all signals blocked.
                var all = sigset_t()
                sigfillset(&all)
                pthread_sigmask(SIG_UNBLOCK, &all, nil)
                return pthread_self()
            })
        let session = try Session(to: endpoint, .hasty(), journal: try OutboxJournal.open(home.file("outbox.journal")), loop: loop)
        let log = SessionLog(session)
        await session.start()
        let router = try #require(await began.next())
        let theirLog = SessionLog(router)
        let count = 2_000
        async let ours: Void = { for number in 1...count { _ = try await session.post(text(number)) } }()
        async let theirs: Void = { for number in 1...count { _ = try await router.post(text(-number)) } }()
        #expect(await theirLog.bodies(count) == (1...count).map(text))
        #expect(await log.bodies(count) == (1...count).map { text(-$0) })
        #expect(await log.outcomes(count).allSatisfy { $0.result == .delivered && $0.sends == 1 })
        _ = try await (ours, theirs)
        #expect(await session.counters.openings == 1)
        #expect(interruptions.load(ordering: .relaxed) > 50)
        await session.close()
        await listener.close()
        storm.stop()
        // The loop's thread lives as long as signals may be on their way to it.
        _ = loop
    }
}
