import Glibc

/// An exclusive lock on a file of its own, among processes; given back when the value goes, or the process does.
///
/// It's given back by name and not only by closing: a child process that is being started holds copies of all descriptors for
/// a moment, and with them the lock would stay taken.
public struct FileLock: ~Copyable {
    private let descriptor: FileDescriptor

    private init(_ path: String) throws(SystemError) {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw SystemError(function: "open", code: errno, subject: path) }
        descriptor = FileDescriptor(owning: number)
    }

    deinit { release() }

    /// Gives it back, at a place that can be seen.
    public func release() { flock(descriptor.number, LOCK_UN) }

    /// Takes the lock as soon as nobody else has it.
    ///
    /// - Throws: ``SystemError`` about the file.
    public static func wait(for path: String) throws(SystemError) -> FileLock {
        let lock = try FileLock(path)
        while flock(lock.descriptor.number, LOCK_EX) != 0 {
            guard errno == EINTR else { throw SystemError(function: "flock", code: errno, subject: path) }
        }
        return lock
    }

    /// Takes the lock if nobody has it; nil when somebody has.
    ///
    /// - Throws: ``SystemError`` about the file.
    public static func take(_ path: String) throws(SystemError) -> FileLock? {
        let lock = try FileLock(path)
        while flock(lock.descriptor.number, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return nil }
            guard errno == EINTR else { throw SystemError(function: "flock", code: errno, subject: path) }
        }
        return lock
    }
}
