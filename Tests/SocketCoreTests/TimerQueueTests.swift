import Testing

@testable import SocketCore

@Suite("Timers in a heap")
struct TimerQueueTests {
    func instant(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    func popAll(_ queue: inout TimerQueue, at now: Instant) -> [TimerToken] {
        var due: [TimerToken] = []
        while let token = queue.popDue(at: now) { due.append(token) }
        return due
    }

    @Test("timers are due in the order of their deadlines, each once")
    func order() {
        var queue = TimerQueue()
        let tokens = (0..<5).map { _ in queue.add() }
        for (index, time) in [50, 10, 30, 20, 40].enumerated() { queue.set(tokens[index], to: instant(Int64(time))) }
        #expect(popAll(&queue, at: instant(25)) == [tokens[1], tokens[3]])
        #expect(popAll(&queue, at: instant(100)) == [tokens[2], tokens[4], tokens[0]])
        #expect(popAll(&queue, at: .distantFuture).isEmpty)
    }

    @Test("moving a deadline later costs no place in the heap, and it's met then")
    func later() {
        var queue = TimerQueue()
        let token = queue.add()
        for time in 1...100_000 { queue.set(token, to: instant(Int64(time))) }
        #expect(queue.queuedCount == 1)
        #expect(popAll(&queue, at: instant(99_999)).isEmpty)
        #expect(popAll(&queue, at: instant(100_000)) == [token])
    }

    @Test("moving a deadline earlier again and again doesn't grow the heap without end")
    func earlier() {
        var queue = TimerQueue()
        let token = queue.add()
        for time in (1...100_000).reversed() { queue.set(token, to: instant(Int64(time))) }
        #expect(queue.queuedCount <= 70)
        #expect(popAll(&queue, at: instant(1)) == [token])
        #expect(popAll(&queue, at: .distantFuture).isEmpty)
    }

    @Test("a removed timer isn't due, and its token doesn't reach its successor")
    func removed() {
        var queue = TimerQueue()
        let first = queue.add()
        queue.set(first, to: instant(1))
        queue.remove(first)
        let second = queue.add()
        #expect(second.slot == first.slot && second != first)
        queue.set(first, to: instant(1))
        #expect(popAll(&queue, at: instant(10)).isEmpty)
        queue.set(second, to: instant(5))
        #expect(popAll(&queue, at: instant(10)) == [second])
        queue.remove(first)
        #expect(queue.timerCount == 1)
    }

    @Test("against a list that is searched, over random operations", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func differential(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var queue = TimerQueue()
        var wanted: [TimerToken: Instant] = [:]
        var now = Instant.zero
        for _ in 0..<5_000 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: wanted[queue.add()] = .distantFuture
            case 1:
                guard let token = wanted.keys.min(by: { $0.slot < $1.slot }) else { continue }
                queue.remove(token)
                wanted[token] = nil
            case 2, 3:
                guard let token = wanted.keys.sorted(by: { $0.slot < $1.slot }).randomElement(using: &random) else { continue }
                let deadline = now + .milliseconds(Int.random(in: -5...50, using: &random))
                queue.set(token, to: deadline)
                wanted[token] = deadline
            default:
                now = now + .milliseconds(Int.random(in: 0...10, using: &random))
                let due = Set(popAll(&queue, at: now))
                #expect(due == Set(wanted.filter { $0.value <= now }.keys), "seed \(seed)")
                for token in due { wanted[token] = .distantFuture }
            }
        }
    }
}
