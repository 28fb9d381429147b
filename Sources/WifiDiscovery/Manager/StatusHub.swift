import SocketCore
import Synchronization

/// News in batches, for one reader: `for await batch in updates`.
///
/// A reader that is slower than the news gets the newest state of everything at each turn, never a backlog. The first batch says how
/// things stand; it ends when what it is about has ended.
public struct StatusUpdates: AsyncSequence, Sendable {
    let box: StatusBox
    let signals: AsyncStream<Void>

    /// Hands out batches.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let box: StatusBox
        var signals: AsyncStream<Void>.AsyncIterator

        /// The next batch, once there is one.
        public mutating func next() async -> StatusBatch? {
            while true {
                if let batch = box.take() { return batch }
                guard await signals.next() != nil else { return box.take() }
            }
        }
    }

    /// Begins reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(box: box, signals: signals.makeAsyncIterator()) }
}

/// A subscriber's mailbox, filled on the loop and emptied wherever its reader runs.
final class StatusBox: Sendable {
    private let mailbox: Mutex<StatusMailbox>
    private let isRefused = Mutex(false)
    private let signal: AsyncStream<Void>.Continuation

    init(_ filter: StatusFilter, _ signal: AsyncStream<Void>.Continuation) {
        mailbox = Mutex(StatusMailbox(filter))
        self.signal = signal
    }

    var filter: StatusFilter { mailbox.withLock { $0.filter } }
    func merge(_ items: [StatusItem]) { if mailbox.withLock({ $0.merge(items) }) { signal.yield() } }
    func onEnd(_ body: @escaping @Sendable () -> Void) { signal.onTermination = { _ in body() } }
    func finish() { signal.finish() }
    /// There's nothing to be told, not even how things stood.
    func refuse() {
        isRefused.withLock { $0 = true }
        signal.finish()
    }
    func take() -> StatusBatch? { isRefused.withLock { $0 } ? nil : mailbox.withLock { $0.take() } }
}

/// The status board of a manager on its loop: reports in, batches to whoever asked for them.
actor StatusHub: LoopTimerOwner {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var board: StatusBoard
    private var subscribers: [ObjectIdentifier: StatusBox] = [:]
    /// Only while something is due: a timer keeps its owner.
    private var timer: LoopTimer?

    init(loop: EventLoop, timing: StatusBoard.Timing = StatusBoard.Timing()) {
        self.loop = loop
        board = StatusBoard(timing: timing)
    }

    /// Subscribes; the subscription ends with its reader.
    nonisolated func updates(_ filter: StatusFilter) -> StatusUpdates {
        let updates = StatusHub.makeUpdates(filter)
        Task(executorPreference: loop) { await self.add(updates.box) }
        return updates
    }

    /// ``updates(_:)`` for who is on the loop: what is reported after this call is told.
    func updatesNow(_ filter: StatusFilter) -> StatusUpdates {
        let updates = StatusHub.makeUpdates(filter)
        add(updates.box)
        return updates
    }

    private static func makeUpdates(_ filter: StatusFilter) -> StatusUpdates {
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        return StatusUpdates(box: StatusBox(filter, signal), signals: signals)
    }

    private func add(_ box: StatusBox) {
        let (number, loop) = (ObjectIdentifier(box), loop)
        subscribers[number] = box
        // Where the reader is gone already, this is called at once.
        box.onEnd { [weak self] in Task(executorPreference: loop) { await self?.remove(number) } }
        box.merge(board.shown(box.filter))
    }

    private func remove(_ number: ObjectIdentifier) { subscribers[number] = nil }

    /// Something has this value now. Kept whoever listens: the next listener wants to know how things stand.
    func report(_ key: StatusKey, _ value: StatusValue) {
        board.report(key, value, now: loop.currentInstant)
        settle()
    }

    /// ``report(_:_:)`` for many at once.
    func report(_ items: [StatusItem]) {
        for item in items { board.report(item.key, item.value, now: loop.currentInstant) }
        settle()
    }

    /// A session is gone, perhaps for a moment.
    func sessionLost(_ router: MACAddress) {
        board.sessionLost(router, now: loop.currentInstant)
        settle()
    }

    /// What became of reports.
    var counters: StatusBoard.Counters { board.counters }

    /// Ends the subscriptions that are about this router alone.
    func end(_ router: MACAddress) {
        flush()
        for (number, box) in subscribers where box.filter.routers == [router] {
            box.finish()
            subscribers[number] = nil
        }
    }

    /// Ends all subscriptions.
    func end() {
        flush()
        for box in subscribers.values { box.finish() }
        subscribers = [:]
        timer?.cancel()
        timer = nil
    }

    nonisolated func timerFired(at now: Instant) {
        assumeIsolated { hub in
            hub.board.advance(to: now)
            hub.settle()
        }
    }

    /// What waits for its window is told before the end.
    private func flush() {
        board.advance(to: board.deadline == .distantFuture ? loop.currentInstant : max(loop.currentInstant, board.deadline))
        settle()
    }

    private func settle() {
        for batch in board.takeBatches() {
            for box in subscribers.values { box.merge(batch.items) }
        }
        let deadline = board.deadline
        guard deadline != .distantFuture else {
            timer?.cancel()
            timer = nil
            return
        }
        let timer = timer ?? LoopTimer(on: loop, owner: self)
        self.timer = timer
        timer.set(to: deadline)
    }
}
