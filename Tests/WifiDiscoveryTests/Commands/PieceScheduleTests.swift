import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("Reading a stream in pieces")
struct PieceScheduleTests {
    var now = Instant.zero

    /// A device that takes `latency` for each answer and gives at most `limit` bytes.
    mutating func read(
        _ total: Int, from offset: Int = 0, latency: Duration, limit: Int = .max, lost: Set<Int> = []
    ) throws -> (sizes: [Int], bytes: [UInt8], ended: Instant) {
        var schedule = PieceSchedule(from: offset)
        let data = (0..<total).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var sizes: [Int] = []
        var bytes: [UInt8] = []
        while true {
            switch schedule.next(now: now) {
            case .done: return (sizes, bytes, now)
            case .pause(let until): now = until
            case .ask(let offset, let count):
                sizes.append(count)
                guard !lost.contains(sizes.count) else {
                    now = now + .seconds(10)
                    try schedule.unanswered(now: now)
                    continue
                }
                now = now + latency
                let piece = StreamPiece(offset: offset, total: total, data: Array(data[offset..<min(offset + min(count, limit), total)]))
                bytes += try schedule.received(piece, now: now)
            }
        }
    }

    @Test("a fast device is asked for ever larger pieces, up to the limit, and for no byte too much")
    mutating func fast() throws {
        let (sizes, bytes, _) = try read(100_000, latency: .milliseconds(50))
        #expect(sizes == [1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 32_768, 2_720])
        #expect(bytes == (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    }

    @Test("a device that isn't fast rests as long as it worked; a slow one gets smaller pieces as well")
    mutating func slow() throws {
        let steady = try read(4_096, latency: .milliseconds(51))
        #expect(steady.sizes == [1_024, 1_024, 1_024, 1_024] && steady.ended == .zero + .milliseconds(7 * 51))
        now = .zero
        let slow = try read(2_048, latency: .milliseconds(201))
        #expect(slow.sizes == [1_024, 512, 256, 256] && slow.ended == .zero + .milliseconds(7 * 201))
        now = .zero
        // No rest is longer than half a second.
        #expect(try read(1_536, latency: .seconds(2)).ended == .zero + .seconds(4) + .milliseconds(500))
    }

    @Test("a device that gives less than it was asked for isn't asked for more than it gives")
    mutating func limited() throws {
        #expect(try read(3_000, latency: .zero, limit: 700).sizes == [1_024, 700, 700, 700, 200])
    }

    @Test("a request without answer is made again at the same place, smaller; an answer sets the count back")
    mutating func unanswered() throws {
        let (sizes, bytes, _) = try read(3_000, latency: .zero, lost: [2, 3, 5])
        #expect(sizes == [1_024, 1_976, 256, 256, 512, 256, 512, 952] && bytes.count == 3_000)
    }

    @Test("a piece that is waited for in vain for too long ends it, and it says where; another piece's wait doesn't count")
    mutating func noProgress() {
        #expect(throws: ReadError.noProgress(after: .seconds(50), offset: 1_024)) {
            _ = try read(3_000, latency: .zero, lost: [2, 3, 4, 5, 6])
        }
        let patient = try? read(3_000, latency: .zero, lost: [1, 2, 3, 4, 6, 7, 8, 9])
        #expect(patient?.bytes.count == 3_000)
    }

    @Test("it goes on where an earlier reading was, and an empty stream is whole at once")
    mutating func resumed() throws {
        let (sizes, bytes, _) = try read(3_000, from: 2_500, latency: .zero)
        #expect(sizes == [1_024] && bytes.count == 500)
        #expect(try read(0, latency: .zero).sizes == [1_024])
        var whole = PieceSchedule(from: 3_000, total: 3_000)
        #expect(whole.next(now: now) == .done(total: 3_000))
    }

    @Test("what grows is read to its first size; what shrinks, moves or ends early is an error")
    func changes() throws {
        var schedule = PieceSchedule()
        _ = schedule.next(now: .zero)
        let first = try schedule.received(StreamPiece(offset: 0, total: 1_500, data: Array(repeating: 1, count: 1_024)), now: .zero)
        #expect(first.count == 1_024)
        _ = schedule.next(now: .zero)
        var shrunk = schedule
        #expect(throws: ReadError.streamChanged(was: 1_500, is: 1_499)) {
            _ = try shrunk.received(StreamPiece(offset: 1_024, total: 1_499, data: [1]), now: .zero)
        }
        var moved = schedule
        #expect(throws: ReadError.wrongPlace(asked: 1_024, got: 1_000)) {
            _ = try moved.received(StreamPiece(offset: 1_000, total: 1_500, data: [1]), now: .zero)
        }
        var short = schedule
        #expect(throws: ReadError.incomplete(have: 1_024, total: 1_500)) {
            _ = try short.received(StreamPiece(offset: 1_024, total: 1_500, data: []), now: .zero)
        }
        let rest = try schedule.received(StreamPiece(offset: 1_024, total: 9_000, data: Array(repeating: 1, count: 2_000)), now: .zero)
        #expect(rest.count == 476 && schedule.next(now: .zero) == .done(total: 1_500))
    }
}
