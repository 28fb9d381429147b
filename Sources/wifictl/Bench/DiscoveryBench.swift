import Glibc
import SocketCore
import WifiDiscovery

extension Benchmark {
    static let discovery = Benchmark(
        name: "discovery", summary: "finding routers over loopback: time to the right one and to all, CPU a reply, memory a router"
    ) {
        try await DiscoveryBench(run: $0).measure()
    }
}

/// The figures of `wifictl bench discovery`: a scan and simulated routers on one machine, each on a loop of its own.
struct DiscoveryBench {
    /// Something stood in the way of measuring.
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private static let crowds = [1, 10, 100, 1_000]
    private static let fewestSamples = 7
    private static let roundTrips = 1_000
    /// Only ever reached where something is wrong.
    private static let longestScan = Duration.seconds(60)
    /// Room for the rounds at 0, 0.25 and 0.75 s.
    private static let floodedScan = Duration.seconds(1)
    private static let floodedScans = 3

    private let run: Benchmark.Run
    /// Nil where there's no C compiler.
    private let reference: DiscoveryReference?
    private let scanning: EventLoop
    private let answering: EventLoop

    init(run: Benchmark.Run) throws {
        self.run = run
        scanning = try EventLoop(name: "bench-scan")
        answering = try EventLoop(name: "bench-routers")
        do throws(CLibrary.Absence) { reference = try DiscoveryReference() } catch {
            reference = nil
            run.remark("no figures of the reference in C: \(error)")
        }
    }

    /// The n-th router, with one radio.
    static func router(_ number: Int) -> RouterDescription {
        RouterDescription(
            mac: MACAddress(bits: 0x0200_5E00_0000 + UInt64(number)), name: "Router \(number)", vendor: "Example", model: "AX-2",
            firmware: "1.4.2", boot: HexToken(UInt64(number) + 1), radios: [.init(bssid: bssid(number), ssid: "Home", band: "5")])
    }

    private static func bssid(_ number: Int) -> MACAddress { MACAddress(bits: 0x0200_5E80_0000 + UInt64(number)) }

    func measure() async throws {
        defer {
            scanning.stop()
            answering.stop()
        }
        let roundTrip = try measureRoundTrip()
        for count in DiscoveryBench.crowds {
            try await measureTime("matched", count, roundTrip)
            try await measureTime("all", count, roundTrip)
        }
        try await measureReplies()
        try measureMemory()
    }

    // MARK: Time

    /// A probe's size there and back in C, in milliseconds: the least that finding anybody takes.
    private func measureRoundTrip() throws -> Double? {
        guard let reference else { return nil }
        let times = try reference.roundTrips(byteCount: Probe.minimumByteCount, count: DiscoveryBench.roundTrips)
        let series = Sampling.Series(samples: times.map { $0 / 1_000_000 })
        try report("roundTrip", [], series, unit: "ms")
        return series.median
    }

    /// From the start of a scan to the router that has the BSSID, or to the last of all.
    private func measureTime(_ what: String, _ count: Int, _ roundTrip: Double?) async throws {
        var series = Sampling.Series()
        let end = ContinuousClock.now + .nanoseconds(Int64(run.nanosecondsPerFigure))
        while series.samples.count < DiscoveryBench.fewestSamples || ContinuousClock.now < end {
            series.samples.append(try await time(of: count, endsAtMatch: what == "matched"))
        }
        let over = roundTrip.map { [JSONValue.Member("overRoundTripMs", .number(series.median - $0))] } ?? []
        try report(what, [.init("routers", .whole(count))], series, unit: "ms", more: over)
    }

    /// Milliseconds of one scan. The routers are new each time: others would have answered enough for this second.
    private func time(of count: Int, endsAtMatch: Bool) async throws -> Double {
        var options = RouterResponder.Options()
        options.interfaces = ["lo"]
        options.port = UInt16.random(in: 20_000..<30_000)
        options.behaviour.announces = false
        let responder = RouterResponder(options, loop: answering)
        try await responder.open()
        for number in 0..<count { await responder.add(DiscoveryBench.router(number)) }
        var looking = RouterDiscovery.Options()
        looking.interfaces = options.interfaces
        looking.port = options.port
        looking.link = .addresses([DiscoveryBench.bssid(count / 2)])
        looking.endsAtMatch = endsAtMatch
        let discovery = try RouterDiscovery(looking, loop: scanning)
        let start = ContinuousClock.now
        var (found, taken) = (0, Duration?.none)
        for try await event in discovery.events(for: DiscoveryBench.longestScan) {
            guard case .found(let router) = event else { continue }
            found += 1
            guard endsAtMatch ? router.grade <= .radio : found == count else { continue }
            taken = start.duration(to: .now)
            break
        }
        await responder.close()
        // A scan that was broken off found whom it found.
        try Task.checkCancellation()
        guard let taken else { throw Failure("\(found) of \(count) routers answered within \(DiscoveryBench.longestScan)") }
        return taken.inMilliseconds
    }

    // MARK: CPU and memory

    /// What a reply costs the scan's thread, all that the scan does besides included, beside a bare receive loop.
    private func measureReplies() async throws {
        let routers = (0..<1_000).map(DiscoveryBench.router)
        let flood = DiscoveryFlood(routers, loop: answering)
        let place = try await flood.open()
        var options = RouterDiscovery.Options()
        options.interfaces = ["lo"]
        options.link = .addresses([])
        options.targets = [place]
        let discovery = try RouterDiscovery(options, loop: scanning)
        let datagram = DiscoveryDatagram(msgId: 1, .reply(nonce: HexToken(1), routers[0])).encoded()
        var (own, bare) = (Sampling.Series(), Sampling.Series())
        for _ in 0..<DiscoveryBench.floodedScans {
            let before = await processorTime()
            let counters = try await discovery.scan(for: DiscoveryBench.floodedScan).counters
            let spent = await processorTime() - before
            try Task.checkCancellation()
            guard counters.replies > 0 else { throw Failure("no reply of a thousand came") }
            own.samples.append(Double(spent) / Double(counters.replies + counters.duplicates))
            if let reference { bare.samples.append(try reference.receive(datagram, count: 20_000)) }
        }
        await flood.close()
        let capacity = Sampling.Series(samples: own.samples.map { 1_000_000_000 / $0 })
        try report("replies", [], capacity, unit: "replies/s")
        let ratio = reference == nil ? nil : own.median / bare.median
        try report("cpu", [], own, unit: "ns/reply", ratio: ratio)
        if reference != nil { try report("cpu", [], bare, unit: "ns/reply", name: "discoveryReference") }
    }

    /// CPU time of the scan's thread, in nanoseconds.
    private func processorTime() async -> UInt64 {
        await Task(executorPreference: scanning) {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        }.value
    }

    /// What a scan's memory grows by for each router that it knows, at the most that it keeps.
    private func measureMemory() throws {
        let link = DiscoveryLink(id: .init(0), interface: 1, name: "lo", isV4: true)
        var core = DiscoveryCore(DiscoveryConfiguration(), generator: SeededGenerator(seed: CodecBench.seed))
        core.start(links: [link], now: .zero)
        guard let probe = core.takeProbes().first, case .probe(let asked) = try DiscoveryDatagram.parse(probe.bytes.span.bytes).message,
            let msgId = try? DiscoveryDatagram.parse(probe.bytes.span.bytes).msgId
        else { throw Failure("a scan sent no probe") }
        let before = try ProcessMemory.residentBytes()
        for number in 0..<DiscoveryBounds.routers {
            try Task.checkCancellation()
            let reply = DiscoveryDatagram(msgId: msgId, .reply(nonce: asked.nonce, DiscoveryBench.router(number))).encoded()
            let source = Endpoint(.v4(0x0A00_0001 + UInt32(number)), port: DiscoveryDatagram.port)
            core.received(reply.span.bytes, from: source, interface: 1, link: link.id, now: .zero)
            _ = core.takeEvents()
        }
        let known = core.routers.count
        let perRouter = Double(try ProcessMemory.residentBytes() - before) / Double(max(known, 1))
        try report(
            "memory", [.init("routers", .whole(known))], Sampling.Series(samples: [perRouter]), unit: "bytes/router")
    }

    private func report(
        _ what: String, _ parameters: [JSONValue.Member], _ series: Sampling.Series, unit: String, ratio: Double? = nil,
        name: String = "discovery", more: [JSONValue.Member] = []
    ) throws {
        try run.report(
            Benchmark.Figure(
                name: name, parameters: [.init("what", .string(what))] + parameters, value: series.median, unit: unit,
                samples: series.samples, ratio: ratio, more: more))
    }
}
