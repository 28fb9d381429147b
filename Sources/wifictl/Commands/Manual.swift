/// `manual`: the manual page, made from the commands' own declarations.
extension Command {
    static let manual = Command(
        name: "manual", summary: "prints the manual page", discussion: "The page is roff, as man reads it.", usesNetwork: false,
        printsJSON: false,
        examples: [Example("wifictl manual | man -l -", "reads the manual")]
    ) { _, context in
        context.output.line(Manual.page(CommandRegistry.commands))
        return .success
    }
}

private enum Manual {
    private static let tool = CommandRegistry.toolName

    static func page(_ commands: [Command]) -> String {
        let parts = [
            ".TH \(tool.uppercased()) 1 \"\(CommandRegistry.toolDate)\" \"\(tool) \(CommandRegistry.toolVersion)\"\n.nh",
            ".SH NAME\n\(tool) \\- finds Wi\\-Fi routers, tells which is yours, and talks to it",
            ".SH SYNOPSIS\n.B \(tool)\n[OPTIONS] COMMAND [ARGUMENTS]",
            ".SH COMMANDS\n" + commands.map(section).joined(separator: "\n"),
            ".SH OPTIONS OF EVERY COMMAND\n" + (CommonOptions.all + [CommonOptions.version]).map(entry).joined(separator: "\n"),
            ".SH EXIT STATUS\n" + statuses.map { ".TP\n.B \($0.0.rawValue)\n\($0.1)" }.joined(separator: "\n"),
            ".SH ENVIRONMENT\n.TP\n.B WIFICTL_HOME\nwhere state lies; else $XDG_STATE_HOME/\(tool), else ~/.local/state/\(tool)\n"
                + ".TP\n.B WIFICTL_CONFIG\n"
                + text("the configuration file; else $XDG_CONFIG_HOME/\(tool)/config, else ~/.config/\(tool)/config") + "\n"
                + ".TP\n.B WIFICTL_INTERFACE\n"
                + text("and \(variables): the settings that \(tool) config shows; they go before the file") + "\n"
                + ".TP\n.B NO_COLOR\nno colours when set to anything",
            ".SH FILES\n" + files.map { ".TP\n.I \"\(quoted($0.0))\"\n\(text($0.1))" }.joined(separator: "\n"),
        ]
        return parts.joined(separator: "\n")
    }

    private static let variables = Setting.all.map(\.variable).filter { !["WIFICTL_HOME", "WIFICTL_INTERFACE"].contains($0) }
        .joined(separator: ", ")

    private static let files = [
        ("~/.config/\(tool)/config", "settings, a line \"name = value\" each (\(tool) config --sample)"),
        ("~/.local/state/\(tool)/", "the state directory; --home or WIFICTL_HOME name another"),
        (".../state.json", "known routers, the current one, what is trusted and what routers have proven"),
        (".../outbox/", "messages that were accepted and have no outcome yet, a journal a session"),
        (".../agent.sock", "where the agent listens; only its owner may enter"),
    ]

    private static let statuses: [(ExitStatus, String)] = [
        (.success, "done, or found"), (.negative, "nothing found, or not all delivered or proven"), (.failure, "an error"),
        (.usage, "wrong usage"), (.interrupted, "interrupted"),
    ]

    private static func section(_ command: Command) -> String {
        var parts = [
            ".SS \"" + quoted(([command.name] + command.positionals).joined(separator: " ")) + "\"",
            text(command.summary.capitalizedFirst + "."),
        ]
        if !command.discussion.isEmpty { parts.append(".PP\n" + text(command.discussion)) }
        parts += command.options.map(entry)
        parts += command.examples.map { ".PP\n\(text($0.explanation.capitalizedFirst)):\n.PP\n.RS\n.nf\n\(verbatim($0.line))\n.fi\n.RE" }
        return parts.joined(separator: "\n")
    }

    private static func entry(_ option: any OptionDeclaration) -> String {
        ".TP\n.B \"\(quoted(option.spelling))\"\n\(text(option.fullHelp()))"
    }

    /// Text that roff takes for text: dashes stay dashes, no line begins with a control character, and each sentence begins a line, as
    /// roff wants it to know where sentences end.
    private static func text(_ text: String) -> String {
        var lines: [String] = []
        for (number, paragraph) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if number > 0 { lines.append(paragraphBreak) }
            var line = ""
            for word in paragraph.split(separator: " ") {
                let escaped = escaped(String(word))
                if !line.isEmpty, line.utf8.count + escaped.utf8.count >= lineLength || line.hasSuffix(".") || line.hasSuffix(".)") {
                    lines.append(line)
                    line = ""
                }
                line += (line.isEmpty ? "" : " ") + escaped
            }
            lines.append(line)
        }
        return lines.map { $0 == paragraphBreak ? $0 : guarded($0) }.joined(separator: "\n")
    }

    private static let paragraphBreak = ".PP"

    /// Text whose lines stay as they are.
    private static func verbatim(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { guarded(escaped(String($0))) }.joined(separator: "\n")
    }

    /// What mandoc's lint finds comfortable.
    private static let lineLength = 80

    private static func guarded(_ line: String) -> String { line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            default: result.append(character)
            }
        }
    }

    /// The same inside of double quotes.
    private static func quoted(_ line: String) -> String {
        escaped(line).reduce(into: "") { $0 += $1 == "\"" ? "\\(dq" : String($1) }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
