import Glibc
import SocketCore
import WifiDiscovery

extension Benchmark {
    static let status = Benchmark(
        name: "status", summary: "100,000 status reports a second from 100 routers to one subscriber, beside a plain dictionary"
    ) { try StatusBench(run: $0).measure() }
}

/// The figures of `wifictl bench status`: what a report costs from its value, or from its body, to a subscriber's batch.
struct StatusBench {
    /// The subscriber was told something else than what was reported, or too often.
    struct Wrong: Error, CustomStringConvertible {
        let description: String
    }

    static let unit = "ns/report"
    /// A subscriber is to hear no more often than this.
    static let mostBatches = 5
    /// After a warm-up so long that all tables have their size, memory is compared over so many further seconds; fewer in a brief run.
    private var memorySeconds: (warmUp: Int, measured: Int) { run.nanosecondsPerFigure < 100_000_000 ? (1, 2) : (5, 20) }

    let run: Benchmark.Run

    /// Measures both ways, and what the subscriber got.
    func measure() throws {
        let flood = try StatusFlood(seed: CodecBench.seed)
        for isParsed in [false, true] {
            let parameters: [JSONValue.Member] = [
                .init("routers", .whole(StatusFlood.routers)), .init("perSecond", .whole(StatusFlood.perSecond)),
                .init("from", .string(isParsed ? "body" : "value")),
            ]
            let (board, plain) = (StatusPass(flood, isParsed: isParsed), DictionaryPass(flood, isParsed: isParsed))
            let series = try Sampling.interleaved(for: run.nanosecondsPerFigure, [{ try board.run($0) }, { try plain.run($0) }])
            try board.check(against: flood)
            let (own, reference) = (series[0], series[1])
            try run.report(
                Benchmark.Figure(
                    name: "statusReference", parameters: parameters, value: reference.median, unit: StatusBench.unit,
                    samples: reference.samples))
            var figure = Benchmark.Figure(
                name: "status", parameters: parameters, value: own.median, unit: StatusBench.unit, samples: own.samples)
            figure.ratio = own.median / reference.median
            figure.more = [
                .init("cpuPercent", .number(own.median * Double(StatusFlood.perSecond) / 10_000_000)),
                .init("batchesPerSecond", .whole(board.mostBatches)), .init("memoryGrowth", .whole(try growth(flood, isParsed: isParsed))),
            ]
            try run.report(figure)
        }
    }

    /// Bytes that this process grows by while seconds of the flood go by.
    private func growth(_ flood: StatusFlood, isParsed: Bool) throws -> Int {
        let pass = StatusPass(flood, isParsed: isParsed)
        _ = try pass.run(memorySeconds.warmUp)
        let before = try residentBytes()
        _ = try pass.run(memorySeconds.measured)
        return try residentBytes() - before
    }

    /// What this process holds of the machine's memory; the second number of that file, in pages.
    private func residentBytes() throws -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { throw Wrong(description: "/proc/self/statm can't be read") }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { throw Wrong(description: "/proc/self/statm is empty") }
        let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
        return (words.dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
    }
}

/// A second of reports, in its order.
struct StatusFlood {
    static let routers = 100
    static let properties = 10
    static let perSecond = 100_000

    struct Report {
        let key: StatusKey
        let value: JSONValue
        let body: [UInt8]
        let after: Duration
    }

    /// Reports from one look at whether somebody wants to end to the next: often enough in a build without optimisation, too seldom to cost.
    private static let stretch = 4_096

    /// Throws `CancellationError` where the measurement is to end.
    static func pause(_ number: Int) throws { if number.isMultiple(of: stretch) { try Task.checkCancellation() } }

    let reports: [Report]
    let names = Set((0..<StatusFlood.properties).map { "p\($0)" })

    /// Reports at random, a quarter of a second's worth in each of four bursts: pauses between them make the most batches.
    ///
    /// - Throws: `CancellationError`.
    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let first = MACAddress(0x02, 0, 0x5E, 0, 0, 0)
        let burst = StatusFlood.perSecond / 4
        reports = try (0..<StatusFlood.perSecond).map { number in
            try StatusFlood.pause(number)
            let router = first.advanced(by: Int.random(in: 0..<StatusFlood.routers, using: &random))
            let name = "p\(Int.random(in: 0..<StatusFlood.properties, using: &random))"
            let value = JSONValue.integer(Int64.random(in: 0..<1_000, using: &random))
            return Report(
                key: StatusKey(router, .property(name)), value: value,
                body: DeviceReply.changed(mac: "\(router)", values: [.init(name, value)]).encoded(),
                after: .milliseconds(number / burst * 250) + .microseconds(number % burst))
        }
    }
}

/// Reports through the board into a subscriber's mailbox, which is emptied after each batch, in simulated time.
private final class StatusPass {
    private let flood: StatusFlood
    private let isParsed: Bool
    private var board = StatusBoard()
    private var mailbox: StatusMailbox
    private var seen: [StatusKey: StatusValue] = [:]
    private var second = 0
    private(set) var mostBatches = 0

    init(_ flood: StatusFlood, isParsed: Bool) {
        self.flood = flood
        self.isParsed = isParsed
        mailbox = StatusMailbox(StatusFilter(.properties, names: flood.names))
    }

    func run(_ seconds: Int) throws -> UInt64 {
        for _ in 0..<seconds {
            let start = Instant.zero + .seconds(second)
            second += 1
            var batches = 0
            for (number, report) in flood.reports.enumerated() {
                try StatusFlood.pause(number)
                let now = start + report.after
                if now >= board.deadline { board.advance(to: now) }
                if isParsed {
                    guard case .changed(_, let values)? = DeviceReply(report.body) else {
                        throw StatusBench.Wrong(description: "a report can't be read back")
                    }
                    for member in values {
                        board.report(StatusKey(report.key.router, .property(member.name)), .property(member.value), now: now)
                    }
                } else {
                    board.report(report.key, .property(report.value), now: now)
                }
                if board.counters.batches > handed { batches += take() }
            }
            mostBatches = max(mostBatches, batches)
            guard batches <= StatusBench.mostBatches else {
                throw StatusBench.Wrong(description: "the subscriber got \(batches) batches in a second")
            }
        }
        return UInt64(seconds * flood.reports.count)
    }

    private var handed: UInt64 = 0

    private func take() -> Int {
        handed = board.counters.batches
        var count = 0
        for batch in board.takeBatches() {
            mailbox.merge(batch.items)
            guard let told = mailbox.take() else { continue }
            for item in told.items { seen[item.key] = item.value }
            count += 1
        }
        return count
    }

    /// Throws unless the subscriber knows the last value of everything.
    func check(against flood: StatusFlood) throws {
        board.advance(to: .zero + .seconds(second + 2))
        _ = take()
        var truth: [StatusKey: StatusValue] = [:]
        for report in flood.reports { truth[report.key] = .property(report.value) }
        guard seen == truth else { throw StatusBench.Wrong(description: "the subscriber's values aren't the last ones that were reported") }
    }
}

/// The same reports into a dictionary, and nothing else.
private final class DictionaryPass {
    private let flood: StatusFlood
    private let isParsed: Bool
    private var values: [StatusKey: StatusValue] = [:]

    init(_ flood: StatusFlood, isParsed: Bool) {
        self.flood = flood
        self.isParsed = isParsed
    }

    func run(_ seconds: Int) throws -> UInt64 {
        for _ in 0..<seconds {
            for (number, report) in flood.reports.enumerated() {
                try StatusFlood.pause(number)
                if isParsed {
                    guard case .changed(_, let members)? = DeviceReply(report.body) else { continue }
                    for member in members {
                        values[StatusKey(report.key.router, .property(member.name))] = .property(member.value)
                    }
                } else {
                    values[report.key] = .property(report.value)
                }
            }
        }
        return UInt64(seconds * flood.reports.count)
    }
}
