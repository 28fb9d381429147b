/// What the words of the command line ask for.
enum Invocation {
    case version
    /// The help of one command, or of the tool.
    case help(Command?)
    /// The help of the commands that share a first word.
    case familyHelp([Command])
    case run(Command, Arguments)
    /// What a shell asks when somebody presses Tab behind these words.
    case complete([String])
}

extension CommandRegistry {
    /// Finds the command that `words` (without the tool's own name) call and reads its arguments. Common options may
    /// stand before the command's name as well as behind it.
    static func invocation(of words: [String], among commands: [Command] = commands) throws(UsageError) -> Invocation {
        var rest = words[...]
        var early: [String] = []
        while let word = rest.first, word.hasPrefix("-") {
            if word == "--version" || word == "-V" { return .version }
            if word == "--help" || word == "-h" { return .help(nil) }
            early.append(rest.removeFirst())
            if takesSeparateValue(word), let value = rest.popFirst() { early.append(value) }
        }
        if rest.first == CompletionRun.word { return .complete(Array(rest.dropFirst())) }
        guard let first = rest.popFirst() else {
            // Here, where it would be the next thing to write, the version is an option like others.
            _ = try ArgumentParser(options: CommonOptions.all + [CommonOptions.version]).parse(early)
            throw UsageError("which command?", hint: "\(toolName) --help lists them")
        }
        let wantsHelp = first == "help" || rest.prefix(while: { $0 != "--" }).contains { $0 == "--help" || $0 == "-h" }
        if wantsHelp { return try help(first == "help" ? Array(rest) : [first] + rest, among: commands) }
        let command = try command(named: first, &rest, among: commands)
        return .run(command, try command.parser.parse(early + rest))
    }

    /// Asking for help must work however wrong the rest of the line is.
    private static func help(_ words: [String], among commands: [Command]) throws(UsageError) -> Invocation {
        guard let first = words.first, !first.hasPrefix("-") else { return .help(nil) }
        let family = commands.filter { $0.name.hasPrefix(first + " ") }
        if !family.isEmpty, words.count < 2 || words[1].hasPrefix("-") { return .familyHelp(family) }
        var rest = words.dropFirst()
        return .help(try command(named: first, &rest, among: commands))
    }

    private static func takesSeparateValue(_ word: String) -> Bool {
        CommonOptions.all.contains { "--\($0.name)" == word && $0.placeholder != nil }
    }

    private static func command(
        named first: String, _ rest: inout ArraySlice<String>, among commands: [Command]
    ) throws(UsageError) -> Command {
        if let command = commands.first(where: { $0.name == first }) { return command }
        let family = commands.filter { $0.name.hasPrefix(first + " ") }
        if !family.isEmpty { return try member(of: family, first, &rest) }
        let words = commands.map { String($0.name.prefix { $0 != " " }) } + ["help"]
        let near = Suggestion.nearest(to: first, among: words)
        throw UsageError("unknown command '\(first)'", hint: near.map { "did you mean \($0)?" } ?? "\(toolName) --help lists the commands")
    }

    private static func member(of family: [Command], _ first: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Command {
        let seconds = family.map { String($0.name.dropFirst(first.count + 1)) }
        guard let second = rest.first, !second.hasPrefix("-") else {
            throw UsageError("\(first) what?", hint: "one of \(seconds.joined(separator: ", "))")
        }
        if let index = seconds.firstIndex(of: second) {
            rest.removeFirst()
            return family[index]
        }
        let near = Suggestion.nearest(to: second, among: seconds)
        throw UsageError(
            "unknown command '\(first) \(second)'",
            hint: near.map { "did you mean \(first) \($0)?" } ?? "one of \(seconds.joined(separator: ", "))")
    }
}
