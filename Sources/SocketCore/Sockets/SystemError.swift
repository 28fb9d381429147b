import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// A system call that failed: which, and the kernel's reason.
public struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The C function's name.
    public let function: String
    /// The value of `errno`.
    public let code: Int32
    /// What it was called about (an address, an interface, a path); empty when there's nothing to add.
    public let subject: String

    /// An error of the given call.
    public init(function: String, code: Int32, subject: String = "") {
        self.function = function
        self.code = code
        self.subject = subject
    }

    /// The kernel's reason in words, lower-case: "address already in use".
    public var reason: String {
        guard let text = strerror(code) else { return "error \(code)" }
        let words = String(cString: text)
        return words.prefix(1).lowercased() + words.dropFirst()
    }

    /// `bind 127.0.0.1:19510: address already in use`.
    public var description: String { "\(function)\(subject.isEmpty ? "" : " " + subject): \(reason)" }

    /// The same error, saying what it was about.
    public func about(_ subject: String) -> SystemError { SystemError(function: function, code: code, subject: subject) }

    /// What to do about it where it's about a file, without a full stop: "make room".
    package var fileAdvice: String {
        switch code {
        case ENOENT, ENOTDIR, EISDIR: "check the path"
        case EACCES, EPERM: "whose is it?"
        case EROFS: "nothing can be written there"
        case EEXIST: "an earlier run has left it: remove it"
        case ENOSPC, EDQUOT: "make room"
        default: "see to its place and try again"
        }
    }

    /// True when the process or the machine has run out of descriptors.
    public var isOutOfDescriptors: Bool { code == EMFILE || code == ENFILE }
}

/// What a read or a write on a non-blocking descriptor came to.
public enum IOOutcome: Equatable, Sendable {
    /// That many bytes were moved; at least one.
    case moved(Int)
    /// Nothing can be moved now: wait until the descriptor is ready.
    case wouldBlock
    /// The peer has finished sending.
    case endOfStream
}
