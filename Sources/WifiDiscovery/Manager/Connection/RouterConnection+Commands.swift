import SocketCore

/// A command that hasn't ended.
struct PendingCommand {
    let request: DeviceRequest
    let caller: CheckedContinuation<CommandOutcome, Never>
    /// The messages of its tries that have no outcome yet.
    var open: [SessionTicket] = []
    var hasBeenSent = false
}

/// What a connection drops at its border: only what was understood goes on.
public struct DroppedMessages: Equatable, Sendable {
    /// Answers that came too late, or to nothing.
    public var lateAnswers: UInt64 = 0
    /// Bodies that are neither answer nor report. They're no error: an app that reads the session's events has them.
    public var opaque: UInt64 = 0
    /// Reports that name another router than the one that sent them.
    public var foreignReports: UInt64 = 0
    /// Values that nobody asked to be told.
    public var unwanted: UInt64 = 0
    /// Times that the router, having forgotten what it was to tell, couldn't be asked again.
    public var failedSubscriptions: UInt64 = 0
}

extension RouterConnection {
    /// What a manager gives to its connections.
    struct Setup: Sendable {
        var hub: StatusHub
        var encodings = CommandEncodings.sample
        var schedule = CommandSchedule()
        var capabilities = CapabilityStore(home: nil)
        /// How a command ended: answered, or timed out.
        var onCommand: @Sendable (_ isAnswered: Bool) -> Void = { _ in }
    }

    /// Sends a request and waits for its answer, behind the requests before it. Once it has ended, nothing of it is sent any more.
    ///
    /// - Returns: the answer's value.
    /// - Throws: ``CommandError``; ``CommandError/cancelled`` when the task is cancelled.
    public func request(_ request: DeviceRequest) async throws(CommandError) -> JSONValue {
        if let refusal { throw refusal }
        guard let number = queue.enqueue(now: loop.currentInstant) else { throw .queueFull(count: queue.count) }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // A task that was cancelled before may have taken it back already.
                if let ended = earlyOutcomes.removeValue(forKey: number) { return continuation.resume(returning: ended) }
                commands[number] = PendingCommand(request: request, caller: continuation)
                settle()
            }
        } onCancel: {
            Task(executorPreference: loop) { await self.cancel(number) }
        }
        switch outcome {
        case .answered(.success(let value)): return value
        case .answered(.failure(let fault)): throw .refused(fault)
        case .timedOut(let tries): throw .timedOut(tries: tries)
        case .linkBad: throw .linkBad
        case .cancelled: throw obstacles.removeValue(forKey: number) ?? .cancelled
        case .movedAway: throw .movedAway
        }
    }

    /// A message without answer: it doesn't queue, and is receipted where that is wanted.
    ///
    /// - Returns: its one outcome.
    /// - Throws: `SessionError` when it wasn't accepted.
    @discardableResult
    public func send(_ body: [UInt8], wantsReceipt: Bool = true) async throws(SessionError) -> MessageOutcome {
        try await session.send(body, wantsReceipt: wantsReceipt)
    }

    /// The values of properties, in the order of the names.
    ///
    /// - Throws: ``CommandError``; ``CommandError/notPossible(_:_:)`` when the router is known not to tell them.
    public func get(_ names: [String]) async throws(CommandError) -> [JSONValue.Member] {
        if let obstacle = knownCapabilities()?.obstacle(to: .get(names: names)) { throw obstacle }
        let value = try await request(.get(names: names))
        var members: [JSONValue.Member] = []
        for name in names {
            guard let member = value[name] else { throw .malformedAnswer("\(name) was asked for and isn't in it") }
            members.append(JSONValue.Member(name, member))
        }
        return members
    }

    /// The value of one property.
    ///
    /// - Throws: ``CommandError``.
    public func get(_ name: String) async throws(CommandError) -> JSONValue { try await get([name])[0].value }

    /// Sets properties. The router is asked first what it can do, once a boot and firmware.
    ///
    /// - Returns: what the router says they are now.
    /// - Throws: ``CommandError``; ``CommandError/notPossible(_:_:)`` before anything is sent when one of them can't be written.
    @discardableResult
    public func set(_ values: [JSONValue.Member]) async throws(CommandError) -> [JSONValue.Member] {
        try await check(.set(values: values))
        guard let members = try await request(.set(values: values)).objectValue else { throw .malformedAnswer("it's no object") }
        return members
    }

    /// What came and was dropped.
    public var droppedMessages: DroppedMessages {
        var all = dropped
        all.lateAnswers = queue.lateAnswers
        return all
    }

    // MARK: Working

    private func cancel(_ number: CommandNumber) {
        queue.cancel(number, now: loop.currentInstant)
        settle()
    }

    func finish(_ number: CommandNumber, _ outcome: CommandOutcome) {
        guard let command = commands.removeValue(forKey: number) else {
            earlyOutcomes[number] = outcome
            return
        }
        switch outcome {
        case .answered: setup.onCommand(true)
        case .timedOut: setup.onCommand(false)
        case .linkBad, .cancelled, .movedAway: break
        }
        // Whoever was told that it failed mustn't find it done later.
        if !command.open.isEmpty { Task(executorPreference: loop) { for ticket in command.open { await self.session.cancel(ticket) } } }
        command.caller.resume(returning: outcome)
    }

    /// One try. A message that the session still holds is the session's to resend, with its old id: the device knows it again.
    func attempt(_ number: CommandNumber) async {
        guard let command = commands[number] else { return }
        if command.hasBeenSent {
            guard isOpen else { return }
            if let ticket = command.open.last {
                await session.resend(ticket)
                return
            }
        }
        // What was agreed with the device decides how it's written; before that nothing can be.
        guard let opening else { return }
        let firmware = opening.router?.identity.firmware
        guard let body = setup.encodings.encoding(version: opening.version, firmware: firmware)?.encode(command.request) else {
            obstacles[number] = .noEncoding(version: opening.version, firmware: firmware)
            return cancel(number)
        }
        await post(body, for: number)
    }

    private func post(_ body: [UInt8], for number: CommandNumber) async {
        guard commands[number] != nil else { return }
        commands[number]?.hasBeenSent = true
        postsUnderWay += 1
        do throws(SessionError) {
            let ticket = try await session.post(body, whenFull: .fail)
            queue.sent(number, as: ticket.msgId)
            if earlyEnds.remove(ticket) == nil { keep(ticket, of: number) }
        } catch {
            // A full outbox is a router that doesn't take anything: the next try, or its time-out, comes by itself.
            if error == .closed { cancel(number) }
        }
        postsUnderWay -= 1
        if postsUnderWay == 0 { earlyEnds = [] }
    }

    private func keep(_ ticket: SessionTicket, of number: CommandNumber) {
        guard commands[number] != nil else {
            Task(executorPreference: loop) { await self.session.cancel(ticket) }
            return
        }
        commands[number]?.open.append(ticket)
    }

    func messageEnded(_ ticket: SessionTicket) {
        if let number = commands.first(where: { $0.value.open.contains(ticket) })?.key {
            commands[number]?.open.removeAll { $0 == ticket }
        } else if postsUnderWay > 0 {
            earlyEnds.insert(ticket)
        }
    }

    /// The session stands: what couldn't be written before can be now.
    func sendWaiting() {
        for number in commands.filter({ !$0.value.hasBeenSent }).keys where queue.isCurrent(number) {
            Task(executorPreference: loop) { await self.attempt(number) }
        }
    }

    func handle(_ message: InboundMessage) {
        switch decode(message) {
        case .answer(let id, let result):
            queue.answered(id, result, now: loop.currentInstant)
            settle()
        case .changed(let named, let values):
            guard MACAddress(named) == mac else {
                dropped.foreignReports += 1
                return
            }
            tell(values)
        case nil: dropped.opaque += 1
        }
    }

    private func decode(_ message: InboundMessage) -> DeviceReply? {
        setup.encodings.encoding(version: message.version, firmware: firmware)?.decode(message.body)
    }
}
