/// What a running command has beside its arguments.
struct Context: Sendable {
    /// Where everything printed goes.
    let output: Output
    /// Raised when the command should end; see `Command.Interruption`.
    let cancellation: CancellationSignal
    /// `--interface`, in the order given; empty means all.
    let interfaces: [String]
    /// `--group`
    let group: String?
    /// `--port`; nil means the standard port.
    let port: UInt16?
    /// The directory of the tool's state, which need not exist yet.
    let home: String
    /// What the configuration file and the environment say.
    let settings: Settings
    /// In the agent: the sessions that it keeps.
    let pool: SessionPool?
}

extension Context {
    init(
        _ arguments: Arguments, settings: Settings = .none, output: Output, cancellation: CancellationSignal, pool: SessionPool? = nil,
        environment: (String) -> String?
    ) throws(ToolError) {
        self.output = output
        self.cancellation = cancellation
        self.interfaces = arguments[CommonOptions.interface]
        self.group = arguments[CommonOptions.group]
        self.port = arguments[CommonOptions.port]
        self.settings = settings
        self.pool = pool
        // The agent was found in the command's state directory, which is its own.
        if let pool { self.home = pool.home } else { self.home = try Context.home(arguments[CommonOptions.home], environment) }
    }

    /// `--home`, else `$WIFICTL_HOME`, else `$XDG_STATE_HOME/wifictl`, else `~/.local/state/wifictl`. Variables that are
    /// set but empty count as unset, as the XDG base directory specification wants it.
    static func home(_ option: String?, _ environment: (String) -> String?) throws(ToolError) -> String {
        if let option { return option }
        if let own = environment("WIFICTL_HOME"), !own.isEmpty { return own }
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/wifictl" }
        if let home = environment("HOME"), !home.isEmpty { return home + "/.local/state/wifictl" }
        throw ToolError("don't know where to keep state: HOME isn't set", hint: "name a directory with --home or WIFICTL_HOME")
    }
}
