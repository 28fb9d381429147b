import SocketCore

/// Why a command came to nothing.
public enum CommandError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The device refused.
    case refused(DeviceFault)
    /// No answer to any of the tries.
    case timedOut(tries: Int)
    /// The command before it timed out.
    case linkBad
    /// The session ended, or the caller took it back.
    case cancelled
    /// Too many commands wait already.
    case queueFull(count: Int)
    /// The answer isn't what the vocabulary says.
    case malformedAnswer(String)

    /// A sentence for people, with whose fault it is and what to try.
    public var description: String {
        switch self {
        case .refused(let fault): "the router refused: \(fault)"
        case .timedOut(let tries):
            "the router didn't answer any of \(tries) tries: the link is bad, or it's busy; go nearer or try again later"
        case .linkBad: "not tried: the command before it got no answer, so the link is bad"
        case .cancelled: "the session ended before the answer came"
        case .queueFull(let count): "\(count) commands wait already; wait for some of them to end"
        case .malformedAnswer(let what): "the router's answer makes no sense: \(what) (its firmware's fault)"
        }
    }
}

/// Properties that changed, in one report of a router.
public struct PropertyChange: Equatable, Sendable {
    /// The router, as the report names it.
    public var mac: String
    /// The new values.
    public var values: [JSONValue.Member]
}

/// A session with one router, spoken to in commands: requests go one at a time and end in one clear result each.
///
/// It reads the session's events; whoever wants them too gives `onEvent`.
public actor RouterConnection: LoopTimerOwner {
    /// The loop that it runs on.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// The session underneath, for messages of one's own.
    public nonisolated let session: Session
    /// Whose session it is.
    public nonisolated let mac: MACAddress

    private let onEvent: @Sendable (SessionEvent) -> Void
    private var queue = CommandQueue()
    private var callers: [CommandNumber: CheckedContinuation<CommandOutcome, Never>] = [:]
    private var listeners: [Int: (names: Set<String>, continuation: AsyncStream<PropertyChange>.Continuation)] = [:]
    private var nextListener = 0
    private var timer: LoopTimer?
    private var openWaiters: [CheckedContinuation<Result<SessionOpening, LossReason>, Never>] = []
    private var hasEnded = false
    private var endReason = LossReason.closed

    /// A connection over a session that isn't started yet.
    public init(_ session: Session, mac: MACAddress, onEvent: @escaping @Sendable (SessionEvent) -> Void = { _ in }) {
        self.session = session
        self.mac = mac
        self.onEvent = onEvent
        loop = session.loop
    }

    /// Dials, and returns when the session stands.
    ///
    /// - Throws: ``LossReason`` of the first failure; dialling goes on in the background until ``close(_:)``.
    @discardableResult
    public func open() async throws(LossReason) -> SessionOpening {
        timer = LoopTimer(on: loop, owner: self)
        Task(executorPreference: loop) {
            for await batch in self.session.events { for event in batch { await self.handle(event) } }
            await self.ended()
        }
        await session.start()
        return try await opened()
    }

    /// Returns when the session stands, at once if it does.
    ///
    /// - Throws: ``LossReason`` of the next failure.
    public func opened() async throws(LossReason) -> SessionOpening {
        if await session.isOpen, let opening = await session.opening { return opening }
        if hasEnded { throw endReason }
        return try await withCheckedContinuation { openWaiters.append($0) }.get()
    }

    /// Ends the session in order.
    public func close(_ policy: ClosePolicy = .endSession) async { await session.close(policy) }

    // MARK: Commands

    /// Sends a request and waits for its answer, behind the requests before it.
    ///
    /// - Returns: the answer's value.
    /// - Throws: ``CommandError``.
    public func request(_ request: DeviceRequest) async throws(CommandError) -> JSONValue {
        guard !hasEnded else { throw .cancelled }
        guard let number = queue.enqueue(request.encoded(), now: loop.currentInstant) else { throw .queueFull(count: queue.count) }
        let outcome = await withCheckedContinuation { continuation in
            callers[number] = continuation
            settle()
        }
        switch outcome {
        case .answered(.success(let value)): return value
        case .answered(.failure(let fault)): throw .refused(fault)
        case .timedOut(let tries): throw .timedOut(tries: tries)
        case .linkBad: throw .linkBad
        case .cancelled: throw .cancelled
        }
    }

    /// The values of properties, in the order of the names.
    ///
    /// - Throws: ``CommandError``.
    public func get(_ names: [String]) async throws(CommandError) -> [JSONValue.Member] {
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

    /// Sets properties.
    ///
    /// - Returns: what the router says they are now.
    /// - Throws: ``CommandError``.
    @discardableResult
    public func set(_ values: [JSONValue.Member]) async throws(CommandError) -> [JSONValue.Member] {
        guard let members = try await request(.set(values: values)).objectValue else { throw .malformedAnswer("it's no object") }
        return members
    }

    /// Reads a stream in pieces, the next after the last, from `offset` to its end.
    ///
    /// - Parameter take: gets each piece in order; what it throws ends the reading.
    /// - Returns: the stream's size in bytes.
    /// - Throws: ``CommandError``, or what `take` throws.
    public func read(
        _ stream: String, from offset: Int = 0, pieceSize: Int = 1_024, _ take: @Sendable (StreamPiece) async throws -> Void
    ) async throws -> Int {
        var position = offset
        while true {
            let value = try await request(.read(stream: stream, offset: position, count: pieceSize))
            guard let piece = StreamPiece(value) else { throw CommandError.malformedAnswer("it's no piece of a stream") }
            guard piece.offset == position else {
                throw CommandError.malformedAnswer("the piece begins at \(piece.offset) where \(position) was asked for")
            }
            try await take(piece)
            position += piece.data.count
            if position >= piece.total { return piece.total }
            guard !piece.data.isEmpty else { throw CommandError.malformedAnswer("\(piece.total - position) bytes are missing at the end") }
        }
    }

    /// Changes of the named properties from now on.
    ///
    /// The router is asked to tell them at once, and asked again while it doesn't answer; the stream ends with the session, or
    /// at once when the router refuses: ``subscribe(to:)`` says why. A reader who falls behind gets the newest states.
    public nonisolated func changes(of names: String...) -> AsyncStream<PropertyChange> {
        let (stream, continuation) = AsyncStream<PropertyChange>.makeStream(bufferingPolicy: .bufferingNewest(64))
        Task(executorPreference: loop) {
            while true {
                do throws(CommandError) {
                    return try await self.subscribe(names, continuation)
                } catch {
                    guard case .timedOut = error else { return continuation.finish() }
                }
            }
        }
        return stream
    }

    /// Changes of the named properties from now on, once the router has agreed to tell them.
    ///
    /// - Throws: ``CommandError``.
    public func subscribe(to names: [String]) async throws(CommandError) -> AsyncStream<PropertyChange> {
        let (stream, continuation) = AsyncStream<PropertyChange>.makeStream(bufferingPolicy: .bufferingNewest(64))
        try await subscribe(names, continuation)
        return stream
    }

    private func subscribe(_ names: [String], _ continuation: AsyncStream<PropertyChange>.Continuation) async throws(CommandError) {
        // Listening begins before asking: news may come before the answer.
        let number = nextListener
        nextListener += 1
        listeners[number] = (Set(names), continuation)
        continuation.onTermination = { _ in Task(executorPreference: self.loop) { await self.endListening(number) } }
        do throws(CommandError) { _ = try await request(.subscribe(names: names)) } catch {
            listeners[number] = nil
            throw error
        }
    }

    private func endListening(_ number: Int) { listeners[number] = nil }

    /// Answers that came too late or to nothing.
    public var lateAnswers: UInt64 { queue.lateAnswers }

    // MARK: The session's news

    private func handle(_ event: SessionEvent) {
        onEvent(event)
        switch event {
        case .message(let message): handle(message)
        case .state(.open(let opening)), .state(.resumed(let opening)): tellWaiters(.success(opening))
        case .state(.lost(let reason)): tellWaiters(.failure(reason))
        case .state(.closed(let reason)):
            endReason = reason
            tellWaiters(.failure(reason))
        case .state, .outcome, .writable: break
        }
    }

    private func handle(_ message: InboundMessage) {
        switch DeviceReply(message.body) {
        case .answer(let id, let result):
            queue.answered(id, result, now: loop.currentInstant)
            settle()
        case .changed(let mac, let values):
            for (names, continuation) in listeners.values {
                let wanted = values.filter { names.contains($0.name) }
                if !wanted.isEmpty { continuation.yield(PropertyChange(mac: mac, values: wanted)) }
            }
        case nil: break
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
        for (_, continuation) in listeners.values { continuation.finish() }
        listeners = [:]
        timer?.cancel()
        timer = nil
    }

    // MARK: The queue's work

    /// See ``LoopTimerOwner``.
    public nonisolated func timerFired(at now: Instant) {
        assumeIsolated { connection in
            connection.queue.advance(to: now)
            connection.settle()
        }
    }

    private func settle() {
        for action in queue.takeActions() {
            switch action {
            case .send(let number, let body): Task(executorPreference: loop) { await self.send(number, body) }
            case .finish(let number, let outcome): callers.removeValue(forKey: number)?.resume(returning: outcome)
            }
        }
        timer?.set(to: queue.deadline)
    }

    private func send(_ number: CommandNumber, _ body: [UInt8]) async {
        do throws(SessionError) {
            queue.sent(number, as: try await session.post(body, whenFull: .fail).msgId)
        } catch {
            // A full outbox is a router that doesn't take anything: the next try, or its time-out, comes by itself.
            if error == .closed {
                queue.cancel(number, now: loop.currentInstant)
                settle()
            }
        }
    }
}
