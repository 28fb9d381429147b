import FrameCodec
import SocketCore
import WifiDiscovery

/// `send ROUTER BODY…`: bodies to a router, each with its outcome.
extension Command {
    private static let file = Option("file", "F", .path, "send the whole of this file as one body, after the others")
    private static let stdin = Flag("stdin", "send each line of standard input as a body, after the others")
    private static let noReceipt = Flag("no-receipt", "fire and forget: don't ask for receipts")
    private static let expectReply = Flag("expect-reply", "wait for an answer (with \"re\") to each body as well")
    private static let plain = Flag("plain", "the device speaks bare frames: no hello, no receipts; ROUTER is its address:port")

    static let send = Command(
        name: "send", summary: "sends messages to a router and says what became of each", positionals: ["ROUTER", "[BODY...]"],
        discussion: """
            Opens a session, or resumes the one of an earlier run, sends the bodies and waits for their receipts. Without bodies it \
            only settles what an earlier run left unsettled. A message that was accepted outlives this process: what isn't settled \
            in time stays in the router's outbox, and the next send goes on with it. The time of --timeout stands still while \
            standard input is waited for.
            """,
        options: [
            file, stdin, noReceipt, expectReply, SessionTool.timeout, plain, FrameOptions.layout, FrameOptions.limit, SessionTool.alone,
        ]
            + TrustOptions.talking,
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
        let manager = try SessionTool.manager(arguments, context) { options in
            options.session.isPlain = isPlain
            options.session.layout = arguments[FrameOptions.layout]
            options.session.maximumBodyLength = FrameOptions.limits(size: arguments[FrameOptions.limit]).maximumBodyLength
        }
        if let pool = context.pool, let run = try await runOverHeld(reference, manager, pool, arguments, context) {
            return try await send(run, arguments, context)
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
            let target = try await manager.locate(reference)
            mac = target.mac
            session = try await manager.makeSession(target)
            await manager.keepCurrent(target.mac, moves: false)
        }
        let run = SendRun(
            session, mac: mac, context.output, wantsReceipt: !arguments[noReceipt] && !isPlain, expectsReplies: arguments[expectReply])
        return try await send(run, arguments, context)
    }

    /// In the agent, over the session that it keeps; nil when none can be opened now: what is sent is kept then.
    private static func runOverHeld(
        _ reference: String, _ manager: RouterManager, _ pool: SessionPool, _ arguments: Arguments, _ context: Context
    ) async throws -> SendRun? {
        let connection: RouterConnection
        do {
            connection = try await pool.connection(reference, SessionTool.manner(manager, arguments)) { manager }
        } catch ManagerError.notOpened(let mac, _, let reason) {
            context.output.detail("no session with \(mac) yet: \(reason)")
            return nil
        }
        return SendRun(
            connection.session, mac: connection.mac, context.output, wantsReceipt: !arguments[noReceipt],
            expectsReplies: arguments[expectReply], kept: connection)
    }

    private static func send(_ run: SendRun, _ arguments: Arguments, _ context: Context) async throws -> ExitStatus {
        let limit = arguments[SessionTool.timeout]
        await run.begin(takesOver: arguments.positionals.count < 2 && !arguments.isGiven(file))
        var isInTime = true
        do {
            let bodies = SendBodies(
                words: Array(arguments.positionals.dropFirst()), takesLines: arguments[stdin], file: arguments[file],
                patience: limit, context.cancellation)
            try await bodies.send(over: run)
        } catch is SendBodies.TimeIsUp {
            isInTime = false
        } catch {
            await run.end()
            throw error
        }
        // Seen before closing: what isn't settled by then stays for the next run.
        let counts = await run.counts
        let (isDelivered, missing, unaccepted) = (await run.allDelivered, await run.repliesMissing, await run.unaccepted)
        let refusal = await run.refusal
        await run.end()
        if let refusal {
            let kept = counts.unsettled == 0 ? nil : "\(counts.unsettled) messages are kept for the next send"
            throw ToolError("no session: \(refusal)", hint: kept)
        }
        summarise(counts, missing, isInTime: isInTime, limit, context.output)
        if let unaccepted {
            context.output.warning("body \(unaccepted) wasn't accepted within \(limit.briefText): send it and what follows it again")
        }
        return isDelivered ? .success : .negative
    }

    private static func summarise(_ counts: SendRun.Counts, _ missing: Int, isInTime: Bool, _ limit: Duration, _ output: Output) {
        let number = { (result: MessageResult) in counts.outcomes[result, default: 0] }
        if output.isJSON {
            output.json(
                "summary",
                [
                    "accepted": .whole(counts.accepted), "restored": .whole(counts.restored), "delivered": .whole(number(.delivered)),
                    "notSent": .whole(number(.notSent)), "unknown": .whole(number(.unknown)), "cancelled": .whole(number(.cancelled)),
                    "unsettled": .whole(counts.unsettled), "resends": .whole(counts.resends), "received": .whole(counts.received),
                    "repliesMissing": .whole(missing), "timedOut": .bool(!isInTime),
                ])
        } else {
            let parts = [
                (counts.accepted, "accepted"), (counts.restored, "restored"), (number(.delivered), "delivered"),
                (number(.unknown), "written without receipt"), (number(.notSent), "not sent"), (counts.resends, "resends"),
                (counts.received, "received"),
            ]
            output.remark(parts.filter { $0.0 > 0 || $0.1 == "delivered" }.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
        }
        guard !isInTime else { return }
        if counts.unsettled > 0 {
            output.warning(
                "\(counts.unsettled) messages got no receipt within \(limit.briefText); they are kept: run send again to settle them")
        }
        if missing > 0 { output.warning("\(missing) answers didn't come within \(limit.briefText)") }
    }
}
