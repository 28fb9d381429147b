import SocketCore

/// A session with one router, spoken to in commands: requests go one at a time and end in one clear result each.
///
/// It reads the session's events; whoever wants them too gives `onEvent`, or observes: see ``observe(_:)``.
public actor RouterConnection: LoopTimerOwner {
    /// The loop that it runs on.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The session underneath, for messages of one's own.
    public nonisolated let session: Session
    /// Whose session it is.
    public nonisolated let mac: MACAddress

    let setup: Setup
    private let onEvent: @Sendable (SessionEvent) -> Void
    var observers: [Int: @Sendable (SessionEvent) -> Void] = [:]
    var lastObservation = 0
    var queue: CommandQueue
    var commands: [CommandNumber: PendingCommand] = [:]
    /// Ends of messages whose acceptance hasn't been heard of yet.
    var earlyEnds: Set<SessionTicket> = []
    var postsUnderWay = 0
    /// How commands ended whose callers weren't waiting yet.
    var earlyOutcomes: [CommandNumber: CommandOutcome] = [:]
    /// Why commands couldn't be encoded, until their callers hear of it.
    var obstacles: [CommandNumber: CommandError] = [:]
    /// What of this router's properties is followed, and what of that it has agreed to tell.
    var following = FollowedNames()
    /// A device that doesn't tell its capabilities, in this boot.
    var withoutCapabilities: CapabilityCache.Identity?
    /// What came and was dropped at this border.
    var dropped = DroppedMessages()
    private var timer: LoopTimer?
    private var isParked = false
    /// The firmware that its last hello named.
    var firmware: String?
    private var hasBegun = false
    /// Reads the session's events to their end.
    private var reading: Task<Void, Never>?
    /// The session has lost its connection and waits before it dials again.
    private var isWaitingToDial = false
    /// The wait is cut short: what the session tells of its pause isn't news.
    var isHurrying = false
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []
    private var openWaiters: [CheckedContinuation<Result<SessionOpening, LossReason>, Never>] = []
    /// Counts the session's states that were heard of.
    private var statesTold = 0
    private var hasEnded = false
    private var endReason = LossReason.closed

    /// A connection over a session that isn't started yet.
    public init(_ session: Session, mac: MACAddress, onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }) {
        self.init(session, mac: mac, Setup(hub: StatusHub(loop: session.loop)), onEvent: onEvent)
    }

    init(_ session: Session, mac: MACAddress, _ setup: Setup, onEvent: @escaping @Sendable (SessionEvent) -> Void) {
        self.session = session
        self.mac = mac
        self.setup = setup
        queue = CommandQueue(schedule: setup.schedule)
        self.onEvent = onEvent
        loop = session.loop
    }

    /// Dials, and returns when the session stands, at once if it does. One that waits before it dials again does so now.
    ///
    /// - Throws: `LossReason` of the first failure; dialling goes on in the background until ``close(_:)``.
    @discardableResult
    public func open() async throws(LossReason) -> SessionOpening {
        if isParked {
            isParked = false
            await session.resume()
        } else if hasBegun {
            await hurry()
        } else {
            await begin()
        }
        return try await opened()
    }

    private func hurry() async {
        guard isWaitingToDial, !isHurrying else { return }
        isHurrying = true
        await session.suspend()
        await session.resume()
    }

    /// Dials, and goes on doing so in the background: see ``opened()``. Only the first call counts.
    public func begin() async {
        guard !hasBegun else { return }
        hasBegun = true
        timer = LoopTimer(on: loop, owner: self)
        reading = Task(executorPreference: loop) {
            for await batch in self.session.events { for event in batch { await self.handle(event) } }
            await self.ended()
        }
        await session.start()
    }

    /// Returns when the session stands, at once if it does.
    ///
    /// - Throws: `LossReason` of the next failure.
    @discardableResult
    public func opened() async throws(LossReason) -> SessionOpening {
        while true {
            let told = statesTold
            if await session.isOpen, let opening = await session.opening { return opening }
            if hasEnded { throw endReason }
            // What was told while the session was asked has woken nobody: look again.
            guard told == statesTold else { continue }
            return try await withCheckedContinuation { openWaiters.append($0) }.get()
        }
    }

    /// Another router is the current one: the connection is given up, commands end, messages and subscriptions stay until ``open()``.
    func park() async {
        guard !isParked, !hasEnded else { return }
        isParked = true
        queue.end(.movedAway)
        settle()
        await session.suspend()
    }

    /// The app goes to the background: the connection is given up in order and no timer runs until ``resume()``.
    ///
    /// Messages may be given to the session meanwhile, and requests wait.
    public func suspend() async {
        queue.pause(now: loop.currentInstant)
        settle()
        await session.suspend()
    }

    /// Takes back all messages without outcome.
    func takeBackMessages() async { for ticket in await session.pendingTickets { await session.cancel(ticket) } }

    /// Whether the session has ended for good.
    var isOver: Bool { hasEnded }

    /// Returns when neither a command nor a message is without outcome.
    func drained() async {
        while queue.count > 0, !hasEnded { await withCheckedContinuation { idleWaiters.append($0) } }
        await session.settled()
    }

    /// The app is back: the router is looked for where it is now, dialled once, and the session goes on.
    ///
    /// - Throws: `LossReason` of the first failure; dialling goes on in the background until ``close(_:)``.
    @discardableResult
    public func resume() async throws(LossReason) -> SessionOpening {
        queue.resume(now: loop.currentInstant)
        settle()
        await session.resume()
        return try await opened()
    }

    /// Ends the session in order. When it returns, the last of its events has been told.
    public func close(_ policy: ClosePolicy = .endSession) async {
        await session.close(policy)
        await reading?.value
    }

    // MARK: The session's news

    private func handle(_ event: SessionEvent) {
        onEvent(event)
        for observer in observers.values { observer(event) }
        tellBoard(event)
        if case .state(let state) = event {
            statesTold += 1
            noteDialling(state)
        }
        switch event {
        case .message(let message): handle(message)
        case .state(.open(let opening)):
            firmware = opening.router?.identity.firmware
            // Open, not resumed: a router that has forgotten the session has forgotten who wants to be told.
            following.forgotten()
            askToTell()
            sendWaiting()
            tellWaiters(.success(opening))
        case .state(.resumed(let opening)):
            firmware = opening.router?.identity.firmware
            askToTell()
            sendWaiting()
            tellWaiters(.success(opening))
        // Not a failure of the link: whoever waits goes on waiting for the return.
        case .state(.lost(.suspended)): break
        case .state(.lost(let reason)): tellWaiters(.failure(reason))
        case .state(.closed(let reason)):
            endReason = reason
            tellWaiters(.failure(reason))
        case .outcome(let outcome): messageEnded(outcome.ticket)
        case .state, .writable, .journal: break
        }
    }

    private func noteDialling(_ state: SessionState) {
        isWaitingToDial = false
        switch state {
        case .reconnecting: isWaitingToDial = true
        case .connecting: isHurrying = false
        default: break
        }
    }

    private func tellWaiters(_ result: Result<SessionOpening, LossReason>) {
        let waiters = openWaiters
        openWaiters = []
        for waiter in waiters { waiter.resume(returning: result) }
    }

    private func ended() {
        hasEnded = true
        queue.end()
        settle()
        tellWaiters(.failure(endReason))
        setup.hub.assumeIsolated { $0.end(mac) }
        timer?.cancel()
        timer = nil
    }

    /// Whether commands can be taken; if not, how they end.
    var refusal: CommandError? { hasEnded ? .cancelled : isParked ? .movedAway : nil }

    // MARK: The queue's work

    /// See SocketCore's `LoopTimerOwner`.
    public nonisolated func timerFired(at now: Instant) {
        assumeIsolated { connection in
            connection.queue.advance(to: now)
            connection.settle()
        }
    }

    func settle() {
        for action in queue.takeActions() {
            switch action {
            case .send(let number): Task(executorPreference: loop) { await self.attempt(number) }
            case .finish(let number, let outcome): finish(number, outcome)
            }
        }
        timer?.set(to: queue.deadline)
        guard queue.count == 0 else { return }
        for waiter in idleWaiters { waiter.resume() }
        idleWaiters = []
    }
}
