import Glibc
import SocketCore
import Synchronization
import WifiDiscovery

/// What all commands that talk to a router share: the manager over this tool's state, and lines for what its sessions tell.
enum SessionTool {
    static let defaultTimeout = Duration.seconds(30)

    static let timeout = DefaultedOption(
        "timeout", "TIME", .duration, default: defaultTimeout, shown: "30s", "how long to wait for the router")

    static let alone = Flag("alone", "open a session of its own even where an agent keeps one")

    /// How the router's frames look, for every command that opens a session.
    static let framing: [any OptionDeclaration] = [FrameOptions.layout, FrameOptions.limit]

    /// Whether the agent may run a command that talks to a router.
    static let isForAgent: @Sendable (Arguments) -> Bool = { !$0[alone] }

    /// A manager that keeps its state where the tool does, and prints what happens as `session` lines.
    static func manager(
        _ arguments: Arguments, _ context: Context, _ change: (inout RouterManager.Options) -> Void = { _ in },
        onEvent: (@Sendable (SessionSource, SessionEvent) -> Void)? = nil
    ) throws -> RouterManager {
        var options = RouterManager.Options()
        options.home = context.home
        // Only switch moves it: to read a property of another router isn't to move there.
        options.connectingMovesCurrent = false
        // Other commands, and other processes, go on with what a router's journal holds.
        options.keepsSessions = false
        // What most commands do is done when they end; only what is sent has to outlive them: see send.
        options.whenOutboxHeld = .goWithout
        options.failover.policy = .never
        options.discovery = try discovery(context)
        options.trust = try TrustOptions.routerTrust(arguments, context)
        options.allowsUnproven = arguments[TrustOptions.unproven]
        (options.session.client, options.session.layout) = (client, arguments[FrameOptions.layout])
        options.session.maximumBodyLength = FrameOptions.limits(size: arguments[FrameOptions.limit]).maximumBodyLength
        change(&options)
        let output = context.output
        // In the agent a session outlives the command that opened it, whose output it must not write to then.
        if context.pool != nil { return RouterManager(options, onRemark: { output.warning($0) }) }
        return RouterManager(
            options, onEvent: onEvent ?? { source, event in if case .state(let state) = event { print(state, source, output) } },
            onRemark: { output.warning($0) })
    }

    /// What routers are told that they talk to.
    private static var client: String { "\(CommandRegistry.toolName)/\(CommandRegistry.toolVersion)" }

    /// The sessions of commands that only ask routers for their hello.
    static func inquiry(_ arguments: Arguments) -> SessionConfiguration {
        var session = SessionConfiguration(role: .controller)
        (session.client, session.layout) = (client, arguments[FrameOptions.layout])
        return session
    }

    /// What tells the agent's sessions apart beside the router: two commands that differ in it don't share one.
    static func manner(_ manager: RouterManager, _ arguments: Arguments) throws -> String {
        let options = manager.options
        var trust = Hasher()
        // Whoever was talked to before a pin may be the one against whom it was made.
        if let home = options.home {
            for (mac, record) in try TrustState(home: home).load().memory.records.sorted(by: { $0.key < $1.key }) where record.pin != nil {
                trust.combine(mac)
                trust.combine(record.pin)
            }
        }
        trust.combine(options.trust.enterprise)
        for file in options.trust.roots + options.trust.revocationLists { trust.combine(file.bytes) }
        let discovery = "\(options.discovery.interfaces) \(options.discovery.port) \(options.discovery.group.map { "\($0)" } ?? "-")"
        let session = "\(options.session.layout) \(options.session.maximumBodyLength)"
        return "\(discovery) \(session) \(trust.finalize()) \(arguments[TrustOptions.identity] ?? "-") \(options.allowsUnproven)"
    }

    /// Where the common options say to look.
    static func discovery(_ context: Context) throws -> RouterDiscovery.Options {
        var options = RouterDiscovery.Options()
        options.interfaces = context.interfaces
        options.port = context.port ?? options.port
        options.group = try context.groupAddress()
        return options
    }

    /// A `session` line, or a remark for a person.
    static func print(_ state: SessionState, _ source: SessionSource, _ output: Output) {
        let (word, attempt, remark) = describe(state)
        guard output.isJSON else { return output.detail("session with \(source.mac): \(remark)") }
        output.json(
            "session",
            [
                "state": .string(word), "mac": .string("\(source.mac)"), "session": .string("\(source.session)"),
                "boot": .text(source.boot), "address": .text(source.peer?.text), "attempt": .whole(attempt),
                "detail": .string(remark),
            ])
    }

    /// The same of a plain device, which tells no MAC: `name` is what the user calls it, `peer` where it was reached last.
    static func print(
        _ state: SessionState, ofPlain session: SessionIdentifier, _ name: String, at peer: Endpoint?, _ output: Output
    ) {
        let (word, attempt, remark) = describe(state)
        guard output.isJSON else { return output.detail("session with \(name): \(remark)") }
        output.json(
            "session",
            [
                "state": .string(word), "mac": .null, "session": .string("\(session)"), "boot": .null,
                "address": .text(peer?.text), "attempt": .whole(attempt), "detail": .string(remark),
            ])
    }

    /// In the agent the session was there before the command, and stays: told is that it's open, and then what happens to it until
    /// `stopTelling`.
    static func tell(of connection: RouterConnection, _ context: Context) async -> RouterConnection.Observation? {
        guard context.pool != nil else { return nil }
        let output = context.output
        let opening = await connection.session.opening
        let source = SessionSource(connection.mac, connection.session.identifier, opening)
        if let opening { print(.open(opening), source, output) }
        return await connection.observe { if case .state(let state) = $0 { print(state, source, output) } }
    }

    /// The command is over: nothing is written to its output any more.
    static func stopTelling(of connection: RouterConnection, _ observation: RouterConnection.Observation?) async {
        if let observation { await connection.stopObserving(observation) }
    }

    /// The state's word, and what there is to say of it.
    static func describe(_ state: SessionState) -> (word: String, attempt: Int?, remark: String) {
        switch state {
        case .connecting(let attempt): ("connecting", attempt, "connecting, try \(attempt)")
        case .open(let opening):
            ("open", nil, "open" + at(opening) + (opening.memoryLost ? "; the router has forgotten the earlier session" : ""))
        case .resumed(let opening): ("resumed", nil, "resumed" + at(opening))
        case .lost(let reason): ("lost", nil, "lost" + why(reason))
        case .reconnecting(let attempt, let after): ("reconnecting", attempt, "trying again in \(after.briefText)")
        case .suspended: ("suspended", nil, "suspended")
        case .closed(let reason): ("closed", nil, "closed" + why(reason))
        }
    }

    private static func at(_ opening: SessionOpening) -> String { opening.peer.map { " at \($0.text)" } ?? "" }

    /// Where the reason says more than that it was wished for.
    private static func why(_ reason: LossReason) -> String { reason == .closed ? "" : ": \(reason)" }

    /// A `message` line.
    static func print(_ message: InboundMessage, _ output: Output) {
        let text = String(validating: message.body, as: UTF8.self)
        guard output.isJSON else {
            return output.line(text.map { DisplayWidth.printable($0) } ?? Hex.text(message.body))
        }
        output.json(
            "message",
            [
                "msgId": .whole(message.msgId), "version": .whole(message.version), "len": .whole(message.body.count),
                "body": .hex(message.body), "text": .text(text),
            ])
    }

    /// Opens a session with a router and gives it to `body`; in the end what is unsettled stays for the next run. In the agent the session
    /// may be there already, and stays.
    ///
    /// - Parameters:
    ///   - limit: how long all of it may take.
    ///   - boundsOpening: only the opening is meant; `body` has a limit of its own.
    static func withRouter(
        _ reference: String, _ arguments: Arguments, _ context: Context, within limit: Duration, boundsOpening: Bool = false,
        _ body: @Sendable @escaping (RouterConnection) async throws -> ExitStatus
    ) async throws -> ExitStatus {
        let manager = try manager(arguments, context)
        let hasOpened = Atomic(false)
        let opened: @Sendable () async throws -> RouterConnection = { [pool = context.pool] in
            guard let pool else { return try await manager.connect(to: reference) }
            return try await pool.connection(reference, try manner(manager, arguments)) { manager }
        }
        let work: @Sendable (RouterConnection) async throws -> ExitStatus = { connection in
            let telling = await tell(of: connection, context)
            let result: Result<ExitStatus, any Error>
            do { result = .success(try await body(connection)) } catch { result = .failure(error) }
            await stopTelling(of: connection, telling)
            do { return try result.get() } catch let error as CommandError { throw await explained(error, connection) }
        }
        return try await ending(manager, context) {
            let end = ContinuousClock.now + limit
            if boundsOpening {
                if let connection = try await withDeadline({ end }, opened) { return try await work(connection) }
            } else {
                let result = try await withDeadline({ end }) {
                    let connection = try await opened()
                    hasOpened.store(true, ordering: .relaxed)
                    return try await work(connection)
                }
                if let result { return result }
            }
            if !hasOpened.load(ordering: .relaxed), let silent = try await unheard(reference, manager, context) {
                throw ManagerError.notAnswering(silent)
            }
            throw ToolError(
                "no result from \(reference) within \(limit.briefText)",
                hint: "is it reachable? see wifictl discover, or give it more with --timeout")
        }
    }

    /// The known router that is named, if nothing has been heard of it in this run: the search for it may take longer than the time it had.
    private static func unheard(_ reference: String, _ manager: RouterManager, _ context: Context) async throws -> KnownRouter? {
        guard case .found(let known) = try RouterDirectory(home: context.home).load().find(RouterReference(reference)) else { return nil }
        let listed = try await manager.routers.first { $0.mac == known.router.mac }
        return listed?.router.presence == .remembered ? known : nil
    }

    /// An error of a command with the router that it is about, and where a name is wrong, the names that there are.
    private static func explained(_ error: CommandError, _ connection: RouterConnection) async -> ToolError {
        var names: [String] = []
        switch error {
        case .refused(let fault) where fault.code == "unknownProperty":
            names = await known(connection).map { $0.properties.keys.sorted() } ?? []
        case .notPossible(_, .noProperty): names = await known(connection).map { $0.properties.keys.sorted() } ?? []
        case .refused(let fault) where fault.code == "unknownStream": names = await known(connection).map { $0.streams.keys.sorted() } ?? []
        case .notPossible(_, .noStream): names = await known(connection).map { $0.streams.keys.sorted() } ?? []
        default: break
        }
        return ToolError("\(connection.mac): \(error)", hint: names.isEmpty ? nil : "it has \(names.prefix(12).joined(separator: ", "))")
    }

    /// What the router says it can do. Where it doesn't say, the error stands without advice.
    private static func known(_ connection: RouterConnection) async -> DeviceCapabilities? { try? await connection.capabilities() }

    /// Runs `body` and closes the manager behind it, unless the agent keeps its session.
    static func ending(
        _ manager: RouterManager, _ context: Context, _ body: () async throws -> ExitStatus
    ) async throws -> ExitStatus {
        guard context.pool == nil else { return try await body() }
        do {
            let status = try await body()
            await manager.close()
            return status
        } catch {
            await manager.close()
            throw error
        }
    }

    /// Runs `body` and cancels it when the time is over, which `end` may have put off by then; nil in that case.
    static func withDeadline<Result: Sendable>(
        _ end: @Sendable @escaping () async -> ContinuousClock.Instant, _ body: @Sendable @escaping () async throws -> Result
    ) async throws -> Result? {
        let (results, continuation) = AsyncThrowingStream<Result?, any Error>.makeStream()
        let work = Task(executorPreference: EventLoop.shared) {
            do { continuation.yield(try await body()) } catch { continuation.finish(throwing: error) }
        }
        let clock = Task {
            while case let end = await end(), end > .now { try await Task.sleep(until: end) }
            continuation.yield(nil)
        }
        defer {
            work.cancel()
            clock.cancel()
        }
        for try await result in results { return result }
        throw CancellationError()
    }
}
