/// Reads words against declared options: `--name value`, `--name=value`, `-x`, `--`, and the rest positional.
struct ArgumentParser {
    let options: [any OptionDeclaration]
    /// How many positional arguments the command takes.
    let positionals: ClosedRange<Int>
    /// What the command's errors call a positional argument, in order; the last stands for all that follow.
    let placeholders: [String]
    /// How the command is called; nil where that would tell nothing.
    let usage: String?

    private var byName: [String: any OptionDeclaration] = [:]
    private var byLetter: [Character: any OptionDeclaration] = [:]

    init(options: [any OptionDeclaration], positionals: ClosedRange<Int> = 0...Int.max, placeholders: [String] = [], usage: String? = nil) {
        self.usage = usage
        self.options = options
        self.positionals = positionals
        self.placeholders = placeholders
        for option in options {
            byName[option.name] = option
            if let letter = option.letter { byLetter[letter] = option }
        }
    }

    /// Reads all `words`. Throws `UsageError` for an unknown option, a missing or wrong value, an option given twice
    /// that isn't repeatable, and too few or too many positional arguments.
    func parse(_ words: [String]) throws(UsageError) -> Arguments {
        var state = State(words: words[...])
        while let word = state.words.popFirst() {
            if word == "--" {
                state.positionals += state.words
                break
            } else if word.hasPrefix("--") {
                try readLong(word.dropFirst(2), &state)
            } else if word.hasPrefix("-"), word.count > 1 {
                try readLetters(word.dropFirst(), &state)
            } else {
                state.positionals.append(word)
            }
        }
        try checkCount(state.positionals)
        return Arguments(
            positionals: state.positionals, values: state.values, words: state.valueWords, declared: Set(byName.keys))
    }

    private struct State {
        var words: ArraySlice<String>
        var positionals: [String] = []
        var values: [String: [any Sendable]] = [:]
        var valueWords: [String: [String]] = [:]
    }

    private func readLong(_ word: Substring, _ state: inout State) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = byName[name] else {
            let near = Suggestion.nearest(to: name, among: options.map(\.name))
            throw UsageError("unknown option --\(name)", hint: near.map { "did you mean --\($0)?" })
        }
        guard let placeholder = option.placeholder else {
            guard parts.count == 1 else { throw UsageError("option --\(name) takes no value", hint: "write just --\(name)") }
            return try note(option, "", &state)
        }
        if parts.count == 2 { return try note(option, String(parts[1]), &state) }
        // A value that looks like an option is far more often a forgotten value than meant.
        guard let value = state.words.first, !value.hasPrefix("--") else {
            throw UsageError("option --\(name) needs a value", hint: "write --\(name) \(placeholder), or --\(name)=\(placeholder)")
        }
        state.words.removeFirst()
        try note(option, value, &state)
    }

    private func readLetters(_ letters: Substring, _ state: inout State) throws(UsageError) {
        for letter in letters {
            guard let option = byLetter[letter] else {
                throw UsageError("unknown option -\(letters)", hint: "options have two dashes; a value such as -5 goes behind --")
            }
            try note(option, "", &state)
        }
    }

    private func note(_ option: any OptionDeclaration, _ text: String, _ state: inout State) throws(UsageError) {
        if !option.isRepeatable, option.placeholder != nil, state.values[option.name] != nil {
            throw UsageError("option --\(option.name) is given twice", hint: "only one value counts; leave one out")
        }
        do throws(ValueProblem) {
            state.values[option.name, default: []].append(try option.read(text))
            state.valueWords[option.name, default: []].append(text)
        } catch {
            throw UsageError("--\(option.name): '\(text)' \(error.complaint)", hint: error.hint)
        }
    }

    private func checkCount(_ found: [String]) throws(UsageError) {
        if found.count < positionals.lowerBound {
            let missing = placeholders.indices.contains(found.count) ? placeholders[found.count] : placeholders.last ?? "an argument"
            throw UsageError("\(missing.replacing("...", with: "")) is missing", hint: usage)
        }
        if found.count > positionals.upperBound {
            throw UsageError("unexpected argument '\(found[positionals.upperBound])'", hint: usage)
        }
    }
}
