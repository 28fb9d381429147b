import FrameCodec

// MARK: - Connections come and go

extension SessionCore {
    /// Controller: begins to dial.
    public mutating func start(now: Instant) {
        guard configuration.role == .controller, phase == .offline else { return }
        dial(now)
    }

    mutating func dial(_ now: Instant) {
        lastNumber = lastNumber.next
        connection = lastNumber
        greetingRefusal = nil
        enter(.connecting, now)
        connectSpan = configuration.timing.connect
        emit(.state(.connecting(attempt: failures + 1)))
        actions.append(.connect(connection))
    }

    /// Controller: whoever is to be connected to is looked for first, which has a span of its own.
    public mutating func looks(_ number: ConnectionNumber, now: Instant) {
        guard number == connection, phase == .connecting else { return }
        (phaseSince, connectSpan) = (now, configuration.timing.look)
    }

    /// Controller: after ``looks(_:now:)``, connecting begins now.
    public mutating func found(_ number: ConnectionNumber, now: Instant) {
        guard number == connection, phase == .connecting else { return }
        (phaseSince, connectSpan) = (now, configuration.timing.connect)
    }

    /// Controller: the connection asked for stands, TLS included. `peer` is whom it leads to, for ``SessionOpening/peer``.
    public mutating func connected(_ number: ConnectionNumber, to peer: Endpoint? = nil, now: Instant) {
        guard number == connection, phase == .connecting else { return }
        begin(now)
        self.peer = peer
        guard !configuration.isPlain else {
            return opened(SessionOpening(session: session, version: version, memoryLost: false, peer: peer), resumed: false, now)
        }
        enter(.greeting, now)
        let hello = ControllerHello(
            session: session, versions: configuration.versions, received: claim, resume: hasOpened, client: configuration.client,
            station: configuration.station)
        output.append(encoder, msgId: 0, version: configuration.versions.min() ?? 1, body: hello.encoded().span.bytes)
    }

    /// The hello's `received`.
    private var claim: UInt32 { mutated(.claimTooMuch) ? .max >> 1 : inbound.top }

    /// Controller: the connection asked for can't be had.
    public mutating func connectFailed(_ number: ConnectionNumber, _ text: String, now: Instant) {
        guard number == connection, phase == .connecting else { return }
        lose(.connectFailed(text), now)
    }

    /// Controller: there's no use in dialling again. The session ends; what is unsettled stays in the journal, where there's one.
    public mutating func giveUp(_ number: ConnectionNumber, _ reason: LossReason, now: Instant) {
        guard number == connection, connection != .none, configuration.role == .controller else { return }
        closing = configuration.keepsJournal ? .keepForLater : .endSession
        actions.append(.close(connection, abort: true))
        lose(reason, now)
    }

    /// The connection is gone, whoever ended it.
    public mutating func disconnected(_ number: ConnectionNumber, _ reason: LossReason, now: Instant) {
        guard number == connection, connection != .none else { return }
        lose(reason, now)
    }

    /// The stream is broken for good.
    public mutating func frameError(_ number: ConnectionNumber, _ error: FrameError, now: Instant) {
        guard number == connection, connection != .none else { return }
        fail(.badFrame("\(error)"), abort: true, now)
    }

    /// Router: a connection whose first frame was this hello; it replaces the present one.
    ///
    /// - Parameters:
    ///   - hello: the controller's.
    ///   - agreed: the version that ``Greeting`` chose.
    ///   - sees: the answer to the hello's `station`.
    ///   - now: the present.
    /// - Returns: the connection's number for all further news.
    public mutating func accept(
        _ hello: ControllerHello, version agreed: UInt16, sees: RouterHello.Sees? = nil, now: Instant
    ) -> ConnectionNumber {
        replaceConnection(now)
        guard phase != .closed, closing == nil else { return .none }
        lastNumber = lastNumber.next
        connection = lastNumber
        begin(now)
        version = agreed
        // The controller may not have heard that its session's memory was lost: it's told again until it shows that it has.
        let hasHeard = !(isUnconfirmed && hello.resume && !mutated(.resumeUnconfirmed))
        // Who has received more than this memory ever sent has it from an earlier one: a first hello that was long under way, of a connection
        // given up since, has begun the session anew. Its ids would be taken for those of the earlier one.
        let isThisMemory = hello.received == 0 || MessageID.isNotAfter(hello.received, nextId &- 1)
        let resumed = hasOpened && hasHeard && isThisMemory
        isUnconfirmed = hello.resume && !resumed
        if resumed { settleCovered(hello.received, now) }
        let answer = RouterHello(
            session: session, identity: configuration.identity, version: agreed, received: resumed ? claim : 0, resumed: resumed,
            sees: hello.station.flatMap { sees ?? self.sees($0) })
        output.append(encoder, msgId: 0, version: agreed, body: answer.encoded().span.bytes)
        let opening = SessionOpening(
            session: session, version: agreed, memoryLost: hello.resume && !resumed, router: answer, controller: hello)
        opened(opening, resumed: resumed, now)
        return connection
    }

    private func sees(_ station: String) -> RouterHello.Sees? {
        guard !configuration.stations.isEmpty else { return nil }
        let via = configuration.stations[station.lowercased()]
        return RouterHello.Sees(station: via != nil, via: via)
    }

    /// Router: a plain controller's connection, which says no hello, so that nothing tells whose it is: the session ends with it.
    public mutating func acceptPlain(now: Instant) -> ConnectionNumber {
        replaceConnection(now)
        guard phase != .closed, closing == nil else { return .none }
        lastNumber = lastNumber.next
        connection = lastNumber
        begin(now)
        opened(SessionOpening(session: session, version: version, memoryLost: false), resumed: false, now)
        return connection
    }

    private mutating func replaceConnection(_ now: Instant) {
        guard connection != .none else { return }
        actions.append(.close(connection, abort: false))
        lose(.replaced, now)
    }

    /// A connection's first moment.
    private mutating func begin(_ now: Instant) {
        output.reset()
        lastReceived = now
        lastSent = now
        peerHasFinished = false
        writingShut = false
        forgetAt = .distantFuture
    }

    /// Controller: the first frame.
    mutating func receiveHello(_ header: FrameHeader, _ body: RawSpan, _ now: Instant) {
        guard header.msgId == 0, header.bodyLength > 0 else { return fail(.badHello(.notAHello), abort: true, now) }
        do throws(HelloError) {
            let value = try HelloKeys.parse(body)
            if value["hello"] == nil, let error = value["error"] {
                let theirs = error["versions"]?.arrayValue?.compactMap { $0.integerValue.flatMap(UInt16.init(exactly:)) }
                return refuse(.versionRefused(theirs: theirs ?? []), now)
            }
            let hello = try RouterHello(body)
            guard hello.session == session else { throw .wrongSession(hello.session) }
            guard configuration.versions.contains(hello.version) else { throw .wrongVersion(hello.version) }
            welcome(hello, now)
        } catch {
            fail(.badHello(error), abort: true, now)
        }
    }

    /// Dialling there again changes nothing; whether the router may be elsewhere, the shell knows.
    private mutating func refuse(_ reason: LossReason, _ now: Instant) {
        greetingRefusal = reason
        fail(reason, abort: false, now)
    }

    private mutating func welcome(_ hello: RouterHello, _ now: Instant) {
        let mac = hello.identity.mac.lowercased()
        if let peerMAC, peerMAC.lowercased() != mac {
            return refuse(.wrongRouter(expected: peerMAC, found: mac), now)
        }
        peerMAC = mac
        version = hello.version
        let memoryLost = hasOpened && !hello.resumed
        if memoryLost { forgetInbound() }
        if hello.resumed { settleCovered(hello.received, now) }
        if memoryLost, configuration.memoryLoss == .reportUnknown {
            for message in ledger.remove(where: { $0.mayHaveLeft }) + outbox.removeRestored(where: { _ in true }) {
                finish(message, .unknown, now)
            }
        }
        peerBoot = hello.identity.boot
        journal?.opened(boot: hello.identity.boot, mac: mac, reset: memoryLost)
        if memoryLost { output.append(encoder, msgId: 0, version: version, body: RawSpan()) }
        let opening = SessionOpening(session: session, version: version, memoryLost: memoryLost, peer: peer, router: hello)
        opened(opening, resumed: hello.resumed, now)
    }

    /// The peer's ids begin anew; what the application still holds of the old ones is receipted to nobody.
    private mutating func forgetInbound() {
        guard !mutated(.keepWindowAfterReboot) else { return }
        inbound = DuplicateWindow()
        for index in 0..<unhanded.count { unhanded[index].msgId = 0 }
    }

    /// Settles what the peer's `received` covers: only what was given to a connection can be.
    private mutating func settleCovered(_ received: UInt32, _ now: Instant) {
        guard received != 0 else { return }
        let covered = ledger.remove(where: { MessageID.isNotAfter($0.ticket.msgId, received) })
        let restored = outbox.removeRestored(where: { MessageID.isNotAfter($0, received) })
        for message in covered + restored { finish(message, .delivered, now) }
    }

    private mutating func opened(_ opening: SessionOpening, resumed: Bool, _ now: Instant) {
        if configuration.role == .router, !isUnconfirmed { journalOpening() }
        if mutated(.reuseIds), hasOpened { nextId = 1 }
        if mutated(.ownVersion) { version = configuration.versions.max() ?? version }
        hasOpened = true
        counters.openings += 1
        self.opening = opening
        releasesOutput = true
        enter(.open, now)
        ledger.connectionOpened()
        emit(.state(resumed ? .resumed(opening) : .open(opening)))
        updateReading(now)
        pump(now)
        continueClosing(now)
    }

    /// A router's session stands, and its controller knows in which memory. Not before: a process that takes over from the journal would
    /// say "resumed" to a controller that never heard of the loss, and believe its `received`, which speaks of other messages.
    mutating func journalOpening() { journal?.opened(boot: configuration.identity.boot, mac: nil, reset: false) }

    mutating func enter(_ phase: Phase, _ now: Instant) {
        self.phase = phase
        phaseSince = now
    }
}
