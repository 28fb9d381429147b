import FrameCodec

/// The session on its loop: connection, clock, and one flush a tick.
extension Session: StreamOwner, TimerHandler, TickHandler {
    /// A full disk may be made room on at any time.
    private static let journalRetryDelay = Duration.seconds(1)

    // MARK: Called by the loop

    nonisolated func streamOpened(_ stream: Stream) {
        let bound = LoopBound(stream, on: loop)
        assumeIsolated { session in
            guard session.stream === bound.value else { return }
            session.core.connected(session.streamNumber, to: bound.value.peer, now: session.loop.now)
            session.flushLater()
        }
    }

    nonisolated func stream(_ stream: Stream, received bytes: RawSpan) {
        let bound = LoopBound(stream, on: loop)
        assumeIsolated { session in
            guard session.stream === bound.value else { return }
            session.receive(bytes)
        }
    }

    nonisolated func streamIsWritable(_ stream: Stream) {
        assumeIsolated { $0.flushLater() }
    }

    nonisolated func streamEnded(_ stream: Stream, _ end: StreamEnd) {
        let bound = LoopBound(stream, on: loop)
        assumeIsolated { session in
            guard session.stream === bound.value else { return }
            session.ended(end)
        }
    }

    nonisolated func timerFired(at now: Instant) {
        assumeIsolated { session in
            session.core.advance(to: now)
            session.faults?.refill(now)
            // Timers come when little else does: a half frame's memory goes back once the frame has.
            session.decoder.shrink()
            session.flush(now)
        }
    }

    /// See ``TickHandler``.
    public nonisolated func tickEnded(at now: Instant) {
        assumeIsolated { session in
            session.isFlushPending = false
            session.flush(now)
        }
    }

    // MARK: What arrives

    private func receive(_ bytes: RawSpan) {
        let now = loop.now
        core.receivedBytes(bytes.byteCount, on: streamNumber, now: now)
        faults?.received(bytes.byteCount, now)
        decode(bytes, now)
        noteGreeting()
        deliverEarly()
        // An application that takes at once gets the rest of the read at once.
        while hasUnread, core.wantsToRead {
            decodeUnread(now)
            deliverEarly()
        }
        // Else not even this tick's next read may bring more: an end of the stream behind it would overtake what waits.
        if hasUnread || !core.wantsToRead { stream?.isReading = false }
        flushLater()
    }

    /// Frames to the core; what comes behind a frame at which it pauses is kept for later.
    private func decode(_ bytes: RawSpan, _ now: Instant) {
        let number = streamNumber
        do throws(FrameError) {
            // While the application rests the core takes not one frame: its bound is exact.
            let used = core.wantsToRead ? try Session.decode(bytes, with: &decoder, into: &core, number, now) : 0
            if used < bytes.byteCount, core.connection == number {
                try decoder.append(bytes.extracting(droppingFirst: used))
                hasUnread = true
            }
        } catch {
            core.frameError(number, error, now: now)
        }
    }

    /// Both are borrowed once a read here, and not once a frame.
    private static func decode(
        _ bytes: RawSpan, with decoder: inout FrameDecoder, into core: inout SessionCore, _ number: ConnectionNumber, _ now: Instant
    ) throws(FrameError) -> Int {
        try decoder.decode(bytes) { header, body in core.receive(header, body: body, on: number, now: now) }
    }

    /// Goes on with what was kept when reading paused.
    private func decodeUnread(_ now: Instant) {
        guard hasUnread, core.wantsToRead else { return }
        hasUnread = false
        // Stopping again leaves the rest where it is.
        decode(RawSpan(), now)
        hasUnread = !core.wantsToRead
        if !hasUnread, inputEndWaits { inputEnded(now) }
    }

    /// The peer's stream is over, and all of it was read.
    private func inputEnded(_ now: Instant) {
        inputEndWaits = false
        do throws(FrameError) {
            try decoder.finish()
            core.peerFinished(streamNumber, now: now)
        } catch {
            core.frameError(streamNumber, error, now: now)
        }
    }

    private func ended(_ end: StreamEnd) {
        let now = loop.now
        switch end {
        case .peerFinished:
            // What was kept when reading paused comes before the end.
            if hasUnread { inputEndWaits = true } else { inputEnded(now) }
        case .connectFailed:
            stream = nil
            core.connectFailed(streamNumber, end.description, now: now)
        case .insecure(let error):
            stream = nil
            tlsFailure = error
            if error.isFinal { return refused(error, now) }
            // Before it stood, the core takes it for a dial that failed; after that, for a loss.
            core.connectFailed(streamNumber, end.description, now: now)
            core.disconnected(streamNumber, .transport(end.description), now: now)
        case .broken:
            stream = nil
            core.disconnected(streamNumber, .transport(end.description), now: now)
        }
        flushLater()
    }

    // MARK: The flush

    /// Asks for one flush at the end of this tick.
    func flushLater() {
        guard !isFlushPending else { return }
        isFlushPending = true
        loop.atEndOfTick(self)
    }

    /// Without a journal nothing must be synced first: whoever waits runs in this tick, and its answers leave with it.
    private func deliverEarly() {
        if !core.configuration.keepsJournal { deliver() }
    }

    /// Does what the core has to have done, in the order that its documentation gives.
    func flush(_ now: Instant) {
        // What is done may make more to do (a write ends a closing, a closing closes): a few rounds settle it.
        for _ in 0..<4 {
            decodeUnread(now)
            // Whatever frames and inputs led to is on disk before anything of it is done.
            // A connection that is given up goes even then, and so does a session that is over: nothing more is written to it.
            guard commit(now) || core.isSuspended || core.isClosed else { return arm(now) }
            if core.hasActions { for action in core.takeActions() { perform(action, now) } }
            writeOutput(now)
            if !core.hasActions { break }
        }
        deliver()
        if stream != nil { stream?.isReading = core.wantsToRead && !hasUnread && faults?.mayRead ?? true }
        if core.isClosed { return end(now) }
        arm(now)
        // Handing over, above, may have made more to do.
        if core.hasActions || core.outputByteCount > 0 && stream?.isWritable ?? false { flushLater() }
    }

    /// Journal first: what isn't synced is neither sent nor reported.
    private func commit(_ now: Instant) -> Bool {
        guard journal != nil else { return true }
        do throws(OutboxJournalError) {
            try journal?.commit(&core)
            if journalFailure != nil { tell(.journal(nil)) }
            journalFailure = nil
            journalRetry = .distantFuture
            for waiter in syncWaiters { waiter.resume(returning: true) }
            syncWaiters = []
            return true
        } catch {
            if journalFailure == nil { tell(.journal(error)) }
            journalFailure = error
            journalRetry = now + Session.journalRetryDelay
            return false
        }
    }

    private func perform(_ action: SessionAction, _ now: Instant) {
        switch action {
        case .connect(let number): dial(number)
        case .finishWriting(let number):
            if number == streamNumber {
                writeOutput(now)
                stream?.finishWriting()
            }
        case .close(let number, let abort):
            guard number == streamNumber else { return }
            if core.isSuspended { bidFarewell() } else { stream?.close(reset: abort) }
            stream = nil
            hasUnread = false
            inputEndWaits = false
        }
    }

    private func bidFarewell() {
        guard let stream, stream.isConnected else {
            self.stream?.close()
            return
        }
        let bound = LoopBound(self, on: loop)
        farewell = Farewell(stream, within: core.configuration.timing.farewell) {
            // Another suspension's may be going on by now.
            bound.value.assumeIsolated { session in if session.farewell?.isOver == true { session.farewell = nil } }
        }
    }

    private func writeOutput(_ now: Instant) {
        // What waits may be for a connection that replaces this one.
        guard let stream, core.connection == streamNumber else { return }
        guard core.outputByteCount > 0 || faults?.hasPending ?? false else { return }
        let number = streamNumber
        if faults != nil {
            let taken = core.withOutput { faults?.pass($0, to: stream) ?? 0 }
            core.wrote(taken, on: number, now: now)
        } else {
            Session.write(from: &core, to: stream, number, now)
        }
    }

    /// Writing frees room, and the core may fill it at once: as long as the kernel takes everything.
    private static func write(from core: inout SessionCore, to stream: Stream, _ number: ConnectionNumber, _ now: Instant) {
        while core.outputByteCount > 0 {
            let offered = core.outputByteCount
            let taken = core.withOutput { stream.write($0) }
            core.wrote(taken, on: number, now: now)
            if taken < offered { break }
        }
    }

    private func arm(_ now: Instant) {
        let timer = timer ?? loop.addTimer(self)
        self.timer = timer
        // Suspended, not even a full disk is asked again: the return does.
        let next = core.isSuspended ? .distantFuture : min(core.deadline.at, faults?.deadline ?? .distantFuture, journalRetry)
        loop.setTimer(timer, to: next)
    }

    /// The session is over for good.
    private func end(_ now: Instant) {
        // A settlement that can't be written any more costs one more copy in the next run, which the router knows.
        _ = commit(now)
        journal = nil
        // It may have ended while its application was being told of something else: the end is still to be told.
        deliver()
        // What the application hasn't taken has no receipt: it comes again to whoever goes on with the session.
        if core.isKeptForLater { inbox.dropReceiptable() }
        if let timer { loop.removeTimer(timer) }
        timer = nil
        stream?.close()
        stream = nil
        inbox.end()
        inbox.takeWaiter()?.resume(returning: nil)
        // Messages that stay in the journal get their outcome in a later run; who waits for one in this run hears what is known.
        for (ticket, waiter) in outcomeWaiters {
            waiter.resume(returning: MessageOutcome(ticket: ticket, result: .unknown, sends: 0, elapsed: .zero))
        }
        outcomeWaiters = [:]
        for waiter in closeWaiters + roomWaiters + settleWaiters { waiter.resume() }
        // Whatever the last commit didn't reach isn't kept, and was never accepted.
        for waiter in syncWaiters { waiter.resume(returning: false) }
        closeWaiters = []
        roomWaiters = []
        syncWaiters = []
        settleWaiters = []
        attendant?.sessionEnded(self)
        attendant = nil
        onEnd?(self)
        onEnd = nil
    }

    // MARK: Connections

    private func dial(_ number: ConnectionNumber) {
        dialling = number
        guard let resolver, number.value > 1 else { return connect(number, isSeenThere: resolver == nil) }
        core.looks(number, now: loop.now)
        Task(executorPreference: loop) { await self.resolve(number, resolver) }
    }

    private func resolve(_ number: ConnectionNumber, _ resolver: Resolver) async {
        let found = await resolver(Int(number.value))
        guard dialling == number else { return }
        core.found(number, now: loop.now)
        if let found { endpoint = found }
        connect(number, isSeenThere: found != nil)
    }

    private func connect(_ number: ConnectionNumber, isSeenThere: Bool) {
        guard core.connection == number, let endpoint else { return }
        if let refusal = refusals[endpoint], isSeenThere || !refusal.takesSighting {
            core.giveUp(number, .refused(refusal.text), now: loop.now)
            return flushLater()
        }
        beginInput()
        streamNumber = number
        do {
            stream = try Stream.connect(to: endpoint, on: loop, tls: makeEngine(), owner: self)
        } catch let error as SystemError {
            core.connectFailed(number, StreamEnd.connectFailed(error.about("\(endpoint)")).description, now: loop.now)
        } catch {
            tlsFailure = error as? TLSError
            if tlsFailure?.isFinal == true {
                core.giveUp(number, .refused("\(error)"), now: loop.now)
            } else {
                core.connectFailed(number, "\(error)", now: loop.now)
            }
        }
        flushLater()
    }

    /// Nothing has come over the connection that begins.
    private func beginInput() {
        decoder = Session.makeDecoder(core.configuration)
        hasUnread = false
        inputEndWaits = false
    }

    /// TLS where it's configured: the session of the connection before is taken up again, and judged again.
    private func makeEngine() throws(TLSError) -> TLSEngine? {
        guard let tlsConfiguration else { return nil }
        let context: TLSContext
        if let made = tlsContext { context = made } else { context = try TLSContext(tlsConfiguration) }
        tlsContext = context
        let engine = try TLSEngine(context, resuming: tlsEngine?.session)
        tlsEngine = engine
        return engine
    }

    /// Router: takes over a connection whose first frame was this hello, and the bytes that came behind it.
    func adopt(_ stream: Stream, _ hello: ControllerHello, version: UInt16, rest: [UInt8]) {
        let now = loop.now
        let number = core.accept(hello, version: version, now: now)
        take(stream, number, rest: rest, now)
    }

    /// Router: takes over a plain controller's connection.
    func adoptPlain(_ stream: Stream) {
        let now = loop.now
        take(stream, core.acceptPlain(now: now), rest: [], now)
    }

    private func take(_ stream: Stream, _ number: ConnectionNumber, rest: [UInt8], _ now: Instant) {
        // The actions close the connection that this one replaces, before its successor takes its place.
        for action in core.takeActions() { perform(action, now) }
        guard number != .none else {
            // It was closing, and lost the connection that it did so over: that is the end, which whoever waits for it is told.
            flushLater()
            return stream.close()
        }
        beginInput()
        streamNumber = number
        self.stream = stream
        stream.owner = self
        faults?.connectionBegan()
        decode(rest.span.bytes, now)
        deliverEarly()
        flushLater()
    }
}
