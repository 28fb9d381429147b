import Glibc
import SocketCore
import WifiDiscovery

/// `agent start | run | stop | status`: a process that keeps sessions open between commands.
extension Command {
    private static let idle = DefaultedOption(
        "idle", "TIME", .duration, default: Duration.seconds(1_800), shown: "30m", "end after that long without a command")

    private static let about = """
        Commands that talk to a router (get, set, read, send, switch) are run by the agent of their state directory where there is \
        one: a script of a hundred commands makes one session then and not a hundred. The agent listens on a socket in the state \
        directory that its owner alone may use. Without it, or with --alone, each command opens and closes a session of its own, and so do \
        send with --stdin, --file - or --plain, and read into a pipe, whose ends are their process's. \
        docs/agent.md tells the rest.
        """

    static let agentStart = Command(
        name: "agent start", summary: "keeps sessions open between commands, in the background", discussion: about, options: [idle],
        usesNetwork: false, examples: [Example("wifictl agent start --idle 10m", "returns as soon as commands can use it")]
    ) { arguments, context in
        let words = ["agent", "run", "--home", try absolute(context.home), "--idle", "\(arguments[idle].inNanoseconds / 1_000_000)ms"]
        let child = try BackgroundProcess.start(words)
        switch child.firstLine() {
        case let line? where line.hasPrefix("listening"):
            tell("the agent runs as process \(child.number) (wifictl agent stop ends it)", process: child.number, context)
            return .success
        case let line?:
            let own = "\(CommandRegistry.toolName): "
            throw ToolError("the agent doesn't start: \(line.hasPrefix(own) ? String(line.dropFirst(own.count)) : line)")
        case nil: throw ToolError("the agent doesn't start", hint: "wifictl agent run shows why")
        }
    }

    static let agentRun = Command(
        name: "agent run", summary: "keeps sessions open between commands, in the foreground: for a service manager", discussion: about,
        options: [idle], usesNetwork: false,
        interruption: .asksCommand, isService: true, examples: [Example("wifictl agent run --verbose", "says what it runs; Ctrl-C ends it")]
    ) { arguments, context in
        // Of its own: ended by agent stop, or idle, it hasn't been interrupted.
        let stop = CancellationSignal()
        context.cancellation.onRaise { stop.raise(.interrupt) }
        let home = try absolute(context.home)
        let pool = SessionPool(home: home, stop: stop)
        let output = context.output
        try StateFile(directory: home).makeDirectory()
        let listener: LocalListener
        do throws(SystemError) {
            listener = try await LocalListener.open(AgentWire.path(home: home)) { output.warning("\($0)") }
        } catch {
            switch error.code {
            case EADDRINUSE: throw ToolError("an agent runs already for \(context.home)", hint: "wifictl agent stop ends it")
            case ENAMETOOLONG: throw ToolError("\(context.home) is too long a path for a socket", hint: "name a shorter one with --home")
            default: throw ToolError("its socket can't be in \(home): \(error.reason)", hint: "name a directory of your own with --home")
            }
        }
        // It may live long: it mustn't keep the file system busy on which it happened to be started.
        _ = chdir("/")
        let path = AgentWire.path(home: home)
        output.isJSON ? output.json("listening", ["path": .string(path)]) : output.line("listening on \(path)")
        await AgentServer(pool: pool, output: output).run(listener, idle: arguments[idle], stop: stop)
        return .success
    }

    static let agentStop = Command(
        name: "agent stop", summary: "ends the agent and waits for its end; what is unsettled is kept", usesNetwork: false,
        interruption: .asksCommand, examples: [Example("wifictl agent stop", "exit status 1 when none runs")]
    ) { _, context in
        guard try await AgentClient.stop(home: context.home, context.output, context.cancellation) else { return none(context) }
        // Interrupted, it was told to end all the same, but nobody knows yet that it has.
        guard !context.cancellation.isRaised else { return .interrupted }
        tell("the agent has ended", process: nil, context)
        return .success
    }

    static let agentStatus = Command(
        name: "agent status", summary: "shows the sessions that the agent keeps", usesNetwork: false, isForAgent: { _ in true },
        examples: [Example("wifictl agent status", "exit status 1 when no agent runs")]
    ) { _, context in
        // Of another version it has refused the command, and the refusal was told.
        guard let pool = context.pool else { return none(context, "of version \(CommandRegistry.toolVersion) ") }
        let accounts = await pool.accounts()
        tell(accounts.isEmpty ? "the agent runs; no session is open yet" : nil, process: getpid(), context)
        show(accounts, context.output)
        return .success
    }

    private static func none(_ context: Context, _ kind: String = "") -> ExitStatus {
        tell("no agent \(kind)runs for \(context.home) (wifictl agent start starts one)", process: nil, context)
        return .negative
    }

    /// Whether an agent runs: as a line of JSON, or, if there's something to say, as a remark.
    private static func tell(_ remark: String?, process: pid_t?, _ context: Context) {
        guard context.output.isJSON else { return remark.map { context.output.remark($0) } ?? () }
        context.output.json(
            "agent",
            [
                "running": .bool(process != nil), "process": .whole(process.map(Int.init)),
                "path": .string(AgentWire.path(home: context.home)),
            ])
    }

    private static func show(_ accounts: [SessionPool.Account], _ output: Output) {
        if output.isJSON {
            for account in accounts {
                output.json(
                    "held",
                    [
                        "mac": .string("\(account.mac)"), "session": .string("\(account.session)"), "open": .bool(account.isOpen),
                        "commands": .whole(account.uses), "idleMs": .milliseconds(account.idle),
                    ])
            }
            return
        }
        guard !accounts.isEmpty else { return }
        var table = Table([
            Table.Column("ROUTER"), Table.Column("SESSION", least: 8), Table.Column("STATE"), Table.Column("COMMANDS"),
            Table.Column("IDLE"),
        ])
        for account in accounts {
            table.add([
                Table.Cell("\(account.mac)"), Table.Cell("\(account.session)"),
                Table.Cell(account.isOpen ? "open" : "lost, dialling", account.isOpen ? .green : .yellow), Table.Cell("\(account.uses)"),
                Table.Cell(account.idle.briefText),
            ])
        }
        output.table(table)
    }

    private static func absolute(_ path: String) throws -> String {
        if path.hasPrefix("/") { return path }
        guard let directory = getcwd(nil, 0) else { throw ToolError("the current directory is gone", hint: "change to another one") }
        defer { free(directory) }
        return "\(String(cString: directory))/\(path)"
    }
}
