import Glibc
import WifiDiscovery

/// Runs one command line from its words to its exit status.
struct Runner {
    let cancellation: CancellationSignal
    var target = OutputTarget.standard
    /// The variables of the command's own process.
    var environment: @Sendable (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
    /// In the agent: the sessions that it keeps.
    var pool: SessionPool?

    func run(_ words: [String]) async -> ExitStatus {
        do {
            switch try CommandRegistry.invocation(of: words) {
            case .version:
                return printed("\(CommandRegistry.toolName) \(CommandRegistry.toolVersion)")
            case .help(let command):
                return printed(help.render(command))
            case .familyHelp(let family):
                return printed(help.render(family: family))
            case .complete(let words):
                return printed(CompletionRun.answer(words) { option in try? Context.home(option, environment) })
            case .run(let command, let arguments):
                return await run(command, arguments, words)
            }
        } catch {
            Output(mode: .text, verbosity: .normal, to: target).fail(error.description)
            return .usage
        }
    }

    private var help: HelpText { HelpText(width: Terminal.width(of: STDOUT_FILENO) ?? 80) }

    private func printed(_ text: String) -> ExitStatus {
        let output = Output(mode: .text, verbosity: .normal)
        output.onClose { exit(ending($0, .success, output, isService: false).rawValue) }
        output.line(text)
        return .success
    }

    private func run(_ command: Command, _ arguments: Arguments, _ words: [String]) async -> ExitStatus {
        let output = Output(
            mode: arguments[CommonOptions.json] ? .json : .text,
            verbosity: arguments[CommonOptions.quiet] ? .quiet : arguments[CommonOptions.verbose] ? .verbose : .normal, to: target)
        output.onClose { [cancellation, isInAgent = pool != nil] cause in
            cancellation.raise(cause)
            // A command that doesn't ask to be asked has nothing to put in order: end it as a closed pipe would have
            // without our ignoring SIGPIPE, only quietly.
            if !isInAgent, case .cancelsTask = command.interruption {
                exit(ending(cause, .success, output, isService: command.isService).rawValue)
            }
        }
        let status = await finish(command, arguments, words, output)
        output.clearProgress()
        guard let cause = cancellation.cause else { return status }
        return ending(cause, status, output, isService: command.isService)
    }

    private static func perform(_ command: Command, _ arguments: Arguments, _ context: Context) async throws -> ExitStatus {
        do { return try await command.run(arguments, context) } catch ManagerError.unknownRouter(let text) {
            throw KnownRouterLookup.unknown(text, home: context.home)
        } catch {
            throw ScanOptions.named(TrustOptions.explained(error))
        }
    }

    private func finish(_ command: Command, _ arguments: Arguments, _ words: [String], _ output: Output) async -> ExitStatus {
        let (cancellation, pool, environment) = (cancellation, pool, environment)
        let task = Task {
            let settings = try Settings(environment: environment) { path throws(ToolError) in try SettingsFile.read(path) }
            let filled = try arguments.filled(from: settings, for: command)
            do {
                let context = try Context(
                    filled, settings: settings, output: output, cancellation: cancellation, pool: pool, environment: environment)
                if pool == nil, command.isForAgent(filled),
                    let status = await AgentClient.run(words, home: context.home, output, cancellation)
                {
                    return status
                }
                return try await Runner.perform(command, filled, context)
            } catch {
                throw settings.placing(error, filled)
            }
        }
        let isCancelled: Bool
        if case .cancelsTask = command.interruption { isCancelled = true } else { isCancelled = false }
        if isCancelled { cancellation.onRaise { task.cancel() } }
        do {
            return try await task.value
        } catch is CancellationError where cancellation.isRaised {
            return .interrupted
        } catch  where isCancelled && cancellation.isRaised {
            // A task that is cancelled half way fails in its own words (a search that was broken off has found nobody), which say nothing.
            output.detail("interrupted: \(error)")
            return .interrupted
        } catch let error as UsageError {
            output.fail("\(error.description)")
            return .usage
        } catch {
            output.fail(String(describing: error))
            return .failure
        }
    }
}

/// How the tool ends after it was asked to: a closed pipe is no failure, and an interruption hides none.
private func ending(
    _ cause: CancellationSignal.Cause, _ status: ExitStatus, _ output: Output, isService: Bool
) -> ExitStatus {
    switch cause {
    case .closedPipe:
        return .success
    case .unwritable(let reason):
        output.fail("cannot write standard output: \(reason) (is the disk full?)")
        return .failure
    case .termination where isService: return status
    case .interrupt, .termination:
        return status == .failure || status == .usage ? status : .interrupted
    }
}
