import Glibc
import SocketCore

/// Where bytes are to go that somebody wants in a file, looked at before the first of them is asked for. Nothing is opened, made or changed.
public struct OutputPlace: Sendable {
    /// As many links as the kernel itself follows.
    private static let mostLinks = 40

    enum Kind: Equatable, Sendable {
        /// A regular file, there or not: its bytes are gathered beside it.
        case file
        /// A pipe with a name: it can be opened once somebody reads from it.
        case pipe
        /// A terminal, /dev/null, ...
        case device
        /// What this process has open under that number: /dev/stdout, or `>(...)` of a shell.
        case descriptor(Int32)
    }

    /// As it was named.
    public let path: String
    /// What it leads to, behind all symbolic links.
    public let target: String
    let kind: Kind

    /// Whether it's a file of its own, whose reading can be gone on with after an interruption.
    public var isFile: Bool { kind == .file }

    /// - Throws: ``StreamFileError/unfit(path:is:)`` for what can't take a stream, ``StreamFileError/system(_:)`` where nothing can be written.
    public init(_ path: String) throws(StreamFileError) {
        self.path = path
        guard !path.hasSuffix("/") else { throw .unfit(path: path, is: "a directory") }
        var target = path
        for _ in 0..<OutputPlace.mostLinks {
            var status = stat()
            guard lstat(target, &status) == 0 else {
                guard errno == ENOENT, !target.isEmpty else { throw .system(SystemError(function: "stat", code: errno, subject: target)) }
                try OutputPlace.requireFolder(of: target)
                (self.target, kind) = (target, .file)
                return
            }
            if let number = OutputPlace.ownDescriptor(target) {
                guard fstat(number, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else { throw .unfit(path: path, is: "a directory") }
                (self.target, kind) = (target, .descriptor(number))
                return
            }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                kind = try OutputPlace.kind(of: status.st_mode, path)
                guard access(target, W_OK) == 0 else { throw .system(SystemError(function: "open", code: errno, subject: target)) }
                self.target = target
                return
            }
            guard let next = SystemFiles.link(target) else {
                throw .system(SystemError(function: "readlink", code: errno, subject: target))
            }
            target = next.hasPrefix("/") ? next : OutputPlace.folder(of: target) + "/" + next
        }
        throw .system(SystemError(function: "stat", code: ELOOP, subject: path))
    }

    /// Opens it for writing, to be written as it is: for what is no regular file.
    ///
    /// - Parameter flags: open(2)'s, beside O_WRONLY.
    /// - Throws: `SystemError`.
    public func open(_ flags: Int32 = 0) throws(SystemError) -> FileDescriptor {
        let number: Int32
        if case .descriptor(let own) = kind {
            number = fcntl(own, F_DUPFD_CLOEXEC, 0)
        } else {
            number = Glibc.open(target, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags)
        }
        guard number >= 0 else { throw SystemError(function: "open", code: errno, subject: path) }
        return FileDescriptor(owning: number)
    }

    /// Gives what is to take the file's place its mode and, for an administrator, its owner.
    ///
    /// - Parameter successor: an open descriptor's number.
    /// - Throws: `SystemError`.
    public func handDown(to successor: Int32) throws(SystemError) {
        var before = stat()
        guard stat(target, &before) == 0 else { return }
        // Nobody else may give a file away; that it can be read as before is what the mode says.
        _ = fchown(successor, before.st_uid, before.st_gid)
        guard fchmod(successor, before.st_mode & 0o7777) == 0 else {
            throw SystemError(function: "chmod", code: errno, subject: target)
        }
    }

    private static func kind(of mode: mode_t, _ path: String) throws(StreamFileError) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFIFO: return .pipe
        case S_IFCHR: return .device
        case S_IFBLK: throw .unfit(path: path, is: "a disk")
        case S_IFSOCK: throw .unfit(path: path, is: "a socket")
        default: throw .unfit(path: path, is: "a directory")
        }
    }

    private static func requireFolder(of target: String) throws(StreamFileError) {
        let folder = folder(of: target)
        guard access(folder, W_OK | X_OK) == 0 else { throw .system(SystemError(function: "open", code: errno, subject: target)) }
    }

    /// The number behind a name such as /dev/fd/63. Opening that name again would begin the file anew, or need rights of its own.
    private static func ownDescriptor(_ path: String) -> Int32? {
        guard let slash = path.lastIndex(of: "/"), let number = Int32(path[path.index(after: slash)...]),
            let real = realpath(folder(of: path), nil)
        else { return nil }
        defer { free(real) }
        return String(cString: real) == "/proc/\(getpid())/fd" ? number : nil
    }

    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
