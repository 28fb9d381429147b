import Glibc
import SocketCore

/// A router on this machine: answers probes, serves sessions, and speaks the sample vocabulary; with faults on demand.
///
/// For tests, for demonstrations, and for whoever develops an app before the hardware is there.
public actor SimulatedRouter {
    /// What it is and how it misbehaves.
    public struct Options: Sendable {
        /// What it says about itself; `tcp` and `boot` are filled in.
        public var description: RouterDescription
        /// Where it listens for sessions; port 0 lets the kernel choose. Whatever the address, connections are taken over the interfaces
        /// alone that its responder is given, where it is given any.
        public var endpoint: Endpoint
        /// Its Wi-Fi name for the sample vocabulary; nil takes the first radio's.
        public var ssid: String?
        /// Session settings; role, identity and versions are filled in.
        public var session = SessionConfiguration(role: .router)
        /// Faults of its replies.
        public var replyFaults = ReplyFaults()
        /// Faults of its connections.
        public var linkFaults = LinkFaults.Options()
        /// How it speaks TLS; nil speaks in the clear.
        public var tls: TLSConfiguration?
        /// Drops the connection after each so many new messages; nil for never.
        public var closeAfter: Int?
        /// Bodies of another vocabulary, as a device of another firmware has: made the sample one's when they come in, and back when they
        /// leave. nil speaks the sample vocabulary itself.
        public var translation: (incoming: @Sendable ([UInt8]) -> [UInt8], outgoing: @Sendable ([UInt8]) -> [UInt8])?

        /// A router.
        public init(_ description: RouterDescription, listen endpoint: Endpoint) {
            self.description = description
            self.endpoint = endpoint
        }
    }

    /// What happened, for logs.
    public enum Event: Sendable {
        /// It listens there.
        case listening(RouterDescription, Endpoint)
        /// A hello came; `resumed` when the session was known.
        case hello(ControllerHello, operator: String?, resumed: Bool)
        /// A message was taken.
        case message(SessionIdentifier, InboundMessage)
        /// A message of its own was settled, or ended otherwise.
        case outcome(SessionIdentifier, MessageOutcome)
        /// A connection ended.
        case closed(SessionIdentifier, LossReason)
        /// A stranger was turned away at the door.
        case refused(Endpoint, LossReason)
        /// Accepting failed; it goes on.
        case failed(String)
        /// It rebooted.
        case rebooted(HexToken)
    }

    /// From the answer to the reboot: long enough for the answer to leave.
    private static let rebootDelay = Duration.milliseconds(100)

    /// The loop that it runs on.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// What it says about itself now.
    public private(set) var description: RouterDescription
    private var options: Options
    private let responder: RouterResponder
    private let onEvent: @Sendable (Event) -> Void
    private var device: SampleDevice
    private var listener: SessionListener?
    private var sessions: [SessionIdentifier: Session] = [:]
    private var messagesTaken = 0

    /// A router that isn't started yet.
    ///
    /// - Parameters:
    ///   - options: who it is and what it does wrong.
    ///   - responder: what answers probes for it.
    ///   - onEvent: called on the loop's thread.
    public init(_ options: Options, responder: RouterResponder, onEvent: @escaping @Sendable (Event) -> Void = { _ in }) {
        self.options = options
        self.responder = responder
        self.onEvent = onEvent
        loop = responder.loop
        description = options.description
        description.tls = options.tls != nil
        device = SimulatedRouter.makeDevice(options)
    }

    /// Listens and appears on the network.
    ///
    /// - Throws: `SystemError` when the TCP port can't be had, `TLSError` about the TLS configuration.
    public func start() async throws {
        let local = try await boot(at: options.endpoint)
        options.endpoint.port = local.port
        await responder.add(description, faults: options.replyFaults)
        onEvent(.listening(description, local))
    }

    /// Listens anew with another boot: whatever sessions there were are forgotten.
    private func boot(at endpoint: Endpoint) async throws -> Endpoint {
        var source = SystemRandomNumberGenerator()
        let boot = HexToken(source.next())
        var configuration = options.session
        configuration.versions = description.versions
        configuration.identity = RouterIdentity(
            boot: boot.description, mac: description.mac.description, name: description.name, model: description.model,
            firmware: description.firmware, children: description.children.map(\.description))
        let listener = SessionListener(
            configuration, faults: options.linkFaults, tls: options.tls, admits: responder.admission, loop: loop
        ) { [weak self] event in
            self?.assumeIsolated { $0.happened(event) }
        }
        let local = try await listener.open(endpoint)
        self.listener = listener
        description.boot = boot
        description.tcp = local.port
        return local
    }

    /// Starts anew as after a power cut: connections are cut, sessions forgotten, the boot is another one.
    ///
    /// - Throws: `SystemError` when its port was taken meanwhile.
    public func reboot() async throws {
        let old = listener
        sessions = [:]
        await old?.forgetSessions()
        await old?.close()
        device = SimulatedRouter.makeDevice(options)
        _ = try await boot(at: options.endpoint)
        await responder.update(description)
        if let boot = description.boot { onEvent(.rebooted(boot)) }
    }

    /// Goes on at another TCP port, as a router that gets another address: its sessions stay.
    ///
    /// - Returns: where it listens now; connections that stand are cut.
    /// - Throws: `SystemError` when the place can't be had; it listens where it did then.
    @discardableResult
    public func move(to endpoint: Endpoint) async throws -> Endpoint {
        guard let listener else { throw SystemError(function: "listen", code: ENOTCONN, subject: "\(endpoint)") }
        let local = try await listener.open(endpoint)
        options.endpoint = local
        description.tcp = local.port
        await responder.update(description)
        for session in sessions.values { await session.dropConnection() }
        onEvent(.listening(description, local))
        return local
    }

    private static func makeDevice(_ options: Options) -> SampleDevice {
        SampleDevice(
            mac: options.description.mac.description, ssid: options.ssid ?? options.description.radios.first?.ssid ?? "Home")
    }

    /// Says goodbye and ends its sessions in order.
    public func stop() async {
        await responder.remove(description.mac)
        await listener?.close()
        sessions = [:]
    }

    /// Changes a property from within; subscribers are told.
    public func change(_ property: String, to value: JSONValue) { perform(device.change(property, to: value)) }

    // MARK: Sessions

    private func happened(_ event: SessionListener.Event) {
        switch event {
        case .began(let session, let hello, let owner):
            onEvent(.hello(hello, operator: owner, resumed: false))
            serve(session)
        case .returned(_, let hello, let owner): onEvent(.hello(hello, operator: owner, resumed: true))
        case .plain(let session): serve(session)
        case .refused(let peer, let reason): onEvent(.refused(peer, reason))
        case .failed(let error): onEvent(.failed("\(error)"))
        }
    }

    private func serve(_ session: Session) {
        sessions[session.identifier] = session
        session.assumeIsolated { $0.attend(by: self) }
    }

    fileprivate func ended(_ session: Session) {
        device.forget(session.identifier)
        if sessions[session.identifier] === session { sessions[session.identifier] = nil }
    }

    fileprivate func handle(_ event: SessionEvent, of session: Session) {
        switch event {
        case .message(let message):
            onEvent(.message(session.identifier, message))
            messagesTaken += 1
            if !options.session.isPlain {
                let body = options.translation?.incoming(message.body) ?? message.body
                perform(device.receive(body, msgId: message.msgId, from: session.identifier))
            }
            if let limit = options.closeAfter, messagesTaken % limit == 0 { session.assumeIsolated { $0.dropConnection() } }
        case .outcome(let outcome): onEvent(.outcome(session.identifier, outcome))
        case .state(.lost(let reason)): onEvent(.closed(session.identifier, reason))
        case .state, .writable, .journal: break
        }
    }

    private func perform(_ step: SampleDevice.Step) {
        for message in step.messages {
            guard let session = sessions[message.to] else { continue }
            do {
                let body = options.translation?.outgoing(message.body) ?? message.body
                _ = try session.assumeIsolated { try $0.offer(body) }
            } catch {
                // The controller has been away for a thousand answers, or its session is closing: it will ask again.
                onEvent(.closed(message.to, .transport("an answer couldn't be kept: \(error)")))
            }
        }
        guard step.reboots else { return }
        Task(executorPreference: loop) {
            // A cancelled sleep only reboots sooner.
            try? await Task.sleep(for: SimulatedRouter.rebootDelay)
            do { try await self.reboot() } catch { self.onEvent(.failed("\(error)")) }
        }
    }
}

extension SimulatedRouter: SessionAttendant {
    /// See `SessionAttendant`.
    public nonisolated func session(_ session: Session, happened events: [SessionEvent]) {
        assumeIsolated { router in for event in events { router.handle(event, of: session) } }
    }

    /// See `SessionAttendant`.
    public nonisolated func sessionEnded(_ session: Session) { assumeIsolated { $0.ended(session) } }
}
