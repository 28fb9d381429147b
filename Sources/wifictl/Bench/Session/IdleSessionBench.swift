import FrameCodec
import Glibc
import SocketCore

/// What sessions cost that stand and say nothing: memory, and the CPU time of their heartbeats.
struct IdleSessionBench {
    /// As many as one listener must carry (protocol.md names no number; the project's goal is this).
    static let mostSessions = 10_000
    /// Heartbeats are measured with this much between them and reckoned up to ``protocolHeartbeat``, so that it takes seconds.
    private static let measuredHeartbeat = Duration.seconds(1)
    private static let protocolHeartbeat = SessionTiming().heartbeat
    /// Descriptors for everything else.
    private static let otherDescriptors = 64

    let run: Benchmark.Run

    func measure() async throws {
        let limit = SystemCalls.raiseDescriptorLimit(to: 2 * run.idleSessions + IdleSessionBench.otherDescriptors)
        let count = min(run.idleSessions, max(1, (limit - IdleSessionBench.otherDescriptors) / 2))
        if count < run.idleSessions {
            run.remark("only \(count) idle sessions: this process may hold \(limit) descriptors (see ulimit -Hn)")
        }
        let threads = try (client: LoopThread("bench-idle-peers"), server: LoopThread("bench-idle"))
        let clock = try await threads.server.cpuClock()
        let server = RouterServer(on: threads.server)
        var configuration = SessionConfiguration(role: .router)
        configuration.timing.heartbeat = IdleSessionBench.measuredHeartbeat
        configuration.identity = RouterIdentity(boot: "00000000000000b0", mac: "02:00:5e:00:53:01", name: "Bench", model: "Bench")
        let endpoint = try await server.open(configuration)
        let peers = IdlePeers(count: count + 1, on: threads.client)
        // The first session makes what all share.
        try await peers.connect(1, to: endpoint)
        let before = (try ProcessMemory.residentBytes(), SystemCalls.allocatedByteCount())
        try await peers.connect(count, to: endpoint)
        let after = (try ProcessMemory.residentBytes(), SystemCalls.allocatedByteCount())
        try figure(count, "memory", Double(after.0 - before.0) / Double(count), "bytes/session")
        try figure(count, "allocated", Double(after.1 - before.1) / Double(count), "bytes/session")
        try await measureHeartbeats(count, peers, server, clock)
        await peers.close()
        await server.close()
        for thread in [threads.client, threads.server] { thread.loop.stop() }
    }

    private func measureHeartbeats(_ count: Int, _ peers: IdlePeers, _ server: RouterServer, _ clock: CPUClock) async throws {
        var samples: [Double] = []
        for _ in 0..<Sampling.fewestSamples {
            let (cpu, sent) = (clock.nanoseconds, await server.heartbeatsSent())
            try await peers.sendHeartbeats(within: IdleSessionBench.measuredHeartbeat)
            let beats = await server.heartbeatsSent() - sent
            guard beats > 0 else { throw SessionBench.Failure(description: "idle sessions sent no heartbeat") }
            // One sent and one received.
            let perBeat = Double(clock.nanoseconds - cpu) / Double(beats)
            samples.append(perBeat * Double(count) / Double(IdleSessionBench.protocolHeartbeat.components.seconds) / 1_000_000)
        }
        try figure(count, "heartbeats", Sampling.Series(samples: samples).median, "ms CPU/s", samples)
    }

    private func figure(_ count: Int, _ what: String, _ value: Double, _ unit: String, _ samples: [Double]? = nil) throws {
        try run.report(
            Benchmark.Figure(
                name: "session", parameters: [.init("idle", .whole(count)), .init("figure", .string(what))], value: value, unit: unit,
                samples: samples ?? [value]))
    }
}

/// Controllers that have said hello and then say nothing but heartbeats. They hold next to no memory of their own.
actor IdlePeers {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private static let patience = Duration.seconds(30)
    private static let heartbeat: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    private let streams: UnsafeMutableBufferPointer<BlockingStream>
    private var count = 0

    init(count: Int, on thread: LoopThread) {
        loop = thread.loop
        streams = .allocate(capacity: count)
        // So that its pages are there before anything is measured.
        UnsafeMutableRawBufferPointer(start: streams.baseAddress, count: count * MemoryLayout<BlockingStream>.stride).initializeMemory(
            as: UInt8.self, repeating: 0)
    }

    func connect(_ more: Int, to endpoint: Endpoint) throws {
        for _ in 0..<more {
            try Task.checkCancellation()
            let hello = ControllerHello(session: .random(), versions: [1], received: 0, resume: false, client: "bench")
            let frame = try FrameEncoder().encode(Frame(msgId: 0, version: 1, body: hello.encoded()))
            let stream = try BlockingStream.connect(to: endpoint, within: IdlePeers.patience)
            try stream.write(frame, within: IdlePeers.patience)
            guard case .bytes = try stream.read(within: IdlePeers.patience) else {
                throw SessionBench.Failure(description: "session \(count + 1) got no hello")
            }
            streams.initializeElement(at: count, to: stream)
            count += 1
        }
    }

    /// One of each peer, spread over `span`.
    func sendHeartbeats(within span: Duration) throws {
        let start = CPUClock.read(CLOCK_MONOTONIC)
        let nanoseconds = UInt64(max(0, span.inNanoseconds))
        for index in 0..<count {
            try Task.checkCancellation()
            try streams[index].write(IdlePeers.heartbeat, within: IdlePeers.patience)
            let due = start + nanoseconds * UInt64(index + 1) / UInt64(count)
            let now = CPUClock.read(CLOCK_MONOTONIC)
            if due > now + 1_000_000 { SystemCalls.sleep(.nanoseconds(Int64(due - now))) }
        }
    }

    func close() {
        UnsafeMutableBufferPointer(start: streams.baseAddress, count: count).deinitialize()
        streams.deallocate()
        count = 0
    }
}
