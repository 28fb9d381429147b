import SocketCore
import WifiDiscovery

/// One run of `send`: bodies into a session, and a line for each thing that becomes of them.
///
/// Runs on the session's loop. A message's outcome may be there before its acceptance was printed: it waits for that.
actor SendRun {
    struct Counts {
        var accepted = 0
        var restored = 0
        var outcomes: [MessageResult: Int] = [:]
        var received = 0
        var resends = 0

        var ended: Int { outcomes.values.reduce(0, +) }
        var unsettled: Int { accepted + restored - ended }

        mutating func add(_ other: Counts) {
            accepted += other.accepted
            restored += other.restored
            outcomes.merge(other.outcomes, uniquingKeysWith: +)
            received += other.received
            resends += other.resends
        }
    }

    nonisolated let session: Session
    nonisolated var unownedExecutor: UnownedSerialExecutor { session.unownedExecutor }
    private let output: Output
    nonisolated let mac: MACAddress?
    /// What the user calls a device without a MAC.
    private let name: String
    /// Where it was reached last.
    private var peer: Endpoint?
    private let wantsReceipt: Bool
    private let expectsReplies: Bool
    private(set) var counts = Counts()
    /// Messages without outcome, and which of this run's bodies each is; nil of an earlier run's.
    private var announced: [SessionTicket: Int?] = [:]
    private var early: [SessionTicket: MessageOutcome] = [:]
    private var awaitedReplies: Set<UInt32> = []
    private var earlyReplies: Set<UInt32> = []
    private var hasSentAll = false
    /// When something came from the router last.
    private(set) var lastSign = ContinuousClock.now
    /// The body that is waiting to be accepted.
    private(set) var unaccepted: Int?
    /// Why the session doesn't stand, as far as it was told; nil while it does.
    private(set) var obstacle: String?
    /// Whether it has stood: what is lost then was no misunderstanding about frames.
    private var hasStood = false
    /// Why no session will come about, however long one waits.
    private(set) var refusal: String?
    /// Raised with it.
    nonisolated let isRefused = CancellationSignal()
    private var waiter: CheckedContinuation<Void, Never>?
    /// Reads the session's events to their end.
    private var reading: Task<Void, Never>?

    /// The connection that others keep open, and that tells the session's events; nil: the session is this run's own.
    private let kept: RouterConnection?
    private var observation: RouterConnection.Observation?
    private var onOpen: (@Sendable () async -> Void)?
    private var opening: Task<Void, Never>?
    /// Whose news its own are; nil of a device that has no MAC to go by.
    private var source: SessionSource?

    /// - Parameter onOpen: called once, when the session stands.
    init(
        _ session: Session, mac: MACAddress?, _ output: Output, wantsReceipt: Bool, expectsReplies: Bool, kept: RouterConnection? = nil,
        name: String = "", onOpen: (@Sendable () async -> Void)? = nil
    ) {
        self.onOpen = onOpen
        self.kept = kept
        self.session = session
        self.mac = mac
        self.name = name
        self.output = output
        self.wantsReceipt = wantsReceipt
        self.expectsReplies = expectsReplies
    }

    /// Begins: what earlier runs left unsettled is taken over. Over a session that was there before, much of it may have ended meanwhile,
    /// which nobody was told yet.
    func begin() async {
        if let mac { source = SessionSource(mac, session.identifier, await session.opening) }
        if let kept {
            attach(to: kept)
            return
        }
        takeOver(await session.pendingTickets, [])
        reading = Task(executorPreference: session.loop) {
            for await batch in self.session.events { for event in batch { await self.handle(event) } }
            await self.ended()
        }
        await session.start()
    }

    /// In one step, so that nothing can end between the account and the observation: both are on the session's loop.
    private func attach(to kept: RouterConnection) {
        let (observation, left) = kept.assumeIsolated { connection in
            (connection.observe { event in self.assumeIsolated { $0.handle(event) } }, connection.takeLeftovers())
        }
        self.observation = observation
        takeOver(left.pending, left.outcomes)
    }

    /// In one step as well: what hasn't ended by then is told by the next run.
    private func detach(from kept: RouterConnection) {
        guard let observation else { return }
        // What asks for no receipt is kept for nobody.
        let open = announced.keys.filter { $0.msgId != 0 }
        kept.assumeIsolated { connection in
            connection.stopObserving(observation)
            connection.leave(open)
        }
    }

    private func takeOver(_ pending: some Collection<SessionTicket>, _ ended: [MessageOutcome]) {
        for ticket in pending + ended.map(\.ticket) { announced[ticket] = .some(nil) }
        counts.restored = announced.count
        if counts.restored > 0 { output.detail("unsettled from an earlier run: \(counted(counts.restored, "message"))") }
        for outcome in ended { tell(outcome) }
    }

    /// Sends one body and prints its acceptance; `line` counts bodies from 1.
    func send(_ body: [UInt8], line: Int) async throws {
        await output.room()
        unaccepted = line
        let ticket: SessionTicket
        do throws(SessionError) { ticket = try await session.post(body, wantsReceipt: wantsReceipt) } catch {
            throw ToolError("body \(line): \(error)")
        }
        unaccepted = nil
        counts.accepted += 1
        // What asks for no receipt isn't kept, and so was promised nothing.
        if output.isJSON, wantsReceipt { output.json("accepted", ["msgId": .whole(ticket.msgId), "line": .whole(line)]) }
        announced[ticket] = line
        if expectsReplies, ticket.msgId != 0, earlyReplies.remove(ticket.msgId) == nil { awaitedReplies.insert(ticket.msgId) }
        if let outcome = early.removeValue(forKey: ticket) { tell(outcome) }
    }

    /// Returns when everything that was accepted has ended and every expected answer has come.
    func finish() async {
        hasSentAll = true
        if !isDone { await withCheckedContinuation { waiter = $0 } }
    }

    /// The run is over: its own session is closed, what is unsettled stays for the next run; a session kept by others goes on.
    func end() async {
        if let kept {
            detach(from: kept)
            return
        }
        await session.close(.keepForLater)
        // Its last words come before the summary.
        await reading?.value
        await opening?.value
    }

    /// True when there are no more bodies and every message got its receipt, or, sent without, was written.
    var allDelivered: Bool {
        let good = counts.outcomes[.delivered, default: 0] + (wantsReceipt ? 0 : counts.outcomes[.unknown, default: 0])
        return hasSentAll && good == counts.accepted + counts.restored && awaitedReplies.isEmpty
    }

    var repliesMissing: Int { awaitedReplies.count }

    private var isDone: Bool { refusal != nil || hasSentAll && counts.unsettled == 0 && awaitedReplies.isEmpty }

    private func handle(_ event: SessionEvent) {
        switch event {
        case .state(let state):
            if case .closed(.refused(let why)) = state {
                refusal = why
                isRefused.raise(.interrupt)
            }
            switch state {
            case .open, .resumed: tellOpening()
            // Nothing's fault.
            case .lost(.closed), .lost(.suspended): break
            case .lost(let reason):
                obstacle = "\(reason)" + (!hasStood && FrameOptions.mayBeLayout(reason) ? "; \(FrameOptions.layoutHint)" : "")
            default: break
            }
            source?.hear(event)
            switch state {
            case .open(let opening), .resumed(let opening): peer = opening.peer
            default: break
            }
            if let source {
                SessionTool.print(state, source, output)
            } else {
                SessionTool.print(state, ofPlain: session.identifier, name, at: peer, output)
            }
        case .outcome(let outcome):
            lastSign = .now
            announced[outcome.ticket] != nil ? tell(outcome) : (early[outcome.ticket] = outcome)
        case .message(let message):
            lastSign = .now
            counts.received += 1
            SessionTool.print(message, output)
            if case .answer(let id, _) = DeviceReply(message.body), awaitedReplies.remove(id) == nil, expectsReplies {
                earlyReplies.insert(id)
            }
            wake()
        case .writable: break
        case .journal(let error):
            let trouble = error.map { "\($0); nothing more is accepted or sent until it can be: make room, or give another --home" }
            output.warning(trouble ?? "the journal can be kept again: going on")
        }
    }

    private func tellOpening() {
        lastSign = .now
        hasStood = true
        obstacle = nil
        guard let onOpen else { return }
        self.onOpen = nil
        opening = Task(executorPreference: session.loop) { await onOpen() }
    }

    private func tell(_ outcome: MessageOutcome) {
        let line = announced.removeValue(forKey: outcome.ticket) ?? nil
        counts.outcomes[outcome.result, default: 0] += 1
        counts.resends += max(0, outcome.sends - 1)
        if output.isJSON {
            output.json(
                "outcome",
                [
                    "msgId": .whole(outcome.ticket.msgId), "line": .whole(line), "outcome": .string(outcome.result.rawValue),
                    "sends": .whole(outcome.sends), "ms": .milliseconds(outcome.elapsed),
                ])
        } else {
            output.detail(
                "message \(outcome.ticket.msgId): \(outcome.result.rawValue) after \(outcome.elapsed.briefText), sent "
                    + counted(outcome.sends, "time")
            )
        }
        wake()
    }

    private func ended() {
        waiter?.resume()
        waiter = nil
    }

    private func wake() { if isDone { ended() } }
}
