/// `completions SHELL`: a script that makes the shell ask this tool what fits.
extension Command {
    private static let scripts = ["bash": CompletionScripts.bash, "zsh": CompletionScripts.zsh, "fish": CompletionScripts.fish]

    static let completions = Command(
        name: "completions", summary: "prints shell completions", positionals: ["SHELL"], words: ["SHELL": ["bash", "zsh", "fish"]],
        discussion: """
            SHELL is bash, zsh or fish. The script asks the tool itself each time, so that commands, options and their values are \
            those of this version, and ROUTER is completed by the names of the known routers.
            """,
        usesNetwork: false, printsJSON: false,
        examples: [
            Example("source <(wifictl completions bash)", "completes words in this bash; in ~/.bashrc, in every new one"),
            Example("mkdir -p ~/.zfunc && wifictl completions zsh > ~/.zfunc/_wifictl", "the same for zsh, where ~/.zfunc is in $fpath"),
            Example(
                "mkdir -p ~/.config/fish/completions && wifictl completions fish > ~/.config/fish/completions/wifictl.fish",
                "the same for fish"),
        ]
    ) { arguments, context in
        context.output.line(try arguments.required(0, "SHELL", .choice(scripts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })))
        return .success
    }
}
