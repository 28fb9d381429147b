/// What a shell may offer for the last of the words typed so far. The shells' scripts are thin and ask the tool each time, so that they
/// know what it knows: commands, options, their values, and the routers of this machine's list.
struct CompletionCore {
    /// One offer.
    struct Candidate: Equatable {
        var word: String
        var note: String
    }

    /// All that is offered.
    struct Answer: Equatable {
        var candidates: [Candidate] = []
        /// Files fit here, which the shell itself knows best.
        var wantsFiles = false
    }

    /// What the machine holds, asked for only when it matters.
    struct Facts {
        var routers: () -> [Candidate] = { [] }
        var interfaces: () -> [Candidate] = { [] }
        /// What is trusted, by the names that go with it.
        var trusted: () -> [Candidate] = { [] }
        /// Routers whose keys are pinned.
        var pinned: () -> [Candidate] = { [] }
        /// What a router in the sample vocabulary has: what else one has, only itself could say.
        var properties: [String] = []
        var streams: [String] = []
    }

    let commands: [Command]
    let facts: Facts

    /// - Parameter words: all words behind the tool's name, the last being the one under the cursor, perhaps empty.
    func answer(_ words: [String]) -> Answer {
        let current = words.last ?? ""
        var answer = everything(words.dropLast(), current)
        answer.candidates = answer.candidates.filter { $0.word.lowercased().hasPrefix(current.lowercased()) }
        return answer
    }

    private func everything(_ before: ArraySlice<String>, _ current: String) -> Answer {
        var rest = before
        while let word = rest.first, word.hasPrefix("-") {
            rest.removeFirst()
            guard let option = option(word, CommonOptions.all), option.placeholder != nil, !word.contains("=") else { continue }
            if rest.isEmpty { return values(of: option, current) }
            rest.removeFirst()
        }
        guard let first = rest.popFirst() else {
            if current.hasPrefix("-") { return Answer(candidates: spelled(CommonOptions.all + [CommonOptions.version])) }
            return Answer(candidates: firstWords)
        }
        if let command = commands.first(where: { $0.name == first }) { return inside(command, rest, current) }
        let family = commands.filter { $0.name.hasPrefix(first + " ") }
        guard let second = rest.popFirst() else {
            return Answer(candidates: family.map { Candidate(word: String($0.name.dropFirst(first.count + 1)), note: $0.summary) })
        }
        guard let command = family.first(where: { $0.name == "\(first) \(second)" }) else { return Answer() }
        return inside(command, rest, current)
    }

    private func inside(_ command: Command, _ before: ArraySlice<String>, _ current: String) -> Answer {
        let options = command.options + command.commonOptions
        var place = 0
        var waiting: (any OptionDeclaration)?
        var isBehindDashes = false
        var given: Set<String> = []
        for word in before {
            if waiting != nil {
                waiting = nil
            } else if word == "--", !isBehindDashes {
                isBehindDashes = true
            } else if !isBehindDashes, word.hasPrefix("-"), word != "-" {
                let option = option(word, options)
                if let option, !option.isRepeatable { given.insert(option.name) }
                waiting = option?.placeholder != nil && !word.contains("=") ? option : nil
            } else {
                place += 1
            }
        }
        if let waiting { return values(of: waiting, current) }
        if !isBehindDashes, current.hasPrefix("--"), let equals = current.firstIndex(of: "="),
            let option = option(String(current[..<equals]), options)
        {
            var answer = values(of: option, String(current[current.index(after: equals)...]))
            answer.candidates = answer.candidates.map { Candidate(word: "--\(option.name)=\($0.word)", note: $0.note) }
            return answer
        }
        if !isBehindDashes, current.hasPrefix("-") { return Answer(candidates: spelled(options.filter { !given.contains($0.name) })) }
        return positional(command, place)
    }

    private func option(_ word: String, _ options: [any OptionDeclaration]) -> (any OptionDeclaration)? {
        let name = word.prefix { $0 != "=" }
        return options.first { "--\($0.name)" == name || $0.letter.map { "-\($0)" } ?? "" == name }
    }

    private func spelled(_ options: [any OptionDeclaration]) -> [Candidate] {
        options.map { Candidate(word: "--\($0.name)", note: $0.help) }
    }

    /// Each once: a family shows only its common first word.
    private var firstWords: [Candidate] {
        var found: [Candidate] = []
        for command in commands {
            let word = String(command.name.prefix { $0 != " " })
            guard !found.contains(where: { $0.word == word }) else { continue }
            let family = commands.filter { $0.name.hasPrefix(word + " ") }.map { $0.name.dropFirst(word.count + 1) }
            found.append(
                Candidate(
                    word: word, note: family.isEmpty ? command.summary : CommandRegistry.families[word] ?? family.joined(separator: ", ")))
        }
        return found + [Candidate(word: "help", note: "tells more about a command")]
    }

    private func values(of option: any OptionDeclaration, _ current: String) -> Answer {
        if !option.words.isEmpty { return Answer(candidates: listed(option.words, current)) }
        return fitting(option.name == CommonOptions.interface.name ? "INTERFACE" : option.placeholder ?? "")
    }

    /// A list has commas: what stands before the last of them stays.
    private func listed(_ words: [String], _ current: String) -> [Candidate] {
        let head = current.lastIndex(of: ",").map { String(current[...$0]) } ?? ""
        return words.map { Candidate(word: head + $0, note: "") }
    }

    private func positional(_ command: Command, _ place: Int) -> Answer {
        let isOpen = command.positionals.last?.contains("...") ?? false
        guard place < command.positionals.count || isOpen, let last = command.positionals.last else { return Answer() }
        let placeholder = place < command.positionals.count ? command.positionals[place] : last
        let name = placeholder.filter { $0.isLetter }
        if let words = command.words[name] { return Answer(candidates: words.map { Candidate(word: $0, note: "") }) }
        switch (command.name, name) {
        case ("get", "NAME"): return Answer(candidates: facts.properties.map { Candidate(word: $0, note: "") })
        case ("set", "NAMEVALUE"): return Answer(candidates: facts.properties.map { Candidate(word: $0 + "=", note: "") })
        case ("read", "STREAM"): return Answer(candidates: facts.streams.map { Candidate(word: $0, note: "") })
        case ("trust remove", _): return Answer(candidates: facts.trusted())
        case ("trust unpin", _): return Answer(candidates: facts.pinned())
        default: return fitting(name)
        }
    }

    private func fitting(_ placeholder: String) -> Answer {
        switch placeholder {
        case "ROUTER": Answer(candidates: facts.routers())
        case "INTERFACE": Answer(candidates: facts.interfaces())
        case "FILE", "DIR", "CERT", "KEY": Answer(wantsFiles: true)
        default: Answer()
        }
    }
}
