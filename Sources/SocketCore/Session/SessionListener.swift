import FrameCodec

/// A router's listener: takes connections, hears their hellos, and finds or makes the session that each belongs to.
///
/// (protocol.md, section 3.) Everybody else is held in small: a connection that hasn't said hello has a decoder for 4 KiB, ten seconds
/// for TLS and five for the hello, and a place of a ``DoorQuota``.
public actor SessionListener: ListenerOwner {
    /// What happened at the door, for logs and counts.
    public enum Event: Sendable {
        /// A session began; `owner` is the operator that the controller's certificate names, nil in the clear.
        case began(Session, ControllerHello, owner: String?)
        /// A session got another connection, by the same owner.
        case returned(Session, ControllerHello, owner: String?)
        /// A plain controller connected.
        case plain(Session)
        /// A stranger was turned away.
        case refused(Endpoint, LossReason)
        /// Accepting failed; it goes on.
        case failed(SystemError)
    }

    /// Sessions a listener keeps, those without connection included. When they're all taken, those make room that have been without a
    /// connection for longest, and then those of a network that has more than its part.
    public static let largestSessionCount = 16_384

    /// The loop of the listener and of its sessions.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let configuration: SessionConfiguration
    private let largestSessionCount: Int
    private let faults: LinkFaults.Options
    private let tlsConfiguration: TLSConfiguration?
    private let admits: (@Sendable (StreamArrival) -> Bool)?
    private var tlsContext: TLSContext?
    private let onEvent: @Sendable (Event) -> Void
    private var listener: StreamListener?
    private var sessions: [SessionIdentifier: Session] = [:]
    /// Where the controllers of those sessions connected from last, which connection of the listener's that was, and whose sessions they are.
    private var origins: [SessionIdentifier: (source: IPAddress, number: UInt64, owner: String?)] = [:]
    private var adoptions: UInt64 = 0
    private let door: DoorQuota
    private var quota: DoorQuota
    private var greeters: [DoorQuota.Ticket: Greeter] = [:]

    /// A listener that isn't open yet.
    ///
    /// - Parameters:
    ///   - configuration: spans and bounds of its sessions.
    ///   - faults: what its connections do wrong, for tests of controllers.
    ///   - tls: how to speak TLS; nil speaks in the clear.
    ///   - largestSessionCount: sessions beyond this one are refused.
    ///   - admits: whether a connection that came that way is taken; nil takes all.
    ///   - door: how many may stand at the door; nil for ``DoorQuota/handshakes`` with TLS, and ``DoorQuota/greetings`` without.
    ///   - loop: where it runs.
    ///   - onEvent: called on the loop's thread; a session's first events are still to come then.
    public init(
        _ configuration: SessionConfiguration, faults: LinkFaults.Options = .init(), tls: TLSConfiguration? = nil,
        largestSessionCount: Int = SessionListener.largestSessionCount, admits: (@Sendable (StreamArrival) -> Bool)? = nil,
        door: DoorQuota? = nil, loop: EventLoop = .shared,
        onEvent: @escaping @Sendable (Event) -> Void
    ) {
        self.configuration = configuration
        self.faults = faults
        self.largestSessionCount = largestSessionCount
        tlsConfiguration = tls
        self.admits = admits
        self.door = door ?? (tls == nil ? .greetings : .handshakes)
        quota = self.door
        self.loop = loop
        self.onEvent = onEvent
    }

    /// Opens; port 0 lets the kernel choose.
    ///
    /// - Returns: where it listens.
    /// - Throws: ``SystemError`` that names the address, ``TLSError`` about the configuration.
    public func open(_ endpoint: Endpoint) throws -> Endpoint {
        if let tlsConfiguration { tlsContext = try TLSContext(tlsConfiguration) }
        let listener = try StreamListener(on: loop, bind: endpoint, owner: self)
        self.listener?.close()
        self.listener = listener
        return listener.local
    }

    /// Stops listening, and ends all sessions in order.
    public func close() async {
        listener?.close()
        listener = nil
        for greeter in greeters.values { greeter.close() }
        greeters = [:]
        quota = door
        let ending = sessions.values
        sessions = [:]
        origins = [:]
        // All at once, then each is waited for: a task for each of ten thousand would cost more than they do.
        beginClosing(ending)
        for session in ending { await session.close() }
    }

    private func beginClosing(_ ending: [SessionIdentifier: Session].Values) {
        for session in ending { session.assumeIsolated { $0.beginClosing(.endSession) } }
    }

    /// Forgets all sessions as a reboot does: their connections are cut, nothing is said.
    public func forgetSessions() async {
        let forgotten = sessions.values
        sessions = [:]
        origins = [:]
        for session in forgotten { await session.abandon() }
    }

    /// Sessions that are kept now.
    public var sessionCount: Int { sessions.count }

    nonisolated func listener(_ listener: StreamListener, accepted stream: Stream) {
        let bound = LoopBound(stream, on: loop)
        assumeIsolated { $0.accepted(bound.value) }
    }

    nonisolated func listener(_ listener: StreamListener, failed error: SystemError) { onEvent(.failed(error)) }

    private func accepted(_ stream: Stream) {
        if let admits {
            guard let arrival = stream.arrival else { return stream.close() }
            // Nothing is said to it, so that it learns no more than that something listens.
            guard admits(arrival) else { return refuse(stream, "it came by another interface than those that are served") }
        }
        guard !configuration.isPlain else { return beganPlain(stream) }
        // Few of one address, and of one network no more than others leave: nobody keeps the others out by keeping silent.
        switch quota.admit(stream.peer.address) {
        case .refused: refuse(stream, "\(quota.perSource) others from there are at the door")
        case .admitted(let ticket, let displaced):
            if let displaced, let greeter = greeters[displaced] { greeted(greeter, .refused(.transport("displaced by newcomers"))) }
            do throws(TLSError) {
                if let tlsContext { stream.secure(try TLSEngine(tlsContext)) }
                welcome(stream, ticket)
            } catch {
                quota.finish(ticket)
                refuse(stream, "\(error)")
            }
        }
    }

    private func refuse(_ stream: Stream, _ why: String) {
        onEvent(.refused(stream.peer, .transport(why)))
        stream.close()
    }

    private func welcome(_ stream: Stream, _ ticket: DoorQuota.Ticket) {
        let loop = loop
        let greeting = Greeting(configuration, isSecured: tlsContext != nil, now: loop.now)
        let greeter = Greeter(stream, greeting, ticket, layout: configuration.layout) { [weak self] greeter, end in
            let bound = LoopBound((greeter, end), on: loop)
            self?.assumeIsolated { $0.greeted(bound.value.0, bound.value.1) }
        }
        greeters[ticket] = greeter
        greeter.begin()
    }

    private func greeted(_ greeter: Greeter, _ end: Greeter.End) {
        greeters[greeter.ticket] = nil
        quota.finish(greeter.ticket)
        greeter.letGo()
        let stream = greeter.stream
        switch end {
        case .refused(let reason):
            onEvent(.refused(stream.peer, reason))
            stream.close()
        case .welcome(let hello, let version, let rest):
            let owner = stream.peerEvidence?.owner
            if let session = sessions[hello.session] {
                // The name of a session stands in logs; it's no key to it.
                guard origins[hello.session]?.owner == owner else { return refuse(stream, "its session is another operator's") }
                let bound = LoopBound(stream, on: loop)
                note(hello.session, stream)
                session.assumeIsolated { $0.adopt(bound.value, hello, version: version, rest: rest) }
                onEvent(.returned(session, hello, owner: owner))
            } else if makeRoom(for: stream) {
                let session = makeSession(hello.session)
                note(hello.session, stream)
                onEvent(.began(session, hello, owner: owner))
                let bound = LoopBound(stream, on: loop)
                session.assumeIsolated { $0.adopt(bound.value, hello, version: version, rest: rest) }
            } else {
                refuse(stream, "\(sessions.count) sessions are kept already")
            }
        }
    }

    private func beganPlain(_ stream: Stream) {
        guard makeRoom(for: stream) else { return refuse(stream, "\(sessions.count) sessions are kept already") }
        let session = makeSession(.random())
        note(session.identifier, stream)
        onEvent(.plain(session))
        let bound = LoopBound(stream, on: loop)
        session.assumeIsolated { $0.adoptPlain(bound.value) }
    }

    private func note(_ session: SessionIdentifier, _ stream: Stream) {
        adoptions += 1
        origins[session] = (stream.peer.address, adoptions, stream.peerEvidence?.owner)
    }

    /// Room for one more session, by the rules of ``SessionPlaces``.
    private func makeRoom(for stream: Stream) -> Bool {
        if sessions.count < largestSessionCount { return true }
        let all = Array(sessions.values)
        let kept = all.map { session in
            let state = session.assumeIsolated { (since: $0.core.offlineSince, owes: $0.core.pendingMessages > 0) }
            let origin = origins[session.identifier] ?? (.any, 0, nil)
            return SessionPlaces.Kept(source: origin.source, offlineSince: state.since, owes: state.owes, number: origin.number)
        }
        for index in SessionPlaces.giveWay(among: kept, to: stream.peer.address, places: largestSessionCount) {
            all[index].assumeIsolated { $0.abandon() }
        }
        return sessions.count < largestSessionCount
    }

    /// A controller that came back meanwhile may have another session by that name already.
    private func forget(_ ended: Session) {
        guard sessions[ended.identifier] === ended else { return }
        sessions[ended.identifier] = nil
        origins[ended.identifier] = nil
    }

    private func makeSession(_ identifier: SessionIdentifier) -> Session {
        let session = Session(configuration, identifier, loop: loop)
        let faults = faults
        session.assumeIsolated { session in
            session.setFaults(faults)
            session.onEnd = { [weak self] ended in
                self?.assumeIsolated { $0.forget(ended) }
            }
        }
        sessions[identifier] = session
        return session
    }
}

/// A fresh connection until its first frame is judged.
final class Greeter: StreamOwner, TimerHandler {
    enum End {
        case refused(LossReason)
        case welcome(ControllerHello, version: UInt16, rest: [UInt8])
    }

    let stream: Stream
    /// Its place at the door.
    let ticket: DoorQuota.Ticket
    private var greeting: Greeting
    private var decoder: FrameDecoder
    private var timer: TimerToken?
    private var onEnd: ((Greeter, End) -> Void)?

    init(
        _ stream: Stream, _ greeting: Greeting, _ ticket: DoorQuota.Ticket, layout: FrameLayout, onEnd: @escaping (Greeter, End) -> Void
    ) {
        self.stream = stream
        self.greeting = greeting
        self.ticket = ticket
        self.onEnd = onEnd
        decoder = FrameDecoder(layout: layout, limits: FrameLimits(maximumBodyLength: SessionLimits.helloBytes))
    }

    func begin() {
        let timer = stream.loop.addTimer(self)
        stream.loop.setTimer(timer, to: greeting.deadline)
        self.timer = timer
        stream.owner = self
    }

    func close() {
        letGo()
        stream.close()
    }

    /// The connection is somebody else's now, or over.
    func letGo() {
        onEnd = nil
        endTimer()
    }

    func streamOpened(_ stream: Stream) {
        greeting.opened(now: stream.loop.now)
        if let timer { stream.loop.setTimer(timer, to: greeting.deadline) }
    }

    func streamIsWritable(_ stream: Stream) {}
    func streamEnded(_ stream: Stream, _ end: StreamEnd) { finish(.refused(.transport("no hello came: \(end)"))) }
    func timerFired(at now: Instant) { finish(.refused(greeting.overdue)) }

    func stream(_ stream: Stream, received bytes: RawSpan) {
        var step: Greeting.Step?
        do throws(FrameError) {
            let used = try decoder.decode(bytes) { header, body in
                step = greeting.receive(header, body: body)
                return .stop
            }
            guard let step else { return }
            switch step {
            case .welcome(let hello, let version):
                finish(.welcome(hello, version: version, rest: bytes.extracting(droppingFirst: used).withUnsafeBytes { [UInt8]($0) }))
            case .refuse(let reply, let reason):
                _ = stream.write(reply.span.bytes)
                finish(.refused(reason))
            }
        } catch {
            finish(.refused(.badFrame("\(error)")))
        }
    }

    private func finish(_ end: End) {
        endTimer()
        let last = onEnd
        onEnd = nil
        last?(self, end)
    }

    private func endTimer() {
        if let timer { stream.loop.removeTimer(timer) }
        timer = nil
    }
}
