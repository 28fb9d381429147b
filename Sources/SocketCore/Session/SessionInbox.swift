/// Events on their way to the application: what has come and wasn't asked for yet, or who asks and got nothing yet.
struct SessionInbox {
    /// News that isn't messages, kept for an application that doesn't ask. Messages are bounded by the core, which stops
    /// reading; outcomes by what an application sends without ever looking; the oldest of both go first.
    static let largestNews = 4_096

    private var events: [SessionEvent] = []
    private var news = 0
    private var waiter: CheckedContinuation<[SessionEvent]?, Never>?
    /// Counts those who waited, so that one's end doesn't end another's wait.
    private var lastWaiter = 0
    private(set) var isEnded = false
    /// News dropped because nobody asked for it.
    private(set) var dropped: UInt64 = 0

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: SessionEvent) {
        if case .message = event {} else { news += 1 }
        events.append(event)
        if news > SessionInbox.largestNews { dropOldestNews() }
    }

    /// A batch with so many news in it.
    mutating func append(_ batch: [SessionEvent], news count: Int) {
        if events.isEmpty { events = batch } else { events += batch }
        news += count
        if news > SessionInbox.largestNews { dropOldestNews() }
    }

    /// Drops the messages that want a receipt.
    mutating func dropReceiptable() {
        events.removeAll { if case .message(let message) = $0 { message.msgId != 0 } else { false } }
    }

    private mutating func dropOldestNews() {
        // Half at a time, so that dropping costs no more than appending.
        var left = news / 2
        dropped += UInt64(left)
        events.removeAll { event in
            if case .message = event { return false }
            left -= 1
            return left >= 0
        }
        news = events.count { if case .message = $0 { false } else { true } }
    }

    /// Whether there's a message in it.
    var hasMessages: Bool { news < events.count }

    /// All that has come, once.
    mutating func take() -> [SessionEvent] {
        defer {
            events = []
            news = 0
        }
        return events
    }

    /// The number of whoever waits next.
    mutating func nextWaiter() -> Int {
        lastWaiter += 1
        return lastWaiter
    }

    mutating func wait(_ continuation: CheckedContinuation<[SessionEvent]?, Never>) { waiter = continuation }

    /// Whoever waits; with a number only if it's that one.
    mutating func takeWaiter(_ number: Int? = nil) -> CheckedContinuation<[SessionEvent]?, Never>? {
        guard number == nil || number == lastWaiter else { return nil }
        defer { waiter = nil }
        return waiter
    }

    /// Nothing more will come.
    mutating func end() { isEnded = true }
}

/// A session's events in batches: one element for all that a read brought. For one reader at a time.
///
/// A message counts as taken by the application, and is receipted, when the batch that holds it is given out. Whoever
/// reads slowly slows the peer: nothing is dropped but old news (states, outcomes) that nobody asks for.
public struct SessionEvents: AsyncSequence, Sendable {
    let session: Session

    /// Reads batches until the session is over, or the task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        let session: Session

        /// The next batch, never empty; nil when the session is over.
        public mutating func next() async -> [SessionEvent]? { await session.nextEvents() }

        /// The next batch, never empty; nil when the session is over.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Never) -> [SessionEvent]? {
            await session.nextEvents()
        }
    }

    /// An iterator; two at a time would share the batches between them.
    public func makeAsyncIterator() -> Iterator { Iterator(session: session) }
}

extension Session {
    /// See ``SessionEvents``.
    public nonisolated var events: SessionEvents { SessionEvents(session: self) }

    /// The next batch of events; see ``SessionEvents``.
    public func nextEvents() async -> [SessionEvent]? {
        if !inbox.isEmpty { return handOver() }
        if inbox.isEnded || Task.isCancelled { return nil }
        // A second reader takes the first one's place, which ends.
        inbox.takeWaiter()?.resume(returning: nil)
        let number = inbox.nextWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { inbox.wait($0) }
        } onCancel: {
            Task(executorPreference: loop) { await self.endWait(number) }
        }
    }

    private func endWait(_ number: Int) { inbox.takeWaiter(number)?.resume(returning: nil) }

    /// The batch goes to the application: its messages are taken.
    private func handOver() -> [SessionEvent] {
        let hasMessages = inbox.hasMessages
        let batch = inbox.take()
        guard hasMessages else { return batch }
        for event in batch.reversed() {
            guard case .message(let message) = event else { continue }
            core.handedOver(through: message.sequence, now: loop.now)
            flushLater()
            break
        }
        return batch
    }

    /// Sorts what the core has to say: to those who wait for it, else to the events.
    func deliver() {
        let batch = core.takeBatch()
        guard !batch.events.isEmpty || !inbox.isEmpty else { return }
        if batch.isMessagesOnly {
            if let attendant, inbox.isEmpty { return handOver(batch, to: attendant) }
            inbox.append(batch.whole, news: 0)
        } else if outcomeWaiters.isEmpty, let news = batch.newsCount {
            inbox.append(batch.whole, news: news)
        } else {
            for event in batch.whole { sort(event) }
        }
        if core.pendingMessages == 0, !settleWaiters.isEmpty {
            for waiter in settleWaiters { waiter.resume() }
            settleWaiters = []
        }
        wakeReader()
    }

    private func handOver(_ batch: SessionBatch, to attendant: any SessionAttendant) {
        guard case .message(let last) = batch.events.last else { return }
        core.handedOver(through: last.sequence, now: loop.now)
        flushLater()
        attendant.session(self, received: SessionMessages(batch))
    }

    private func sort(_ event: SessionEvent) {
        switch event {
        case .outcome(let outcome):
            if let waiter = outcomeWaiters.removeValue(forKey: outcome.ticket) {
                waiter.resume(returning: outcome)
            } else {
                inbox.append(event)
            }
        case .writable:
            let waiters = roomWaiters
            roomWaiters = []
            for waiter in waiters { waiter.resume() }
        case .state, .message, .journal: inbox.append(event)
        }
    }

    /// News of this session itself, which is told even while the core's must wait.
    func tell(_ event: SessionEvent) {
        inbox.append(event)
        wakeReader()
    }

    private func wakeReader() {
        guard !inbox.isEmpty else { return }
        if let attendant {
            attendant.session(self, happened: handOver())
        } else if let waiter = inbox.takeWaiter() {
            waiter.resume(returning: handOver())
        }
    }
}
