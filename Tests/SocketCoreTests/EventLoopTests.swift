import Synchronization
import Testing

@testable import SocketCore

@Suite("The event loop as an executor", .timeLimit(.minutes(10)))
struct EventLoopTests {
    @Test("an actor of the loop runs on its thread, and so does a task that prefers it")
    func executor() async throws {
        let loop = try EventLoop(name: "test-loop")
        defer { loop.stop() }
        #expect(!loop.isCurrent)
        #expect(await OnLoop(loop).run { $0.isCurrent })
        let preferred = await Task(executorPreference: loop) { loop.isCurrent }.value
        #expect(preferred)
    }

    @Test("ten thousand jobs from many tasks all run, none twice")
    func jobs() async throws {
        let loop = try EventLoop(name: "test-loop")
        defer { loop.stop() }
        let counter = Counter()
        let worker = OnLoop(loop)
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { for _ in 0..<100 { await worker.run { _ in counter.add() } } }
            }
        }
        #expect(counter.value == 10_000)
    }

    final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    @Test("timers fire on the loop, not before their time")
    func timers() async throws {
        final class Waiter: TimerHandler, Sendable {
            let fired = Happenings<Instant>()
            func timerFired(at now: Instant) { fired.add(now) }
        }
        let loop = try EventLoop(name: "test-loop")
        defer { loop.stop() }
        let waiter = Waiter()
        let deadline = await OnLoop(loop).run { loop in
            let deadline = loop.now + .milliseconds(20)
            loop.setTimer(loop.addTimer(waiter), to: deadline)
            return deadline
        }
        let fired = try #require(await waiter.fired.next())
        #expect(fired >= deadline)
    }

    @Test("a stopped loop finishes what was enqueued before")
    func stop() async throws {
        let loop = try EventLoop(name: "test-loop")
        let done = Happenings<Int>()
        let worker = OnLoop(loop)
        await worker.run { loop in
            loop.stop()
            Task(executorPreference: loop) { done.add(1) }
        }
        #expect(await done.next() == 1)
    }

    @Test("a loop that nobody has any more leaves nothing, and no descriptor")
    func leavesNothing() throws {
        weak var state: LoopState?
        do {
            let made = try LoopState()
            state = made
        }
        #expect(state == nil)
    }
}
