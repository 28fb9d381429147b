/// What relative paths on a command line are relative to.
enum PathBase {
    /// Nil: the process's own directory. The agent reads command lines that were written elsewhere.
    @TaskLocal static var directory: String?
}

extension ValueKind where Value == String {
    /// A path. `-`, where an option takes it for standard input or output, stays as it is.
    static var path: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard let directory = PathBase.directory, !text.hasPrefix("/"), text != "-" else { return text }
            return "\(directory)/\(text)"
        }
    }
}
