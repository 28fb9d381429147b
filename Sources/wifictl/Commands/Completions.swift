/// `completions SHELL`: word lists made from the commands' own declarations.
extension Command {
    static let completions = Command(
        name: "completions", summary: "prints shell completions", positionals: ["SHELL"],
        discussion: "SHELL is bash, zsh or fish.", usesNetwork: false,
        examples: [Example("wifictl completions fish > ~/.config/fish/completions/wifictl.fish", "completes words in every new fish")]
    ) { arguments, context in
        let shells: [(word: String, value: @Sendable ([Command]) -> String)] = [
            ("bash", Completions.bash), ("zsh", Completions.zsh), ("fish", Completions.fish),
        ]
        let complete = try arguments.required(0, "SHELL", .choice(shells))
        context.output.line(complete(CommandRegistry.commands))
        return .success
    }
}

private enum Completions {
    private static let tool = CommandRegistry.toolName

    private static func options(of command: Command) -> [any OptionDeclaration] {
        command.options + (command.usesNetwork ? CommonOptions.network : []) + CommonOptions.always
    }

    /// First words of all commands, each once: a family shows only its common first word there.
    private static func firstWords(_ commands: [Command]) -> [String] {
        var words: [String] = []
        for word in commands.map({ String($0.name.prefix { $0 != " " }) }) where words.last != word { words.append(word) }
        return words
    }

    private static func bashCases(_ commands: [Command]) -> String {
        firstWords(commands).map { word in
            let members = commands.filter { $0.name == word || $0.name.hasPrefix(word + " ") }
            var words: [String] = []
            for member in members {
                if member.name != word { words.append(String(member.name.dropFirst(word.count + 1))) }
                for option in options(of: member) where !words.contains("--" + option.name) { words.append("--" + option.name) }
            }
            return "        \(word)) words=\"\(words.joined(separator: " "))\" ;;"
        }.joined(separator: "\n")
    }

    static func bash(_ commands: [Command]) -> String {
        """
        _\(tool)() {
            local current="${COMP_WORDS[COMP_CWORD]}" words="\(firstWords(commands).joined(separator: " ")) --help --version"
            [ "$COMP_CWORD" -gt 1 ] && case "${COMP_WORDS[1]}" in
        \(bashCases(commands))
                *) words="" ;;
            esac
            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        }
        complete -o default -F _\(tool) \(tool)
        """
    }

    static func zsh(_ commands: [Command]) -> String {
        """
        #compdef \(tool)
        autoload -U +X bashcompinit && bashcompinit
        \(bash(commands))
        """
    }

    static func fish(_ commands: [Command]) -> String {
        var lines = firstWords(commands).map { word in
            let summary = commands.first { $0.name == word || $0.name.hasPrefix(word + " ") }?.summary ?? ""
            return "complete -c \(tool) -n __fish_use_subcommand -f -a \(word) -d '\(quoted(summary))'"
        }
        for command in commands {
            let words = command.name.split(separator: " ")
            if words.count == 2 {
                lines.append(
                    "complete -c \(tool) -n '__fish_seen_subcommand_from \(words[0])' -f -a \(words[1]) -d '\(quoted(command.summary))'")
            }
            for option in options(of: command) {
                let value = option.placeholder == nil ? "" : " -r"
                lines.append(
                    "complete -c \(tool) -n '__fish_seen_subcommand_from \(words[words.count - 1])' -l \(option.name)\(value)"
                        + " -d '\(quoted(option.help))'")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func quoted(_ text: String) -> String {
        text.reduce(into: "") { result, character in result += character == "'" ? "\\'" : String(character) }
    }
}
