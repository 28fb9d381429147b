import SocketCore

/// A session with one router, spoken to in commands: requests go one at a time and end in one clear result each.
///
/// It takes the session's events; whoever wants them too gives `onEvent`, or observes: see ``observe(_:)``.
///
/// How the session stands it knows from these events alone, and keeps it: to ask and to wait is one step, in which nothing can happen.
public actor RouterConnection: LoopTimerOwner, SessionAttendant {
    /// The loop that it runs on.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The session underneath, for messages of one's own.
    public nonisolated let session: Session
    /// Whose session it is.
    public nonisolated let mac: MACAddress

    let setup: Setup
    private let onEvent: @Sendable (SessionSource, SessionEvent) -> Void
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
    /// Messages that nobody waits for.
    var leftovers = LeftoverMessages()
    /// What of this router's properties is followed, and what of that it has agreed to tell.
    var following = FollowedNames()
    /// A device that doesn't tell its capabilities, in this boot.
    var withoutCapabilities: CapabilityCache.Identity?
    /// What came and was dropped at this border.
    var dropped = DroppedMessages()
    private var timer: LoopTimer?
    private var isParked = false
    /// The firmware that its last hello named.
    var firmware: String? { opening?.router?.identity.firmware }
    private var hasBegun = false
    /// The session has lost its connection and waits before it dials again.
    private var isWaitingToDial = false
    /// The wait is cut short: what the session tells of its pause isn't news.
    var isHurrying = false
    private var idleWaiters: [CheckedContinuation<Void, Never>] = []
    private(set) var openWaiters: [CheckedContinuation<Result<SessionOpening, LossReason>, Never>] = []
    private var standing = Standing.away
    /// What was agreed when the session last opened, as it told.
    private(set) var opening: SessionOpening?
    /// Failures of the link that were told, and the last of them: who begins something waits for the next one behind its beginning.
    private(set) var failures = 0
    private var lastFailure = LossReason.closed

    /// How the session stands, as far as it has told.
    private enum Standing {
        /// Not begun, suspended, or on its way to stand.
        case away
        case open(SessionOpening)
        case over(LossReason)
    }

    /// A connection over a session that isn't started yet.
    public init(_ session: Session, mac: MACAddress, onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }) {
        self.init(session, mac: mac, Setup(hub: StatusHub(loop: session.loop))) { onEvent($1) }
    }

    init(_ session: Session, mac: MACAddress, _ setup: Setup, onEvent: @escaping @Sendable (SessionSource, SessionEvent) -> Void) {
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
        let failures = failures
        if isParked {
            isParked = false
            await session.resume()
        } else if hasBegun {
            await hurry()
        } else {
            await begin()
        }
        return try await opened(since: failures)
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
        noteLeftovers()
        await session.attend(by: self)
        await session.start()
    }

    /// Before the first of them can end, and without a wait, in which the session could be closed unattended: both are on one loop.
    private func noteLeftovers() { leave(session.assumeIsolated { $0.pendingTickets }) }

    /// Returns when the session stands, at once if it does.
    ///
    /// - Throws: `LossReason` of the next failure.
    @discardableResult
    public func opened() async throws(LossReason) -> SessionOpening { try await opened(since: failures) }

    /// The same, with a failure behind the first so many as the next one.
    func opened(since count: Int) async throws(LossReason) -> SessionOpening {
        switch standing {
        case .open(let opening): return opening
        case .over(let reason): throw reason
        case .away:
            guard failures == count else { throw lastFailure }
            return try await withCheckedContinuation { openWaiters.append($0) }.get()
        }
    }

    /// Another router is the current one: the connection is given up, commands end, messages and subscriptions stay until ``open()``.
    func park() async {
        guard !isParked, !isOver else { return }
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
    var isOver: Bool { if case .over = standing { true } else { false } }

    /// Whether messages can flow now, as far as the session has told.
    var isOpen: Bool { if case .open = standing { true } else { false } }

    /// Returns when neither a command nor a message is without outcome.
    func drained() async {
        while queue.count > 0, !isOver { await withCheckedContinuation { idleWaiters.append($0) } }
        await session.settled()
    }

    /// The app is back: the router is looked for where it is now, dialled once, and the session goes on.
    ///
    /// - Throws: `LossReason` of the first failure; dialling goes on in the background until ``close(_:)``.
    @discardableResult
    public func resume() async throws(LossReason) -> SessionOpening {
        let failures = failures
        queue.resume(now: loop.currentInstant)
        settle()
        await session.resume()
        return try await opened(since: failures)
    }

    /// Ends the session in order. When it returns, the last of its events has been told.
    public func close(_ policy: ClosePolicy = .endSession) async {
        if !hasBegun {
            // Nobody will ever tell of it.
            hasBegun = true
            ended()
        }
        await session.close(policy)
    }

    // MARK: The session's news

    /// See SocketCore's `SessionAttendant`.
    public nonisolated func session(_ session: Session, happened events: [SessionEvent]) {
        assumeIsolated { connection in for event in events { connection.handle(event) } }
    }

    /// See SocketCore's `SessionAttendant`.
    public nonisolated func sessionEnded(_ session: Session) { assumeIsolated { $0.ended() } }

    private func handle(_ event: SessionEvent) {
        // Before anybody else hears of it: who asks then is told what holds.
        if case .state(let state) = event { note(state) }
        onEvent(SessionSource(mac, session.identifier, opening), event)
        leftovers.hear(event)
        for observer in observers.values { observer(event) }
        tellBoard(event)
        switch event {
        case .message(let message): handle(message)
        case .state(.open):
            // Open, not resumed: a router that has forgotten the session has forgotten who wants to be told.
            following.forgotten()
            askToTell()
            sendWaiting()
        case .state(.resumed):
            askToTell()
            sendWaiting()
        case .outcome(let outcome): messageEnded(outcome.ticket)
        case .state, .writable, .journal: break
        }
    }

    private func note(_ state: SessionState) {
        isWaitingToDial = false
        switch state {
        case .open(let opening), .resumed(let opening):
            self.opening = opening
            standing = .open(opening)
            tellWaiters(.success(opening))
        case .lost(let reason):
            standing = .away
            // Not a failure of the link: whoever waits goes on waiting for the return.
            if reason != .suspended { failed(reason) }
        case .closed(let reason):
            standing = .over(reason)
            failed(reason)
        case .reconnecting: isWaitingToDial = true
        case .connecting: isHurrying = false
        case .suspended: break
        }
    }

    private func failed(_ reason: LossReason) {
        failures += 1
        lastFailure = reason
        tellWaiters(.failure(reason))
    }

    private func tellWaiters(_ result: Result<SessionOpening, LossReason>) {
        let waiters = openWaiters
        openWaiters = []
        for waiter in waiters { waiter.resume(returning: result) }
    }

    private func ended() {
        if !isOver {
            standing = .over(.closed)
            failed(.closed)
        }
        queue.end()
        settle()
        setup.hub.assumeIsolated { $0.end(mac) }
        timer?.cancel()
        timer = nil
    }

    /// Whether commands can be taken; if not, how they end.
    var refusal: CommandError? { isOver ? .cancelled : isParked ? .movedAway : nil }

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
