import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct DueQueueTests {
    @Test func `things come out by their time, equal ones in the order in which they went in`() {
        var generator = SeededGenerator(seed: 8)
        var queue = DueQueue<Int>()
        var expected: [(Int64, Int)] = []
        for number in 0..<1000 {
            let due = Int64(generator.next() % 50)
            queue.insert(number, due: Instant(nanoseconds: due))
            expected.append((due, number))
        }
        #expect(queue.pop(now: Instant(nanoseconds: -1)) == nil)
        var came: [Int] = []
        while let due = queue.nextDue, let number = queue.pop(now: due) { came.append(number) }
        #expect(came == expected.sorted { $0 < $1 }.map(\.1))
        #expect(queue.count == 0)
    }
}
