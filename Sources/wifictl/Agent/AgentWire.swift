import SocketCore

/// What a command and the agent say to each other: frames of the project's own format over a Unix-domain socket.
///
/// | frame | from | body |
/// |---|---|---|
/// | request, then begin | command | the request as JSON, in pieces; nothing |
/// | interrupt | command | nothing: Ctrl-C, or its output was closed |
/// | data, remarks | agent | bytes for standard output, for standard error |
/// | status | agent | the exit status in decimal; the last frame |
/// | refusal | agent | why it doesn't take the command; the last frame |
/// | stop | command | nothing, and no request before it: the agent is to end, and says so with a status once it's gone |
enum AgentWire {
    enum Kind: UInt32 {
        case request = 1
        case begin
        case interrupt
        case data
        case remarks
        case status
        case refusal
        // Not a command line, since a tool of another version, whose command lines aren't taken, must be able to ask for it.
        case stop
    }

    /// Where the agent of a state directory listens.
    static func path(home: String) -> String { home + "/agent.sock" }
}

/// A command line to be run by the agent, and what it must know of the terminal in front of which it was written.
struct AgentRequest: Equatable {
    /// Both must be the same tool: an agent of another version may understand a command otherwise.
    var version: String
    var words: [String]
    /// What relative paths are relative to.
    var directory: String
    var terminal: OutputTarget.Facts
    /// The variables that settings are read from.
    var environment: [String: String]

    init(words: [String], directory: String, terminal: OutputTarget.Facts, environment: [String: String]) {
        version = CommandRegistry.toolVersion
        self.environment = environment
        self.words = words
        self.directory = directory
        self.terminal = terminal
    }

    /// Nil where it's none.
    init?(_ bytes: [UInt8]) {
        // Nothing but this tool speaks here, and only over the user's own socket: what can't be read is another version's.
        guard let value = try? JSONValue.parse(bytes), let version = value["version"]?.stringValue,
            let words = value["words"]?.arrayValue?.compactMap(\.stringValue), let directory = value["directory"]?.stringValue
        else { return nil }
        self.version = version
        self.words = words
        self.directory = directory
        environment = Dictionary(
            (value["environment"]?.objectValue ?? []).map { ($0.name, $0.value.stringValue ?? "") }, uniquingKeysWith: { $1 })
        terminal = OutputTarget.Facts(
            width: value["width"]?.integerValue.map(Int.init), remarksWidth: value["remarksWidth"]?.integerValue.map(Int.init),
            isPainted: value["isPainted"]?.boolValue ?? false, remarksArePainted: value["remarksArePainted"]?.boolValue ?? false)
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        JSONValue.object([
            JSONValue.Member("version", .string(version)), JSONValue.Member("words", .array(words.map { .string($0) })),
            JSONValue.Member("directory", .string(directory)), JSONValue.Member("width", .whole(terminal.width)),
            JSONValue.Member("remarksWidth", .whole(terminal.remarksWidth)),
            JSONValue.Member("isPainted", .bool(terminal.isPainted)),
            JSONValue.Member("remarksArePainted", .bool(terminal.remarksArePainted)),
            JSONValue.Member(
                "environment", .object(environment.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) })),
        ]).write(to: &bytes)
        return bytes
    }
}
