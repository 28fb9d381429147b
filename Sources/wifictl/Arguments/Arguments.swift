/// A command's arguments, read and checked against its declaration.
struct Arguments: Sendable {
    /// What isn't an option, in order.
    let positionals: [String]
    private let values: [String: [any Sendable]]
    private let words: [String: [String]]
    private let declared: Set<String>
    /// What settings say of options that aren't given.
    private var fallbacks: [String: [any Sendable]] = [:]

    init(positionals: [String], values: [String: [any Sendable]], words: [String: [String]] = [:], declared: Set<String>) {
        self.positionals = positionals
        self.values = values
        self.words = words
        self.declared = declared
    }

    /// The same with values that hold where an option isn't given.
    func withFallbacks(_ fallbacks: [String: [any Sendable]]) -> Arguments {
        var filled = self
        filled.fallbacks = fallbacks
        return filled
    }

    subscript(flag: Flag) -> Bool { !given(flag.name).isEmpty }

    subscript<Value>(option: Option<Value>) -> Value? { inForce(option.name).last as? Value }

    subscript<Value>(option: DefaultedOption<Value>) -> Value { inForce(option.name).last as? Value ?? option.defaultValue }

    subscript<Value>(option: RepeatedOption<Value>) -> [Value] { inForce(option.name).compactMap { $0 as? Value } }

    /// Whether the user wrote the option, for rules such as "either a file or bodies".
    func isGiven(_ option: some OptionDeclaration) -> Bool { !given(option.name).isEmpty }

    /// The positional argument at `index`; wrong usage when it is missing.
    func required(_ index: Int, _ placeholder: String) throws(UsageError) -> String {
        guard positionals.indices.contains(index) else {
            throw UsageError("\(placeholder) is missing", hint: "--help shows where it goes")
        }
        return positionals[index]
    }

    /// The same, read as a value of `kind`.
    func required<Value>(_ index: Int, _ placeholder: String, _ kind: ValueKind<Value>) throws(UsageError) -> Value {
        let text = try required(index, placeholder)
        do throws(ValueProblem) {
            return try kind.parse(text)
        } catch {
            throw UsageError("\(placeholder): '\(text)' \(error.complaint)", hint: error.hint)
        }
    }

    /// The positional argument at `index`, if there.
    func optional(_ index: Int) -> String? {
        positionals.indices.contains(index) ? positionals[index] : nil
    }

    /// The same for an option that the command may not even have.
    func isGiven(named name: String) -> Bool { !(values[name] ?? []).isEmpty }

    /// Whether what holds for an option is what settings say.
    func isSet(named name: String) -> Bool { !isGiven(named: name) && fallbacks[name] != nil }

    /// How an option's values were written; empty when it isn't given.
    func words(_ name: String) -> [String] { words[name] ?? [] }

    private func inForce(_ name: String) -> [any Sendable] {
        let given = given(name)
        return given.isEmpty ? fallbacks[name] ?? [] : given
    }

    private func given(_ name: String) -> [any Sendable] {
        // A command that reads an option that it never declared could never be given it: a slip of ours.
        precondition(declared.contains(name), "option --\(name) isn't declared by this command")
        return values[name] ?? []
    }
}
