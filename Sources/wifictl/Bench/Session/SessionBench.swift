import Glibc
import SocketCore

extension Benchmark {
    static let session = Benchmark(
        name: "session", summary: "messages and receipts over loopback beside bare epoll in C; idle sessions' memory and heartbeats"
    ) {
        try await SessionBench(run: $0).measure()
    }
}

/// The figures of `wifictl bench session`.
///
/// Client and server are threads that share one core: then each write is read whole by the other side, as on a busy machine, and the
/// figures don't depend on which of two idle cores happens to sleep. What a side costs is its thread's CPU time.
struct SessionBench {
    /// Something that should work on every machine didn't.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// 16 bytes make a frame of 26.
    static let body = Array("message for you\0".utf8)
    static let windows = [1, 64]
    /// Some hundred round trips at the least, short enough that a busy machine hits all pairs alike.
    private static let sampleNanoseconds: UInt64 = 20_000_000

    let run: Benchmark.Run

    func measure() async throws {
        try await IdleSessionBench(run: run).measure()
        try await measureSpeed()
    }

    func measureSpeed() async throws {
        var reference: SessionReference?
        do throws(CLibrary.Absence) { reference = try SessionReference() } catch {
            run.remark("no figures of the reference in C: \(error)")
        }
        let threads = try await SessionThreads()
        for window in SessionBench.windows {
            let pairs = try await SessionPairs(window: window, reference: reference, on: threads)
            let series = try await sample(pairs, window: window, threads)
            try report(series, window: window)
            await pairs.close()
        }
        threads.stop()
    }

    /// All pairs in turns, until the time is over.
    private func sample(
        _ pairs: SessionPairs, window: Int, _ threads: SessionThreads
    ) async throws -> [SessionPairs.Kind: SessionSeries] {
        var series: [SessionPairs.Kind: SessionSeries] = [:]
        for (_, load) in pairs.loads { _ = try await load.run(window: window, nanoseconds: SessionBench.sampleNanoseconds) }
        let start = CPUClock.read(CLOCK_MONOTONIC)
        var rounds = 0
        while rounds < Sampling.fewestSamples || CPUClock.read(CLOCK_MONOTONIC) - start < run.nanosecondsPerFigure {
            try Task.checkCancellation()
            for (kind, load) in pairs.loads {
                let client = threads.clocks.client
                let server = kind.serverIsReference ? threads.clocks.referenceServer : threads.clocks.server
                let before = (server: server.nanoseconds, client: client.nanoseconds, time: CPUClock.read(CLOCK_MONOTONIC))
                let result = try await load.run(window: window, nanoseconds: SessionBench.sampleNanoseconds)
                series[kind, default: SessionSeries()].add(
                    result, serverCPU: server.nanoseconds - before.server, clientCPU: client.nanoseconds - before.client,
                    elapsed: CPUClock.read(CLOCK_MONOTONIC) - before.time)
            }
            rounds += 1
        }
        return series
    }

    private func report(_ series: [SessionPairs.Kind: SessionSeries], window: Int) throws {
        let bare = series[.reference]
        if let bare {
            try figure("sessionReference", window, "rate", bare.rate, "messages/s")
            try figure("sessionReference", window, "p50", bare.median, "us")
            try figure("sessionReference", window, "p99", bare.late, "us")
            try figure("sessionReference", window, "server CPU", bare.server, "ns/message")
            try figure("sessionReference", window, "client CPU", bare.client, "ns/message")
        }
        if let both = series[.sessions] {
            try figure("session", window, "rate", both.rate, "messages/s", ratio: bare.map { $0.rate.median / both.rate.median })
            try figure("session", window, "p50", both.median, "us", ratio: bare.map { both.median.median / $0.median.median })
            try figure("session", window, "p99", both.late, "us", ratio: bare.map { both.late.median / $0.late.median })
            try figure("session", window, "server CPU", both.server, "ns/message")
            try figure("session", window, "client CPU", both.client, "ns/message")
        }
        // A side is compared where the other side is the same.
        if let bare, let router = series[.routerOnly] {
            try figure(
                "session", window, "server CPU, client in C", router.server, "ns/message",
                ratio: router.server.median / bare.server.median)
        }
        if let bare, let controller = series[.controllerOnly] {
            try figure(
                "session", window, "client CPU, server in C", controller.client, "ns/message",
                ratio: controller.client.median / bare.client.median)
        }
    }

    private func figure(
        _ name: String, _ window: Int, _ what: String, _ series: Sampling.Series, _ unit: String, ratio: Double? = nil
    ) throws {
        try run.report(
            Benchmark.Figure(
                name: name, parameters: [.init("inFlight", .whole(window)), .init("figure", .string(what))], value: series.median,
                unit: unit, samples: series.samples, ratio: ratio))
    }
}

/// What was measured of one pair, a sample each.
struct SessionSeries {
    var rate = Sampling.Series()
    /// The samples' medians and 99th percentiles.
    var median = Sampling.Series()
    var late = Sampling.Series()
    var server = Sampling.Series()
    var client = Sampling.Series()

    mutating func add(_ result: LoadResult, serverCPU: UInt64, clientCPU: UInt64, elapsed: UInt64) {
        let messages = Double(result.messages)
        rate.samples.append(messages * 1e9 / Double(elapsed))
        server.samples.append(Double(serverCPU) / messages)
        client.samples.append(Double(clientCPU) / messages)
        let sorted = result.latencies.sorted()
        median.samples.append(Double(sorted[sorted.count / 2]) / 1_000)
        late.samples.append(Double(sorted[sorted.count * 99 / 100]) / 1_000)
    }
}
