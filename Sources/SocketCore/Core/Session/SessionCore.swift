import FrameCodec

/// One end of a session: decides everything, touches nothing (protocol.md, sections 2 and 3).
///
/// Both ends use it. It holds no socket and reads no clock: each input carries `now`, and after each input (or after a
/// tick's inputs) the shell does, in this order:
/// 1. ``takeJournal()``: append, and sync where asked, before anything below;
/// 2. ``takeActions()``: dial, shut, close;
/// 3. ``withOutput(_:)`` and ``wrote(_:on:now:)``: write what waits, in one write;
/// 4. ``takeEvents()``: hand the batch to the application, then ``handedOver(through:now:)``;
/// 5. ``deadline``: call ``advance(to:)`` then, at the latest.
///
/// | inputs of the connection | inputs of the application | outputs |
/// |---|---|---|
/// | `connected` `connectFailed` `accept` `receivedBytes` `receive` `wrote` `peerFinished` `disconnected` | `start` `send` `cancel` `handedOver` `setReading` `suspend` `resume` `close` | above |
///
/// All news of a connection carries its number; what is told of an earlier one changes nothing.
public struct SessionCore: ~Copyable {
    enum Phase: Equatable {
        /// Controller: not started. Router: waits for the controller.
        case offline
        case connecting
        case greeting
        case open
        case backoff
        case suspended
        case closed
    }

    /// As given.
    public let configuration: SessionConfiguration
    /// The session.
    public let session: SessionIdentifier
    /// Counts for reports.
    public internal(set) var counters = SessionCounters()

    /// Spans that every read and write reckons with, in nanoseconds: a `Duration` counts in 128 bits.
    let heartbeatSpan: Int64
    let silenceSpan: Int64
    let resendSpan: Int64

    // The connection.
    var phase = Phase.offline
    /// The present connection; all news of others is ignored.
    public internal(set) var connection = ConnectionNumber.none
    var lastNumber = ConnectionNumber.none
    /// The version agreed, or our guess before that.
    public internal(set) var version: UInt16
    /// What was agreed last; nil before the first opening.
    public internal(set) var opening: SessionOpening?
    var phaseSince: Instant
    /// How long connecting may take from then on.
    var connectSpan = Duration.zero
    var lastReceived = Instant.zero
    var lastSent = Instant.zero
    var hearUntil = Instant.zero
    var peerHasFinished = false
    var writingShut = false
    var failures = 0
    /// Why whoever answers at the present place isn't one to talk to, by its hello; nil once another place is dialled.
    var greetingRefusal: LossReason?
    var reconnectAt = Instant.distantFuture
    var forgetAt = Instant.distantFuture
    var random: SeededGenerator

    // The session's memory.
    /// Whether this session has stood before: the hello's `resume`.
    var hasOpened = false
    /// Controller: where the router was reached last.
    var peer: Endpoint?
    /// The router's last boot and its MAC.
    var peerBoot: String?
    var peerMAC: String?
    /// Router: it said "not resumed" to a controller that thinks otherwise, and nothing shows yet that this was heard.
    var isUnconfirmed = false
    var inbound = DuplicateWindow()
    var nextId: UInt32 = 1
    /// Ids began anew or come from a journal: from then on each is compared with those under way.
    var idsMayCollide = false

    // Ours to the peer.
    let encoder: FrameEncoder
    var outbox = Outbox()
    var ledger = ReceiptLedger()
    var output = OutputBuffer()
    var staged = Ring<StagedCopy>()
    var nextTicket: UInt64 = 1
    var refusedForSpace = false

    // The peer's to us.
    var unhanded = Ring<UnhandedMessage>()
    var unhandedBytes = 0
    var nextSequence: UInt64 = 1
    var applicationReads = true
    var isReading = true

    // Closing.
    var closing: ClosePolicy?
    var closeStarted = Instant.zero
    /// Closed, and its journal holds what another run goes on with.
    var isKeptForLater = false

    // Outputs.
    var events: [CoreEvent] = []
    var eventsReserve = 0
    /// The bodies of the messages among the events, one behind the other: less than a session's bounds for messages not taken, and one
    /// more.
    var bodies: [UInt8] = []
    var bodiesReserve = 0
    /// Little goes on: the output's memory goes back as soon as it's written.
    var releasesOutput = false
    var actions: [SessionAction] = []
    var journal: JournalWriter?

    #if DEBUG
        /// Faults built in by tests.
        package var mutations: SessionMutation = []
    #endif

    /// A new session.
    ///
    /// - Parameters:
    ///   - configuration: which side, and its spans and bounds.
    ///   - session: its name; a controller draws it from a secure source.
    ///   - seed: for jitter; any number, another one for each session.
    ///   - now: the present.
    public init(_ configuration: SessionConfiguration, session: SessionIdentifier, seed: UInt64, now: Instant) {
        self.init(configuration, session: session, seed: seed, now: now, beginsJournal: configuration.keepsJournal)
    }

    /// `beginsJournal`: a new one, where an old one isn't gone on with.
    init(_ configuration: SessionConfiguration, session: SessionIdentifier, seed: UInt64, now: Instant, beginsJournal: Bool) {
        precondition(!configuration.versions.isEmpty && !configuration.versions.contains(0), "versions are 1...65535")
        self.configuration = configuration
        heartbeatSpan = configuration.timing.heartbeat.inNanoseconds
        silenceSpan = configuration.timing.silence.inNanoseconds
        resendSpan = configuration.timing.resend.base.inNanoseconds
        self.session = session
        version = configuration.versions.max() ?? 1
        phaseSince = now
        random = SeededGenerator(seed: seed)
        encoder = FrameEncoder(
            layout: configuration.layout,
            limits: FrameLimits(maximumBodyLength: max(configuration.maximumBodyLength, SessionLimits.helloBytes)))
        peerMAC = configuration.expectedMAC
        if beginsJournal {
            journal = JournalWriter()
            journal?.begin(JournalHeader(session: session, role: configuration.role, machineBoot: configuration.journalBoot))
        }
    }

    @inline(__always)
    func mutated(_ mutation: SessionMutation) -> Bool {
        #if DEBUG
            mutations.contains(mutation)
        #else
            false
        #endif
    }
}

/// A copy in the output.
struct StagedCopy {
    let ticket: SessionTicket
    /// Where it ends in the connection's stream.
    let end: UInt64
    let acceptedAt: Instant
    /// No receipt will come: it ends when it's written.
    let endsWithWriting: Bool
}

/// A message in the application's hands, not yet taken.
struct UnhandedMessage {
    let sequence: UInt64
    /// 0 when no receipt is due.
    var msgId: UInt32
    let bytes: Int
}

/// What `close` does with messages that haven't ended.
public enum ClosePolicy: Equatable, Sendable {
    /// The session is over: each gets its outcome, ``MessageResult/unknown`` or ``MessageResult/notSent``.
    case endSession
    /// Those in the journal stay there for the next run and get their outcome then. Messages without receipt are in none, and a session
    /// may keep none: they end as with ``endSession``.
    case keepForLater
}

// MARK: - Outputs and queries

extension SessionCore {
    /// Whether messages can flow.
    public var isOpen: Bool { phase == .open }
    /// Between ``suspend(now:)`` and ``resume(now:)``.
    public var isSuspended: Bool { phase == .suspended }
    /// Whether the session is over for good.
    public var isClosed: Bool { phase == .closed }
    /// Whether the shell should read: no while the application doesn't keep up. The peer's hello is no message, and is read all the same:
    /// else a session whose application rests couldn't be opened again.
    public var wantsToRead: Bool { connection != .none && (isReading || phase == .greeting) }
    /// Bytes to write now.
    public var outputByteCount: Int { output.count }
    /// Messages without outcome.
    public var pendingMessages: Int { outbox.messages }
    /// Messages given to a connection and not settled: never above the window.
    public var unsettledMessages: Int { ledger.count }
    /// Since when a router's session has had no connection; nil while it has one.
    public var offlineSince: Instant? { phase == .offline ? phaseSince : nil }
    /// Bytes of buffers, queues and lists that this core has allocated, bodies under way apart: nothing while it's idle.
    var heldByteCount: Int {
        output.capacity + outbox.heldByteCount + ledger.heldByteCount + staged.heldByteCount + unhanded.heldByteCount + bodies.capacity
            + events.capacity * MemoryLayout<CoreEvent>.stride + actions.capacity * MemoryLayout<SessionAction>.stride
    }
    /// Messages delivered and not handed over.
    public var unhandedMessages: Int { unhanded.count }

    /// Bytes that the outbox counts, bytes that wait for hand-over, and events that wait to be taken: what a simulator holds to bounds.
    package var kept: (outboxBytes: Int, unhandedBytes: Int, events: Int) { (outbox.bytes, unhandedBytes, events.count) }

    /// Lends what waits to be written.
    public func withOutput<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try output.withBytes(body)
    }

    /// What happened since the last call, in order.
    public mutating func takeEvents() -> [SessionEvent] { takeBatch().whole }

    /// What happened since the last call, with the bodies still beside the messages.
    mutating func takeBatch() -> SessionBatch {
        guard !events.isEmpty else { return SessionBatch() }
        var batch = SessionBatch()
        swap(&batch.events, &events)
        swap(&batch.bodies, &bodies)
        eventsReserve = min(batch.events.count, SessionLimits.eventsReserve)
        bodiesReserve = min(batch.bodies.count, SessionLimits.bodiesReserve)
        return batch
    }

    /// Whether ``takeActions()`` has something.
    public var hasActions: Bool { !actions.isEmpty }

    /// What is to be done, in order.
    public mutating func takeActions() -> [SessionAction] {
        guard !actions.isEmpty else { return [] }
        defer { actions = [] }
        return actions
    }

    /// Messages without outcome, in their order: what a restored session still has under way.
    public var pendingTickets: [SessionTicket] {
        var tickets: [SessionTicket] = []
        for index in 0..<ledger.count { tickets.append(ledger[index].ticket) }
        outbox.forEach { tickets.append($0.ticket) }
        return tickets
    }

    @inline(__always)
    mutating func emit(_ event: CoreEvent) {
        if events.isEmpty { events.reserveCapacity(eventsReserve) }
        events.append(event)
    }
}
