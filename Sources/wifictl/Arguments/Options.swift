/// What the parser and the help need to know of an option, whatever its value's type.
protocol OptionDeclaration: Sendable {
    /// The long name without its dashes.
    var name: String { get }
    /// What stands for the value in the help, nil for a flag.
    var placeholder: String? { get }
    /// One line: what the option does.
    var help: String { get }
    /// Whether it may be given more than once.
    var isRepeatable: Bool { get }
    /// The value in force when the option isn't given, as the help shows it.
    var defaultText: String? { get }
    /// One letter that stands for the option behind a single dash.
    var letter: Character? { get }
    /// All values there are, where these are a few words.
    var words: [String] { get }
    /// Reads one value.
    func read(_ text: String) throws(ValueProblem) -> any Sendable
}

extension OptionDeclaration {
    var isRepeatable: Bool { false }
    var defaultText: String? { nil }
    var letter: Character? { nil }
    var words: [String] { [] }

    /// How the option is written: `-q, --quiet`, `--for TIME`.
    var spelling: String { (letter.map { "-\($0), " } ?? "") + "--" + name + (placeholder.map { " " + $0 } ?? "") }

    /// The help with what goes for all options: whether it repeats, and its default after `beforeDefault`.
    func fullHelp(beforeDefault gap: Character = " ") -> String {
        help + (isRepeatable ? "; may be repeated" : "") + (defaultText.map { "; default\(gap)\($0)" } ?? "")
    }
}

/// An option without a value: `--watch`. Read as `Bool`.
struct Flag: OptionDeclaration {
    let name: String
    let help: String
    let letter: Character?
    var placeholder: String? { nil }

    init(_ name: String, letter: Character? = nil, _ help: String) {
        self.name = name
        self.letter = letter
        self.help = help
    }

    func read(_ text: String) throws(ValueProblem) -> any Sendable { true }
}

/// An option with a value that may be left out: `--bssid MAC`. Read as `Value?`.
struct Option<Value: Sendable>: OptionDeclaration {
    let name: String
    let placeholder: String?
    let help: String
    private let kind: ValueKind<Value>
    var words: [String] { kind.words }

    init(_ name: String, _ placeholder: String, _ kind: ValueKind<Value>, _ help: String) {
        self.name = name
        self.placeholder = placeholder
        self.kind = kind
        self.help = help
    }

    func read(_ text: String) throws(ValueProblem) -> any Sendable { try kind.parse(text) }
}

/// An option that has a value even when it isn't given: `--for 3s`. Read as `Value`.
struct DefaultedOption<Value: Sendable>: OptionDeclaration {
    let name: String
    let placeholder: String?
    let help: String
    let defaultText: String?
    let defaultValue: Value
    private let kind: ValueKind<Value>
    var words: [String] { kind.words }

    /// `defaultText` is how a user would write `defaultValue`; a test holds the two together.
    init(
        _ name: String, _ placeholder: String, _ kind: ValueKind<Value>, default defaultValue: Value, shown defaultText: String,
        _ help: String
    ) {
        self.name = name
        self.placeholder = placeholder
        self.kind = kind
        self.defaultValue = defaultValue
        self.defaultText = defaultText
        self.help = help
    }

    func read(_ text: String) throws(ValueProblem) -> any Sendable { try kind.parse(text) }
}

/// An option that may be given several times: `--bssid A --bssid B`. Read as `[Value]`, in the order given.
struct RepeatedOption<Value: Sendable>: OptionDeclaration {
    let name: String
    let placeholder: String?
    let help: String
    private let kind: ValueKind<Value>
    var words: [String] { kind.words }
    var isRepeatable: Bool { true }

    init(_ name: String, _ placeholder: String, _ kind: ValueKind<Value>, _ help: String) {
        self.name = name
        self.placeholder = placeholder
        self.kind = kind
        self.help = help
    }

    func read(_ text: String) throws(ValueProblem) -> any Sendable { try kind.parse(text) }
}
