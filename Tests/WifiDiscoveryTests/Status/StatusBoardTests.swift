import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("The status board")
struct StatusBoardTests {
    static let router = MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)
    static let clients = StatusKey(router, .property("clients"))
    static let session = StatusKey(router, .session)

    var board = StatusBoard()

    static func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    mutating func report(_ value: JSONValue, _ name: String = "clients", at time: Int) {
        board.report(StatusKey(StatusBoardTests.router, .property(name)), .property(value), now: StatusBoardTests.at(time))
    }

    /// Everything that was due until then, each batch with the millisecond at which it left.
    mutating func run(until end: Int) -> [String] {
        var lines = board.takeBatches().map { "now: \(StatusBoardTests.text($0))" }
        while board.deadline <= StatusBoardTests.at(end) {
            let time = board.deadline
            board.advance(to: time)
            let milliseconds = (time - .zero).inNanoseconds / 1_000_000
            lines += board.takeBatches().map { "\(milliseconds): \(StatusBoardTests.text($0))" }
        }
        return lines
    }

    static func text(_ batch: StatusBatch) -> String {
        batch.items.map { item in
            switch (item.key.subject, item.value) {
            case (.property(let name), .property(let value)): "\(name)=\(value.text)"
            case (_, .session(let standing)): "\(standing)"
            default: "?"
            }
        }.joined(separator: " ")
    }

    @Test("one report leaves 200 ms later, not a millisecond before")
    mutating func single() {
        report(1, at: 0)
        board.advance(to: StatusBoardTests.at(199))
        #expect(board.takeBatches().isEmpty)
        #expect(run(until: 10_000) == ["200: clients=1"])
        #expect(board.deadline == .distantFuture)
    }

    @Test("a report in the window starts it over; one at its end begins the next batch")
    mutating func restart() {
        report(1, at: 0)
        report(2, "led", at: 199)
        #expect(run(until: 398).isEmpty)
        #expect(run(until: 399) == ["399: clients=1 led=2"])
        report(3, at: 1_000)
        report(4, at: 1_200)
        #expect(run(until: 5_000) == ["now: clients=3", "1400: clients=4"])
    }

    @Test("however many come, the batch leaves 1 s after its first report")
    mutating func longest() {
        for time in stride(from: 0, through: 999, by: 111) { report(.integer(Int64(time)), at: time) }
        #expect(board.deadline == StatusBoardTests.at(1_000))
        #expect(run(until: 1_000) == ["1000: clients=999"])
        // The one at exactly 1 s belongs to the next.
        report(5, at: 2_000)
        for time in stride(from: 2_190, through: 2_950, by: 190) { report(.integer(Int64(time)), at: time) }
        report(6, at: 3_000)
        #expect(run(until: 9_000) == ["now: clients=2950", "3200: clients=6"])
    }

    @Test("what changes nothing opens no window and starts none over")
    mutating func unchanged() {
        report(1, at: 0)
        report(1, at: 150)
        #expect(run(until: 1_000) == ["200: clients=1"])
        report(1, at: 2_000)
        #expect(board.deadline == .distantFuture && board.counters.unchanged == 2)
    }

    @Test("a change that is taken back in the window leaves no trace")
    mutating func takenBack() {
        report(1, at: 0)
        #expect(run(until: 200) == ["200: clients=1"])
        report(2, at: 1_000)
        report(1, at: 1_100)
        #expect(run(until: 9_000).isEmpty)
        report(2, at: 10_000)
        report(1, at: 10_050)
        report(3, at: 10_100)
        #expect(run(until: 20_000) == ["10300: clients=3"])
    }

    @Test("a session that comes back within the hold never showed as lost", arguments: [0, 1, 1_500, 2_999, 3_000, 3_199])
    mutating func flicker(gap: Int) {
        board.report(StatusBoardTests.session, .session(.online), now: .zero)
        #expect(run(until: 200) == ["200: online"])
        board.sessionLost(StatusBoardTests.router, now: StatusBoardTests.at(1_000))
        board.report(StatusBoardTests.session, .session(.online), now: StatusBoardTests.at(1_000 + gap))
        #expect(run(until: 60_000).isEmpty)
        #expect(board.counters.flickers == (gap < 3_000 ? 1 : 0))
    }

    @Test("one that stays away shows 3 s and a window later; what it says then is told")
    mutating func lost() {
        board.report(StatusBoardTests.session, .session(.online), now: .zero)
        _ = run(until: 200)
        board.sessionLost(StatusBoardTests.router, now: StatusBoardTests.at(1_000))
        board.sessionLost(StatusBoardTests.router, now: StatusBoardTests.at(2_000))
        #expect(run(until: 4_199).isEmpty)
        #expect(run(until: 4_200) == ["4200: offline"])
        board.sessionLost(StatusBoardTests.router, now: StatusBoardTests.at(5_000))
        #expect(board.deadline == .distantFuture)
        board.report(StatusBoardTests.session, .session(.online), now: StatusBoardTests.at(6_000))
        #expect(run(until: 9_000) == ["6200: online"])
    }

    @Test("an app in the background is no loss: suspended shows without hold, and a late clock loses no step")
    mutating func suspended() {
        board.sessionLost(StatusBoardTests.router, now: .zero)
        board.report(StatusBoardTests.session, .session(.suspended), now: .zero)
        #expect(run(until: 9_000) == ["200: suspended"])
        board.sessionLost(StatusBoardTests.router, now: StatusBoardTests.at(10_000))
        report(7, at: 10_000)
        board.advance(to: StatusBoardTests.at(99_000))
        #expect(board.takeBatches().map(StatusBoardTests.text) == ["clients=7", "offline"])
    }

    @Test("a forgotten router says nothing more, and its place is used again")
    mutating func forget() {
        report(1, at: 0)
        board.sessionLost(StatusBoardTests.router, now: .zero)
        board.forget(StatusBoardTests.router)
        #expect(run(until: 60_000).isEmpty)
        report(1, at: 61_000)
        #expect(run(until: 70_000) == ["61200: clients=1"])
    }

    @Test("there's room for so many things and no more")
    mutating func bounded() {
        for number in 0...StatusBoard.capacity { report(1, "p\(number)", at: 0) }
        #expect(board.counters.refused == 1)
        board.advance(to: StatusBoardTests.at(200))
        #expect(board.takeBatches().first?.items.count == StatusBoard.capacity)
    }

    @Test("100,000 reports a second from 100 routers: at most 5 batches a second, the right last values")
    mutating func flood() {
        var random = SeededGenerator(seed: 7)
        let properties = (0..<10).map { "p\($0)" }
        var truth: [StatusKey: JSONValue] = [:]
        var seen: [StatusKey: JSONValue] = [:]
        var perSecond: [Int] = []
        var mailbox = StatusMailbox(StatusFilter(.properties, names: Set(properties)))
        for second in 0..<3 {
            var batches = 0
            for number in 0..<100_000 {
                let router = StatusBoardTests.router.advanced(by: Int.random(in: 0..<100, using: &random))
                let key = StatusKey(router, .property(properties[Int.random(in: 0..<10, using: &random)]))
                let value = JSONValue.integer(Int64.random(in: 0..<50, using: &random))
                truth[key] = value
                // Bursts of a quarter of a second with pauses between: the worst for the number of batches.
                let time = Instant.zero + .seconds(second) + .microseconds(number / 25_000 * 250_000 + number % 25_000)
                board.report(key, .property(value), now: time)
                for batch in board.takeBatches() {
                    batches += 1
                    mailbox.merge(batch.items)
                }
            }
            perSecond.append(batches)
        }
        board.advance(to: .zero + .seconds(10))
        for batch in board.takeBatches() { mailbox.merge(batch.items) }
        // A subscriber who was asleep all the time gets one batch, with the newest state.
        let batch = mailbox.take()
        for item in batch?.items ?? [] { if case .property(let value) = item.value { seen[item.key] = value } }
        #expect(perSecond.allSatisfy { $0 <= 5 } && perSecond.reduce(0, +) > 3)
        #expect(seen == truth && mailbox.take() == nil)
    }
}

@Suite("A status subscriber's mailbox")
struct StatusMailboxTests {
    static let router = StatusBoardTests.router

    static func item(_ name: String, _ value: JSONValue) -> StatusItem {
        StatusItem(StatusKey(router, .property(name)), .property(value))
    }

    @Test("only what was asked for")
    func filter() {
        let other = StatusMailboxTests.router.advanced(by: 1)
        let filter = StatusFilter([.properties, .current], names: ["led"], routers: [StatusMailboxTests.router])
        #expect(filter.wants(StatusKey(StatusMailboxTests.router, .property("led"))))
        #expect(filter.wants(StatusKey(StatusMailboxTests.router, .current)))
        #expect(!filter.wants(StatusKey(StatusMailboxTests.router, .property("clients"))))
        #expect(!filter.wants(StatusKey(StatusMailboxTests.router, .session)))
        #expect(!filter.wants(StatusKey(other, .property("led"))))
        #expect(!StatusFilter(.properties).wants(StatusKey(StatusMailboxTests.router, .property("led"))))
        #expect(!StatusFilter([]).wants(StatusKey(StatusMailboxTests.router, .session)))
    }

    @Test("a slow reader gets the newest of each, in the order of the first changes, and nothing that it has seen")
    func newest() {
        var mailbox = StatusMailbox(StatusFilter(.properties, names: ["a", "b"]))
        mailbox.merge([StatusMailboxTests.item("a", 1)])
        mailbox.merge([StatusMailboxTests.item("b", 1), StatusMailboxTests.item("a", 2)])
        #expect(mailbox.take()?.items == [StatusMailboxTests.item("a", 2), StatusMailboxTests.item("b", 1)])
        #expect(mailbox.take() == nil)
        mailbox.merge([StatusMailboxTests.item("a", 3)])
        // Back to what the reader saw last: nothing has changed for it.
        let waits = mailbox.merge([StatusMailboxTests.item("a", 2)])
        #expect(!waits)
        #expect(mailbox.take() == nil)
    }

    @Test("a reader who never reads costs one value a key, whatever comes and goes")
    func bounded() {
        var mailbox = StatusMailbox(StatusFilter(.properties, names: ["a", "b"]))
        mailbox.merge([StatusMailboxTests.item("a", 0), StatusMailboxTests.item("b", 0)])
        _ = mailbox.take()
        for number in 0..<100_000 {
            mailbox.merge([StatusMailboxTests.item("a", .integer(Int64(number % 2)))])
            mailbox.merge([StatusMailboxTests.item("b", .integer(Int64(number)))])
        }
        #expect(mailbox.count == 2 && mailbox.take()?.items.count == 2)
    }
}
