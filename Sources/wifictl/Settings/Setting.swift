/// An option that may be set once for all commands, in the configuration file or by an environment variable.
struct Setting: Sendable {
    let option: any OptionDeclaration
    /// The commands that it holds for, where not for all that have such an option: the same word means another thing elsewhere.
    let commands: Set<String>?
    /// The commands that it doesn't hold for, though they take such an option.
    let exceptions: Set<String>
    /// Whether its values are files, which a configuration file names relative to itself.
    let isPath: Bool
    /// What it does, in a file: where the option's own help speaks of what goes before what, that's the other way round there.
    let help: String

    init(
        _ option: any OptionDeclaration, only commands: Set<String>? = nil, except exceptions: Set<String> = [], isPath: Bool = false,
        help: String? = nil
    ) {
        self.help = help ?? option.help
        self.option = option
        self.commands = commands
        self.exceptions = exceptions
        self.isPath = isPath
    }

    var name: String { option.name }
    /// `WIFICTL_CLIENT_ROOT` for `client-root`.
    var variable: String { "\(CommandRegistry.toolName)_\(name)".uppercased().replacing("-", with: "_") }

    func holds(for command: Command) -> Bool {
        guard commands?.contains(command.name) ?? true, !exceptions.contains(command.name) else { return false }
        return CommonOptions.all.contains { $0.name == name } || command.options.contains { $0.name == name }
    }

    /// What is typed every time. No flags: a script must be able to rely on what a command does without them.
    static let all: [Setting] = [
        Setting(CommonOptions.interface), Setting(CommonOptions.group), Setting(CommonOptions.port),
        Setting(CommonOptions.home, isPath: true, help: "where state lies, unless $WIFICTL_HOME or --home says otherwise"),
        Setting(ScanOptions.bssid, only: ScanOptions.commands), Setting(ScanOptions.span, only: ScanOptions.commands),
        Setting(ScanOptions.dialect), Setting(SessionTool.timeout),
        Setting(TrustOptions.root, isPath: true),
        Setting(TrustOptions.revocationList, except: TrustOptions.others, isPath: true),
        Setting(TrustOptions.identity, except: TrustOptions.others, isPath: true),
        Setting(TrustOptions.key, except: TrustOptions.others, isPath: true),
        Setting(TrustOptions.enterprise, except: TrustOptions.others),
        Setting(FrameOptions.layout), Setting(FrameOptions.limit),
    ]

    /// Settings that only make sense together: one of them on the command line sets the others aside.
    static let pairs: [Set<String>] = [["identity", "key"]]
}
