/// An error for the user: what went wrong and where, and what to try. Ends the tool with exit status 2.
struct ToolError: Error, CustomStringConvertible {
    let message: String
    let hint: String?
    /// The options whose values it is about: where one of them is a setting, the user is told which.
    let options: [String]

    init(_ message: String, hint: String? = nil, about options: String...) {
        self.init(message, hint: hint, about: options)
    }

    init(_ message: String, hint: String?, about options: [String]) {
        self.message = message
        self.hint = hint
        self.options = options
    }

    var description: String { oneLine(message, hint) }
}

/// A command line that can't be right. Ends the tool with exit status 64.
struct UsageError: Error, CustomStringConvertible, Equatable {
    let message: String
    let hint: String?
    /// The options whose values it is about: where one of them is a setting, the user is told which.
    let options: [String]

    init(_ message: String, hint: String? = nil, about options: String...) {
        self.init(message, hint: hint, about: options)
    }

    init(_ message: String, hint: String?, about options: [String]) {
        self.message = message
        self.hint = hint
        self.options = options
    }

    var description: String { oneLine(message, hint) }
}

/// One line whatever the parts hold: the contract is that the last line of standard error says it all.
private func oneLine(_ message: String, _ hint: String?) -> String {
    let line = hint.map { "\(message) (\($0))" } ?? message
    return line.split(whereSeparator: \.isNewline).joined(separator: " ")
}
