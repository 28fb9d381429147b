import FrameCodec
import SocketCore
import WifiDiscovery

/// `send ROUTER BODY…`: bodies to a router, each with its outcome.
extension Command {
    private static let file = Option("file", "F", .path, "send the whole of this file as one body, after the others")
    private static let stdin = Flag("stdin", "send each line of standard input that isn't empty as a body, after the others")
    private static let noReceipt = Flag("no-receipt", "fire and forget: don't ask for receipts")
    private static let expectReply = Flag("expect-reply", "wait for an answer (with \"re\") to each body as well")
    private static let plain = Flag("plain", "the device speaks bare frames: no hello, no receipts; ROUTER is its address:port")

    static let send = Command(
        name: "send", summary: "sends messages to a router and says what became of each", positionals: ["ROUTER", "[BODY...]"],
        discussion: """
            Opens a session, or resumes the one of an earlier run, sends the bodies and waits for their receipts. Without bodies it \
            only settles what earlier runs left unsettled. A message that was accepted outlives this process: what isn't settled \
            in time stays in the router's outbox, and the next send goes on with it. A known router that doesn't answer is dialled \
            where it was last, and messages for it are kept. With --stdin, --file - and --plain it isn't run by an agent but opens a \
            session of its own, whose messages have no order with the agent's: standard input is this process's own, and a plain device's \
            session keeps nothing for others. Where others hold all journals of the router, one is waited for, as long as \
            --timeout says. The time of --timeout begins anew with whatever \
            comes from the router, and stands still while standard input is waited for.
            """,
        options: [
            file, stdin, noReceipt, expectReply, SessionTool.timeout, plain, SessionTool.alone,
        ]
            + SessionTool.framing + TrustOptions.talking,
        // Standard input is its process's own.
        isForAgent: { !$0[SessionTool.alone] && !$0[stdin] && !$0[plain] && $0[file] != "-" },
        examples: [
            Example("wifictl send Attic '{\"op\":\"reboot\"}' --expect-reply", "one message, and the router's answer"),
            Example("wifictl send 02:00:5e:00:53:01 --stdin < lines.txt --json", "a body a line, a JSON line for each thing that happens"),
            Example("wifictl send current", "settles what an earlier run left unsettled"),
        ]
    ) { arguments, context in
        let isPlain = arguments[plain]
        let reference = try arguments.required(0, "ROUTER")
        guard arguments.positionals.count > 1 || !isPlain || arguments.isGiven(file) || arguments[stdin] else {
            throw UsageError("BODY is missing", hint: "a plain device keeps no session that could be settled")
        }
        guard !arguments[expectReply] || !arguments[noReceipt] && !isPlain else {
            throw UsageError(
                "--expect-reply needs ids, which \(isPlain ? "a plain device doesn't answer by" : "--no-receipt leaves out")",
                hint: "leave one of the two out")
        }
        let manager = try SessionTool.manager(arguments, context) { options in
            options.session.isPlain = isPlain
            // What asks for no receipt is kept nowhere in any case.
            if !arguments[noReceipt] { options.whenOutboxHeld = .wait(atMost: arguments[SessionTool.timeout]) }
        }
        var place: SwitchCore.Target?
        if let pool = context.pool {
            do {
                if let run = try await runOverHeld(reference, manager, pool, arguments, context) {
                    return try await send(run, SendLeftovers(manager, at: nil, context), arguments, context)
                }
            } catch ManagerError.notAnswering(let known) {
                let last = manager.lastPlace(of: known)
                place = last
                context.output.warning("\(known.router.mac) doesn't answer; it's dialled where it was, \(last.session)")
            }
        }
        let session: Session
        var mac: MACAddress?
        if isPlain, case .address(let address, let port) = RouterReference(reference) {
            guard !manager.options.trust.hasRoot || arguments[TrustOptions.unproven] else {
                throw ToolError(
                    "\(reference) can't prove to be the company's: a plain device speaks no TLS",
                    hint: "--unproven talks to it all the same")
            }
            var configuration = manager.options.session
            configuration.isPlain = true
            session = Session(to: Endpoint(address, port: port ?? RouterDiscovery.Options().port), configuration)
        } else {
            let target: SwitchCore.Target
            if let place { target = place } else { target = try await manager.whereabouts(reference) }
            place = target
            mac = target.mac
            session = try await manager.makeSession(target)
        }
        let run = SendRun(
            session, mac: mac, context.output, wantsReceipt: !arguments[noReceipt] && !isPlain, expectsReplies: arguments[expectReply],
            name: reference
        ) { [mac] in
            // Not before it has stood: a router that was refused is nobody's current one.
            if let mac { await manager.keepCurrent(mac, opening: await session.opening, moves: false) }
        }
        return try await send(run, SendLeftovers(manager, at: place, context), arguments, context)
    }

    /// In the agent, over the session that it keeps; nil when none can be opened now: what is sent is kept then.
    private static func runOverHeld(
        _ reference: String, _ manager: RouterManager, _ pool: SessionPool, _ arguments: Arguments, _ context: Context
    ) async throws -> SendRun? {
        let connection: RouterConnection
        do {
            connection = try await pool.connection(reference, try SessionTool.manner(manager, arguments)) { manager }
        } catch ManagerError.notOpened(let mac, _, let reason) {
            context.output.detail("no session with \(mac) yet: \(reason)")
            return nil
        }
        // One that was opened for something else while all journals were held keeps nothing.
        guard connection.session.keepsJournal || arguments[noReceipt] else { return nil }
        let (session, output) = (connection.session, context.output)
        if let opening = await session.opening {
            SessionTool.print(.open(opening), SessionSource(connection.mac, session.identifier, opening), output)
        }
        return SendRun(
            connection.session, mac: connection.mac, context.output, wantsReceipt: !arguments[noReceipt],
            expectsReplies: arguments[expectReply], kept: connection)
    }

    private static func send(
        _ run: SendRun, _ leftovers: SendLeftovers, _ arguments: Arguments, _ context: Context
    ) async throws -> ExitStatus {
        await run.begin()
        let bodies = SendBodies(
            words: Array(arguments.positionals.dropFirst()), takesLines: arguments[stdin], file: arguments[file],
            largest: FrameOptions.limits(size: arguments[FrameOptions.limit]).maximumBodyLength,
            patience: arguments[SessionTool.timeout], context.cancellation)
        var timeIsUp = false
        var failure: (any Error)?
        do { try await bodies.send(over: run) } catch is SendBodies.TimeIsUp { timeIsUp = true } catch { failure = error }
        if failure == nil, !timeIsUp, !run.isRefused.isRaised, let mac = run.mac {
            do { timeIsUp = try await !leftovers.settle(of: mac, patience: arguments[SessionTool.timeout]) } catch { failure = error }
        }
        let summary = await SendSummary(ending: run, leftovers, timeIsUp: timeIsUp, patience: arguments[SessionTool.timeout])
        summary.show(context.output)
        if let failure { throw failure }
        if let refusal = await run.refusal { throw ToolError("no session: \(refusal)") }
        return summary.isDelivered ? .success : .negative
    }
}
