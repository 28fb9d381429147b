import FrameCodec

/// One session with a peer, over as many connections as it takes (protocol.md, sections 2 and 3).
///
/// A controller's session dials, says hello, dials again after a loss and resumes; a router's session comes from a
/// ``SessionListener`` and waits to be dialled. Messages go out with ``send(_:wantsReceipt:whenFull:)`` or
/// ``post(_:wantsReceipt:whenFull:)``; what comes in is read, in batches, from ``events``. Everything is decided by
/// ``SessionCore``; this is its thread, socket and clock.
///
/// A session lives until it is ``close(_:)``d or its peer stays away for too long: until then its loop holds it.
public actor Session {
    /// What `send` and `post` do when the outbox is full: the peer is away or slow.
    public enum FullPolicy: Sendable {
        /// Wait for room.
        case wait
        /// Throw ``SessionError/outboxFull(messages:bytes:)``.
        case fail
    }

    /// Finds where to dial, before each try but the first: a router may have moved. nil means: where it was.
    public typealias Resolver = @Sendable (_ attempt: Int) async -> Endpoint?

    /// The loop that everything of this session happens on.
    public nonisolated let loop: EventLoop
    /// Sessions run on their loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The session's name on the wire.
    public nonisolated let identifier: SessionIdentifier
    /// Whether what it accepts outlives the process, in an ``OutboxJournal``.
    public nonisolated let keepsJournal: Bool

    var core: SessionCore
    var decoder: FrameDecoder
    var journal: OutboxJournal?
    /// Why the journal can't be written now; it's tried again, and until then nothing is reported or sent.
    public internal(set) var journalFailure: OutboxJournalError?
    var journalRetry = Instant.distantFuture
    var stream: Stream?
    var streamNumber = ConnectionNumber.none
    var endpoint: Endpoint?
    let resolver: Resolver?
    let tlsConfiguration: TLSConfiguration?
    var tlsContext: TLSContext?
    /// The present connection's, or the last one's: its session is taken up again.
    var tlsEngine: TLSEngine?
    /// Why TLS last didn't come about; nil when it did.
    public internal(set) var tlsFailure: TLSError?
    /// Places at which the router was refused, or refused us, since the session last stood.
    var refusals: [Endpoint: PlaceRefusal] = [:]
    var faults: LinkFaults?
    var onEnd: (@Sendable (Session) -> Void)?

    var timer: TimerToken?
    var isFlushPending = false
    /// Frames wait in the decoder, behind one at which reading paused.
    var hasUnread = false
    /// The peer's stream is over behind them.
    var inputEndWaits = false
    /// The dial under way; its generation tells a late resolver's answer from the present one.
    var dialling = ConnectionNumber.none

    var inbox = SessionInbox()
    /// Takes the events as they come, instead of ``events``.
    var attendant: (any SessionAttendant)?
    var outcomeWaiters: [SessionTicket: CheckedContinuation<MessageOutcome, Never>] = [:]
    var roomWaiters: [CheckedContinuation<Void, Never>] = []
    /// Given whether the journal has it.
    var syncWaiters: [CheckedContinuation<Bool, Never>] = []
    var settleWaiters: [CheckedContinuation<Void, Never>] = []
    var closeWaiters: [CheckedContinuation<Void, Never>] = []
    /// The connection that the last suspension is giving up.
    var farewell: Farewell?

    /// A controller's session; ``start()`` makes it dial.
    ///
    /// - Parameters:
    ///   - endpoint: where the router listens.
    ///   - configuration: spans and bounds.
    ///   - tls: how to speak TLS; nil speaks in the clear.
    ///   - loop: where it runs.
    ///   - resolver: see ``Resolver``; by default the endpoint stays what it is.
    public init(
        to endpoint: Endpoint, _ configuration: SessionConfiguration = SessionConfiguration(role: .controller),
        tls: TLSConfiguration? = nil, loop: EventLoop = .shared, resolver: Resolver? = nil
    ) {
        self.init(configuration, nil, endpoint, tls: tls, loop: loop, resolver: resolver)
    }

    /// A controller's session whose accepted messages outlive the process; the one that the journal holds is gone on with.
    ///
    /// - Throws: ``OutboxJournalError/unfit(path:_:)``; the journal stays as it is.
    public init(
        to endpoint: Endpoint, _ configuration: SessionConfiguration = SessionConfiguration(role: .controller),
        tls: TLSConfiguration? = nil, journal: consuming OutboxJournal, loop: EventLoop = .shared, resolver: Resolver? = nil
    ) throws(OutboxJournalError) {
        if let misfit = journal.contents?.misfit(configuration) { throw .unfit(path: journal.path, misfit) }
        self.init(configuration, nil, endpoint, tls: tls, journal: journal, loop: loop, resolver: resolver)
    }

    /// A session of either role; without an identifier and a journal's, it gets a new name. The journal fits.
    init(
        _ configuration: SessionConfiguration, _ identifier: SessionIdentifier?, _ endpoint: Endpoint? = nil,
        tls: TLSConfiguration? = nil, journal: consuming OutboxJournal? = nil, loop: EventLoop, resolver: Resolver? = nil
    ) {
        tlsConfiguration = tls
        self.loop = loop
        self.endpoint = endpoint
        self.resolver = resolver
        var settings = configuration
        settings.keepsJournal = journal != nil
        settings.journalBoot = journal?.machineBoot
        var random = SystemRandomNumberGenerator()
        let (seed, now) = (random.next(), SystemCalls.monotonicNow())
        let contents = journal?.contents
        core =
            contents.flatMap { SessionCore(settings, restoring: $0, seed: seed, now: now) }
            ?? SessionCore(settings, session: identifier ?? .random(), seed: seed, now: now)
        self.identifier = core.session
        keepsJournal = settings.keepsJournal
        self.journal = journal
        decoder = Session.makeDecoder(settings)
    }

    static func makeDecoder(_ configuration: SessionConfiguration) -> FrameDecoder {
        FrameDecoder(
            layout: configuration.layout,
            limits: FrameLimits(maximumBodyLength: max(configuration.maximumBodyLength, SessionLimits.helloBytes)))
    }

    // MARK: Messages

    /// Sends a message and waits for its end.
    ///
    /// - Returns: its one outcome. For a message without receipt that is ``MessageResult/unknown`` once it was written.
    /// - Throws: ``SessionError`` when it wasn't accepted.
    public func send(_ body: [UInt8], wantsReceipt: Bool = true, whenFull: FullPolicy = .wait) async throws(SessionError) -> MessageOutcome
    {
        let ticket = try await accept(body, wantsReceipt, whenFull)
        return await withCheckedContinuation { outcomeWaiters[ticket] = $0 }
    }

    /// Sends a message; its outcome comes as an event.
    ///
    /// - Returns: its ticket, once it can no longer be lost by this side: after its journal record was synced, where there's a journal.
    /// - Throws: ``SessionError`` when it wasn't accepted; ``SessionError/closed`` also when the session ended before it could be kept.
    public func post(_ body: [UInt8], wantsReceipt: Bool = true, whenFull: FullPolicy = .wait) async throws(SessionError) -> SessionTicket {
        let ticket = try await accept(body, wantsReceipt, whenFull)
        guard core.configuration.keepsJournal, wantsReceipt else { return ticket }
        guard await withCheckedContinuation({ syncWaiters.append($0) }) else { throw .closed }
        return ticket
    }

    /// Sends a message, if there's room; its outcome comes as an event. For code on the session's loop, which needs not wait.
    ///
    /// - Returns: its ticket. It leaves at the end of the loop's tick, after its journal record was synced, where there's a journal.
    /// - Throws: ``SessionError`` when it wasn't accepted.
    @discardableResult
    public func offer(_ body: [UInt8], wantsReceipt: Bool = true) throws(SessionError) -> SessionTicket {
        let ticket = try core.send(body, wantsReceipt: wantsReceipt, now: loop.now)
        flushLater()
        return ticket
    }

    private func accept(_ body: [UInt8], _ wantsReceipt: Bool, _ whenFull: FullPolicy) async throws(SessionError) -> SessionTicket {
        while true {
            do throws(SessionError) {
                return try offer(body, wantsReceipt: wantsReceipt)
            } catch {
                guard case .outboxFull = error, whenFull == .wait else { throw error }
                await withCheckedContinuation { roomWaiters.append($0) }
            }
        }
    }

    /// Takes a message back; see ``SessionCore/cancel(_:now:)``.
    @discardableResult
    public func cancel(_ ticket: SessionTicket) -> Bool {
        defer { flushLater() }
        return core.cancel(ticket, now: loop.now)
    }

    /// Sends an unsettled message again at once; see ``SessionCore/resend(_:now:)``.
    @discardableResult
    public func resend(_ ticket: SessionTicket) -> Bool {
        defer { flushLater() }
        return core.resend(ticket, now: loop.now)
    }

    // MARK: Life

    /// Returns when no message is without outcome.
    public func settled() async {
        if core.pendingMessages > 0, !core.isClosed { await withCheckedContinuation { settleWaiters.append($0) } }
    }

    /// Controller: dials.
    public func start() {
        core.start(now: loop.now)
        flushLater()
    }

    /// Gives the connection up and stops all timers until ``resume()``: the app goes to the background.
    ///
    /// Returns when the socket is closed, after at most ``SessionTiming/farewell``: what was written has left, our half was shut
    /// and the peer was heard out. Messages may be given to a suspended session; they're journalled, and go after the return.
    public func suspend() async {
        // What the peer is still owed leaves first; the core drops what it has for a connection that is given up.
        flush(loop.now)
        core.suspend(now: loop.now)
        flush(loop.now)
        if let farewell { await withCheckedContinuation { farewell.waiters.append($0) } }
    }

    /// Looks for the peer where there's a resolver, dials at once, and goes on with the session where it was.
    public func resume() {
        core.resume(now: loop.now)
        flushLater()
    }

    /// Ends the session in order and returns when it has ended; see ``SessionCore/close(_:now:)``.
    public func close(_ policy: ClosePolicy = .endSession) async {
        beginClosing(policy)
        if !core.isClosed || isFlushPending { await withCheckedContinuation { closeWaiters.append($0) } }
    }

    func beginClosing(_ policy: ClosePolicy) {
        guard !core.isClosed else { return }
        core.close(policy, now: loop.now)
        flushLater()
    }

    /// Cuts the connection as a broken network would; the session goes on. For tests and fault injection.
    public func dropConnection() {
        guard let stream else { return }
        let number = streamNumber
        stream.close()
        self.stream = nil
        core.disconnected(number, .transport("cut on purpose"), now: loop.now)
        flushLater()
    }

    /// Ends the session as a reboot does: the connection is cut, nothing is said, nothing is kept.
    func abandon() {
        dropConnection()
        core.close(.endSession, now: loop.now)
        flush(loop.now)
    }

    func setFaults(_ options: LinkFaults.Options) {
        faults = options.isFaultless ? nil : LinkFaults(options, layout: core.configuration.layout)
    }

    // MARK: Queries

    /// Counts for reports.
    public var counters: SessionCounters { core.counters }
    /// What was agreed when the connection last opened; nil before.
    public var opening: SessionOpening? { Session.opening(of: core) }
    // In a call: read in place, a build without optimisation (Swift 6.3) copies it out of a borrowed core that is gone by then.
    private static func opening(of core: borrowing SessionCore) -> SessionOpening? { core.opening }
    /// Whether messages can flow now.
    public var isOpen: Bool { core.isOpen }
    /// Between ``suspend()`` and ``resume()``.
    public var isSuspended: Bool { core.isSuspended }
    /// Messages without outcome.
    public var pendingMessages: Int { core.pendingMessages }
    /// Messages without outcome, in their order: after a start with a journal, what an earlier run left.
    public var pendingTickets: [SessionTicket] { core.pendingTickets }
    /// Who the peer is by its certificate; nil in the clear and without a connection.
    public var peerEvidence: PeerEvidence? { stream?.peerEvidence }
    /// The other side of the present connection.
    public var peer: Endpoint? { stream?.peer ?? endpoint }
}
