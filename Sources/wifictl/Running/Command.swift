/// One command of the tool: what its help says, what it accepts, and what it does.
///
/// To add a command, declare one in a file of its own in Commands/ and list it in `CommandRegistry`.
struct Command: Sendable {
    /// One way of calling the command that is worth showing.
    struct Example: Sendable {
        let line: String
        let explanation: String

        init(_ line: String, _ explanation: String) {
            self.line = line
            self.explanation = explanation
        }
    }

    /// What Ctrl-C does to a running command.
    enum Interruption: Sendable {
        /// The task that runs the command is cancelled; the command throws `CancellationError` or returns.
        case cancelsTask
        /// Only `Context.cancellation` is raised: the command says goodbye in its own time, its task not cancelled.
        case asksCommand
    }

    /// The word or, for a family such as `identity show`, the two words that name it.
    let name: String
    /// One line for the list of commands.
    let summary: String
    /// The positional arguments as the usage line shows them, in order: `["ROUTER", "[BODY...]"]`. Brackets mean that
    /// it may be left out, three dots that it may be repeated; both are enforced.
    let positionals: [String]
    /// What a positional argument may be where only a few words fit, by its name without brackets: for completion.
    let words: [String: [String]]
    /// A few sentences below the usage line; empty for none.
    let discussion: String
    /// The command's own options; the common ones come by themselves.
    let options: [any OptionDeclaration]
    /// Whether the help lists the options for interfaces, group and port.
    let usesNetwork: Bool
    /// Options of the network, by name, that it reads all the same where it lists none.
    let reads: Set<String>
    /// False where what it prints is a file in a format of its own, whatever `--json` says.
    let printsJSON: Bool
    let interruption: Interruption
    /// Whether it runs until it's ended: what a service manager ends by SIGTERM hasn't failed.
    let isService: Bool
    /// Whether the agent runs it, where there is one.
    let isForAgent: @Sendable (Arguments) -> Bool
    /// At least one.
    let examples: [Example]
    let run: @Sendable (Arguments, Context) async throws -> ExitStatus

    init(
        name: String, summary: String, positionals: [String] = [], words: [String: [String]] = [:], discussion: String = "",
        options: [any OptionDeclaration] = [], usesNetwork: Bool = true, reads: Set<String> = [],
        printsJSON: Bool = true, interruption: Interruption = .cancelsTask, isService: Bool = false,
        isForAgent: @escaping @Sendable (Arguments) -> Bool = { _ in false }, examples: [Example],
        run: @escaping @Sendable (Arguments, Context) async throws -> ExitStatus
    ) {
        self.name = name
        self.summary = summary
        self.positionals = positionals
        self.words = words
        self.discussion = discussion
        self.options = options
        self.usesNetwork = usesNetwork
        self.reads = reads
        self.printsJSON = printsJSON
        self.interruption = interruption
        self.isService = isService
        self.isForAgent = isForAgent
        self.examples = examples
        self.run = run
    }

    /// How many positional arguments `positionals` allows.
    var positionalCount: ClosedRange<Int> {
        let least = positionals.count { !$0.hasPrefix("[") }
        let isOpen = positionals.last?.contains("...") ?? false
        return least...(isOpen ? Int.max : positionals.count)
    }

    /// The parser for everything behind the command's name.
    var parser: ArgumentParser {
        ArgumentParser(
            options: options + CommonOptions.all, positionals: positionalCount, placeholders: positionals, usage: "usage: \(usage)")
    }

    /// How it's called, in one line.
    var usage: String { ([CommandRegistry.toolName, name, "[OPTIONS]"] + positionals).joined(separator: " ") }

    /// The common options that mean something to it.
    var commonOptions: [any OptionDeclaration] {
        (usesNetwork ? CommonOptions.network : CommonOptions.network.filter { reads.contains($0.name) })
            + CommonOptions.always.filter { printsJSON || $0.name != CommonOptions.json.name }
    }
}
