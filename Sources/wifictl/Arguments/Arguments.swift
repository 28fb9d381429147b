/// A command's arguments, read and checked against its declaration.
struct Arguments: Sendable {
    /// What isn't an option, in order.
    let positionals: [String]
    private let values: [String: [any Sendable]]
    private let declared: Set<String>

    init(positionals: [String], values: [String: [any Sendable]], declared: Set<String>) {
        self.positionals = positionals
        self.values = values
        self.declared = declared
    }

    subscript(flag: Flag) -> Bool { !given(flag.name).isEmpty }

    subscript<Value>(option: Option<Value>) -> Value? { given(option.name).last as? Value }

    subscript<Value>(option: DefaultedOption<Value>) -> Value { given(option.name).last as? Value ?? option.defaultValue }

    subscript<Value>(option: RepeatedOption<Value>) -> [Value] { given(option.name).compactMap { $0 as? Value } }

    /// Whether the user wrote the option, for rules such as "either a file or bodies".
    func isGiven(_ option: some OptionDeclaration) -> Bool { !given(option.name).isEmpty }

    /// The positional argument at `index`; wrong usage when it is missing.
    func required(_ index: Int, _ placeholder: String) throws(UsageError) -> String {
        guard positionals.indices.contains(index) else { throw UsageError("\(placeholder) is missing") }
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

    private func given(_ name: String) -> [any Sendable] {
        // A command that reads an option that it never declared could never be given it: a slip of ours.
        precondition(declared.contains(name), "option --\(name) isn't declared by this command")
        return values[name] ?? []
    }
}
