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

/// A controller's session as an application uses it that lives on the session's loop: it's called with what has happened, and answers
/// within the call.
actor ControllerLoad: SessionLoad, SessionAttendant {
    /// More than any window; a power of two, so that a place is found without dividing.
    private static let places = 1_024

    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let session: Session
    /// When each message was sent, by its ticket's number.
    private var sentAt = [UInt64](repeating: 0, count: ControllerLoad.places)
    private var result = LoadResult()
    private var underWay = 0
    private var clock: UInt64 = 0
    private var end: UInt64 = 0
    private var isOpen = false
    private var failure: SessionBench.Failure?
    /// Who waits for the opening, or for the last receipt.
    private var waiter: CheckedContinuation<Void, Never>?

    init(to endpoint: Endpoint, window: Int, on thread: LoopThread) {
        loop = thread.loop
        var configuration = SessionConfiguration(role: .controller)
        configuration.window = window
        session = Session(to: endpoint, configuration, loop: thread.loop)
    }

    func connect() async throws {
        await session.attend(by: self)
        await session.start()
        if !isOpen, failure == nil { await withCheckedContinuation { waiter = $0 } }
        if let failure { throw failure }
    }

    func run(window: Int, nanoseconds: UInt64) async throws -> LoadResult {
        result = LoadResult()
        result.latencies.reserveCapacity(LoadResult.largestLatencyCount)
        clock = CPUClock.read(CLOCK_MONOTONIC)
        end = clock + nanoseconds
        try send(window)
        await withCheckedContinuation { waiter = $0 }
        if let failure { throw failure }
        return result
    }

    func close() async { await session.close() }

    // MARK: What happened

    nonisolated func session(_ session: Session, happened events: [SessionEvent]) {
        assumeIsolated { load in
            let wanted = load.heard(events)
            guard wanted > 0 else { return }
            do { try load.send(wanted) } catch {
                load.stop(SessionBench.Failure(description: "a message wasn't accepted: \(error)"))
            }
        }
    }

    nonisolated func sessionEnded(_ session: Session) {
        assumeIsolated { $0.stop(SessionBench.Failure(description: "the session ended under way")) }
    }

    /// - Returns: how many messages are to be sent now.
    private func heard(_ events: [SessionEvent]) -> Int {
        clock = CPUClock.read(CLOCK_MONOTONIC)
        let before = result.messages
        for case .state(let state) in events {
            if case .open = state {
                isOpen = true
                wake()
            } else if case .lost(let reason) = state, !isOpen {
                stop(SessionBench.Failure(description: "the session didn't open: \(reason)"))
            }
        }
        if let other = ControllerLoad.settle(events, sentAt, clock, &result) {
            stop(SessionBench.Failure(description: "a message ended as \(other)"))
        }
        let settled = Int(result.messages - before)
        underWay -= settled
        if settled > 0, underWay == 0, clock >= end { wake() }
        return clock < end ? settled : 0
    }

    /// The actor's state is borrowed once a batch here, and not once a message.
    ///
    /// - Returns: how a message ended that wasn't delivered.
    private static func settle(
        _ events: [SessionEvent], _ sentAt: [UInt64], _ clock: UInt64, _ result: inout LoadResult
    ) -> MessageResult? {
        for case .outcome(let outcome) in events {
            guard outcome.result == .delivered else { return outcome.result }
            result.messages += 1
            if result.latencies.count < LoadResult.largestLatencyCount {
                result.latencies.append(clock - sentAt[Int(truncatingIfNeeded: outcome.ticket.number) & (ControllerLoad.places - 1)])
            }
        }
        return nil
    }

    private func send(_ count: Int) throws { noteSent(try session.assumeIsolated { try ControllerLoad.offer(count, on: $0) }, count) }

    /// - Returns: the first one's ticket; the others' follow it.
    private static func offer(_ count: Int, on session: isolated Session) throws -> SessionTicket {
        let first = try session.offer(SessionBench.body)
        for _ in 1..<max(1, count) { try session.offer(SessionBench.body) }
        return first
    }

    private func noteSent(_ first: SessionTicket, _ count: Int) {
        underWay += count
        // In a row, like the tickets.
        for number in Int(truncatingIfNeeded: first.number)..<Int(truncatingIfNeeded: first.number) + count {
            sentAt[number & (ControllerLoad.places - 1)] = clock
        }
    }

    private func stop(_ failure: SessionBench.Failure) {
        self.failure = failure
        wake()
    }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }
}
