/// The help of the tool and of its commands, made from their declarations.
struct HelpText {
    /// A space at which no line is broken.
    private static let unbreakable: Character = "\u{a0}"

    /// Columns to fill at most.
    let width: Int

    init(width: Int) { self.width = min(max(width, 60), 110) }

    func render(_ command: Command?) -> String {
        (command.map(sections) ?? toolSections()).joined(separator: "\n\n")
    }

    /// The help of commands that share their first word.
    func render(family: [Command]) -> String {
        let tool = CommandRegistry.toolName
        let first = family.first?.name.prefix { $0 != " " } ?? ""
        let examples = family.compactMap { $0.examples.first?.line }
        return [
            "\(tool) \(first): \(CommandRegistry.families[String(first)] ?? "")",
            "Usage: \(tool) \(first) COMMAND [ARGUMENTS]", "Commands:\n" + listed(family.map { ($0.name, $0.summary) }),
            "Examples:\n" + examples.map { "  \($0)" }.joined(separator: "\n"),
            "\(tool) \(first) COMMAND --help tells more about a command.",
        ].joined(separator: "\n\n")
    }

    private func toolSections() -> [String] {
        let tool = CommandRegistry.toolName
        let commands = CommandRegistry.commands.map { (left: $0.name, right: $0.summary) }
        return [
            "\(tool): finds the Wi-Fi routers around, tells which one you are connected to, and talks to it",
            "Usage: \(tool) [OPTIONS] COMMAND [ARGUMENTS]",
            "Commands:\n" + listed(commands),
            "Options of every command:\n" + listed((CommonOptions.always + [CommonOptions.version]).map(entry)),
            "Options of the network, which commands without one accept and ignore:\n" + listed(CommonOptions.network.map(entry)),
            "Example:\n  \(tool) discover --for 3s",
            "\(tool) COMMAND --help, or \(tool) help COMMAND, tells more about a command. Exit status: 0 done or\n"
                + "found, 1 nothing found or not all delivered or proven, 2 error, 64 wrong usage, 130 interrupted.",
        ]
    }

    private func sections(_ command: Command) -> [String] {
        let tool = CommandRegistry.toolName
        var sections = ["\(tool) \(command.name): \(command.summary)", "Usage: \(command.usage)"]
        if !command.discussion.isEmpty { sections.append(wrap(command.discussion, indent: 0)) }
        if !command.options.isEmpty { sections.append("Options:\n" + listed(command.options.map(entry))) }
        sections.append("Common options:\n" + listed(command.commonOptions.map(entry)))
        let examples = command.examples.map { "  \($0.line)\n" + wrap($0.explanation, indent: 6) }
        sections.append("\(examples.count == 1 ? "Example" : "Examples"):\n" + examples.joined(separator: "\n"))
        return sections
    }

    private func entry(_ option: any OptionDeclaration) -> (left: String, right: String) {
        (option.spelling, option.fullHelp(beforeDefault: HelpText.unbreakable))
    }

    private func listed(_ entries: [(left: String, right: String)]) -> String {
        let column = min(28, 4 + (entries.map { DisplayWidth.of($0.left) }.max() ?? 0))
        return entries.map { entry in
            let left = "  " + entry.left
            let text = wrap(entry.right, indent: column)
            let used = DisplayWidth.of(left)
            return used + 2 > column ? left + "\n" + text : left + String(repeating: " ", count: column - used) + text.dropFirst(column)
        }.joined(separator: "\n")
    }

    private func wrap(_ text: String, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in paragraph.split(separator: " ") {
                if !line.isEmpty, indent + DisplayWidth.of(line) + 1 + DisplayWidth.of(String(word)) > width {
                    lines.append(margin + line)
                    line = ""
                }
                line += (line.isEmpty ? "" : " ") + word
            }
            lines.append(line.isEmpty ? "" : margin + line)
        }
        return String(lines.joined(separator: "\n").map { $0 == HelpText.unbreakable ? " " : $0 })
    }
}
