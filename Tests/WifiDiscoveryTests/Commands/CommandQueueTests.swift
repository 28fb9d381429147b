import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("The command queue of one router")
struct CommandQueueTests {
    var queue = CommandQueue()
    var now = Instant.zero

    mutating func add() throws -> CommandNumber {
        let number = queue.enqueue(now: now)
        return try #require(number)
    }

    /// Lets time pass step by step; each line says when what happened.
    mutating func run(until end: Duration) -> [String] {
        var lines: [String] = []
        while queue.deadline <= Instant.zero + end {
            now = queue.deadline
            queue.advance(to: now)
            lines += drain()
        }
        return lines
    }

    mutating func drain() -> [String] {
        queue.takeActions().map { action in
            let time = "\((now - .zero).inMilliseconds / 1_000) s: "
            switch action {
            case .send(let number): return time + "send \(number.value)"
            case .finish(let number, let outcome): return time + "finish \(number.value) \(outcome)"
            }
        }
    }

    @Test("without an answer: sent at 0, 3 and 9 s, given up at 10 s, and the rest of the queue fails at once")
    mutating func schedule() {
        _ = queue.enqueue(now: now)
        _ = queue.enqueue(now: now)
        #expect(drain() == ["0.0 s: send 1"])
        #expect(
            run(until: .seconds(60)) == [
                "3.0 s: send 1", "9.0 s: send 1", "10.0 s: finish 1 timedOut(tries: 3)", "10.0 s: finish 2 linkBad",
            ])
        #expect(queue.timeoutsInARow == 1 && queue.count == 0)
    }

    @Test("the schedule to the millisecond: nothing a millisecond before it is due")
    mutating func milliseconds() {
        _ = queue.enqueue(now: now)
        _ = queue.takeActions()
        for (due, expected) in [(3_000, "3.0 s: send 1"), (9_000, "9.0 s: send 1"), (10_000, "10.0 s: finish 1 timedOut(tries: 3)")] {
            now = .zero + .milliseconds(due - 1)
            queue.advance(to: now)
            #expect(drain().isEmpty && queue.deadline == .zero + .milliseconds(due))
            now = .zero + .milliseconds(due)
            queue.advance(to: now)
            #expect(drain() == [expected])
        }
        // The next one has its own schedule, from its own beginning.
        now = .zero + .milliseconds(12_345)
        _ = queue.enqueue(now: now)
        #expect(drain() == ["12.345 s: send 2"] && queue.deadline == .zero + .milliseconds(15_345))
    }

    @Test("an answer in the last millisecond counts; one at the end is too late")
    mutating func lastMoment() throws {
        let number = try add()
        queue.sent(number, as: 1)
        _ = run(until: .milliseconds(9_999))
        now = .zero + .milliseconds(9_999)
        queue.answered(1, .success(1), now: now)
        #expect(queue.takeActions() == [.finish(number, .answered(.success(1)))])
        let second = try add()
        queue.sent(second, as: 2)
        _ = run(until: .seconds(60))
        queue.answered(2, .success(1), now: now)
        #expect(queue.lateAnswers == 1 && queue.timeoutsInARow == 1 && queue.takeActions().isEmpty)
    }

    @Test("one at a time, in order; an answer starts the next")
    mutating func order() throws {
        let first = try add()
        let second = try add()
        queue.sent(first, as: 7)
        #expect(drain() == ["0.0 s: send 1"])
        queue.answered(7, .success(1), now: now)
        #expect(queue.takeActions() == [.finish(first, .answered(.success(1))), .send(second)])
        queue.sent(second, as: 8)
        queue.answered(8, .failure(DeviceFault(code: "x", text: "y")), now: now)
        #expect(queue.count == 0 && queue.deadline == .distantFuture)
    }

    @Test("an answer to the first try counts while the second is under way; one after the end is late and dropped")
    mutating func lateAnswer() throws {
        let number = try add()
        queue.sent(number, as: 1)
        _ = run(until: .seconds(3))
        queue.sent(number, as: 2)
        _ = drain()
        queue.answered(1, .success(nil), now: now)
        #expect(drain().count == 1)
        queue.answered(2, .success(nil), now: now)
        #expect(drain().isEmpty && queue.lateAnswers == 1)
    }

    @Test("an answer with an id that was never sent ends nothing")
    mutating func foreignAnswer() {
        _ = queue.enqueue(now: now)
        queue.answered(99, .success(nil), now: now)
        #expect(drain() == ["0.0 s: send 1"] && queue.count == 1 && queue.lateAnswers == 1)
    }

    @Test("cancelling the one under way starts the next; cancelling a waiting one takes it out")
    mutating func cancel() throws {
        let first = try add()
        let second = try add()
        _ = try add()
        queue.cancel(second, now: now)
        queue.cancel(first, now: now)
        #expect(drain() == ["0.0 s: send 1", "0.0 s: finish 2 cancelled", "0.0 s: finish 1 cancelled", "0.0 s: send 3"])
    }

    @Test("every command ends in exactly one outcome, whatever happens", arguments: 1...50 as ClosedRange<UInt64>)
    func oneOutcome(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = CommandQueue()
        var now = Instant.zero
        var ended: [CommandNumber: Int] = [:]
        var lastId: UInt32 = 0
        for _ in 0..<400 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0, 1: if let number = queue.enqueue(now: now) { ended[number] = 0 }
            case 2: queue.answered(UInt32.random(in: 0...lastId, using: &random), .success(nil), now: now)
            case 3: if let number = ended.keys.min(by: { $0.value < $1.value }) { queue.cancel(number, now: now) }
            default:
                now = now + .milliseconds(Int.random(in: 0...4_000, using: &random))
                queue.advance(to: now)
            }
            for action in queue.takeActions() {
                switch action {
                case .send(let number):
                    lastId += 1
                    queue.sent(number, as: lastId)
                case .finish(let number, _): ended[number, default: 0] += 1
                }
            }
        }
        queue.end()
        for case .finish(let number, _) in queue.takeActions() { ended[number, default: 0] += 1 }
        #expect(ended.values.allSatisfy { $0 == 1 }, "seed \(seed)")
        #expect(queue.count == 0)
    }

    @Test("the queue is bounded")
    mutating func bounded() {
        var accepted = 0
        while queue.enqueue(now: now) != nil, accepted <= CommandQueue.largestCount { accepted += 1 }
        #expect(accepted == CommandQueue.largestCount)
    }
}
