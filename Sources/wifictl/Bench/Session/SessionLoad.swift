import Glibc
import SocketCore

/// What keeping messages under way for a while came to.
struct LoadResult: Sendable {
    /// More than any sample of a second has.
    static let largestLatencyCount = 1 << 16

    /// Messages sent and receipted.
    var messages: UInt64 = 0
    /// From the sending of each message to its receipt, in nanoseconds; of the first ones, if there are very many.
    var latencies: [UInt64] = []
}

/// Somebody who sends messages and counts receipts.
protocol SessionLoad: Sendable {
    /// Keeps `window` messages under way, then waits for the last receipts.
    func run(window: Int, nanoseconds: UInt64) async throws -> LoadResult
    func close() async
}

/// A client in C on its own thread.
actor ReferenceLoad: SessionLoad {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var client: SessionReference.Client?

    init(on thread: LoopThread) { loop = thread.loop }

    func connect(_ reference: SessionReference, to port: UInt16, hello: String) throws {
        client = try reference.connect(to: port, hello: hello)
    }

    func run(window: Int, nanoseconds: UInt64) throws -> LoadResult {
        guard let client else { throw SessionBench.Failure(description: "the client in C isn't connected") }
        return try client.run(window: window, nanoseconds: nanoseconds)
    }

    func close() { client = nil }
}

/// A controller's session as an application uses it.
actor ControllerLoad: SessionLoad {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let session: Session
    /// When each message was sent, by its ticket's number.
    private var sentAt = [UInt64](repeating: 0, count: 1_024)

    init(to endpoint: Endpoint, window: Int, on thread: LoopThread) {
        loop = thread.loop
        var configuration = SessionConfiguration(role: .controller)
        configuration.window = window
        session = Session(to: endpoint, configuration, loop: thread.loop)
    }

    func connect() async throws {
        await session.start()
        for await batch in session.events {
            for case .state(let state) in batch {
                if case .open = state { return }
                if case .lost(let reason) = state { throw SessionBench.Failure(description: "the session didn't open: \(reason)") }
            }
        }
    }

    /// As a task that prefers the loop: others go on in the global pool after each wait, and hop back.
    func run(window: Int, nanoseconds: UInt64) async throws -> LoadResult {
        try await Task(executorPreference: loop) { try await self.drive(window, nanoseconds) }.value
    }

    private func drive(_ window: Int, _ nanoseconds: UInt64) async throws -> LoadResult {
        var result = LoadResult()
        result.latencies.reserveCapacity(LoadResult.largestLatencyCount)
        var clock = CPUClock.read(CLOCK_MONOTONIC)
        let end = clock + nanoseconds
        var underWay = 0
        for _ in 0..<window { try send(clock, &underWay) }
        for await batch in session.events {
            clock = CPUClock.read(CLOCK_MONOTONIC)
            for event in batch {
                guard case .outcome(let outcome) = event else { continue }
                guard outcome.result == .delivered else {
                    throw SessionBench.Failure(description: "a message ended as \(outcome.result)")
                }
                result.messages += 1
                underWay -= 1
                if result.latencies.count < LoadResult.largestLatencyCount {
                    result.latencies.append(clock - sentAt[Int(truncatingIfNeeded: outcome.ticket.number) % sentAt.count])
                }
                if clock < end { try send(clock, &underWay) }
            }
            if underWay == 0 { break }
        }
        guard underWay == 0 else { throw SessionBench.Failure(description: "the session ended under way") }
        return result
    }

    private func send(_ clock: UInt64, _ underWay: inout Int) throws {
        let ticket = try session.assumeIsolated { try $0.offer(SessionBench.body) }
        sentAt[Int(truncatingIfNeeded: ticket.number) % sentAt.count] = clock
        underWay += 1
    }

    func close() async { await session.close() }
}
