/// A house rule that a machine can hold.
struct Rule: Sendable {
    let name: String
    /// What breaks the rule among all files of the project.
    let check: @Sendable ([ProjectFile]) -> [Violation]

    /// A rule over one file at a time.
    init(_ name: String, each check: @escaping @Sendable (ProjectFile) -> [Violation]) {
        self.name = name
        self.check = { $0.flatMap(check) }
    }

    /// A rule over all files together.
    init(_ name: String, all check: @escaping @Sendable ([ProjectFile]) -> [Violation]) {
        self.name = name
        self.check = check
    }

    static let all: [Rule] = [
        layering, pureCores, socketFunctions, fileLength, functionLength, uncheckedSendable, escapes, leftovers, sleeplessTests,
        machinePaths, proseWidth, sentences, refusals,
    ]
}

extension ProjectFile {
    func violation(_ line: Int, _ message: String) -> Violation { Violation(path: path, line: line, message: message) }
}
