import Glibc
import SocketCore

/// Why the state can't be read or written.
public enum StateFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It can't be written.
    case system(SystemError)
    /// It can't be read.
    case unreadable(SystemError)
    /// The file is no state of ours; `offset` is where it stops making sense.
    case damaged(path: String, offset: Int)
    /// The file is larger than any state can be.
    case tooLarge(path: String, bytes: Int)

    /// A sentence for people, with what to try.
    public var description: String {
        switch self {
        case .system(let error): "cannot keep state: \(error) (\(error.fileAdvice); see --home)"
        case .unreadable(let error): "cannot read state: \(error) (\(error.fileAdvice); see --home)"
        case .damaged(let path, let offset): "\(path) is damaged at byte \(offset) (move it away to start afresh)"
        case .tooLarge(let path, let bytes): "\(path) has \(bytes) bytes, more than any state of ours (move it away to start afresh)"
        }
    }
}

/// One JSON file that several processes share: private, written beside and renamed, locked while it's changed.
///
/// A reader sees the old or the new state, never half of one. Whoever changes it holds the lock from reading to renaming,
/// so that two processes don't undo each other's work.
public struct StateFile: Sendable {
    /// 4,096 routers with everything that's known of them come to about 4 MiB.
    public static let largestSize = 16 << 20

    /// The file's path.
    public let path: String

    /// A file in a directory, which is made, private, when it's first written.
    public init(directory: String, name: String = "state.json") { path = directory + "/" + name }

    /// What the file holds; nil when there is none.
    ///
    /// - Throws: ``StateFileError``.
    public func read() throws(StateFileError) -> JSONValue? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .unreadable(failure("open", path))
        }
        let owned = FileDescriptor(owning: descriptor)
        let bytes = try readAll(owned.number)
        // An empty file is what a crash of the file system leaves of one that was never synced; ours are.
        do throws(JSONError) { return try JSONValue.parse(bytes) } catch { throw .damaged(path: path, offset: error.offset) }
    }

    /// Reads, changes and writes the state as one step that no other process can come between.
    ///
    /// - Throws: ``StateFileError``, or what `change` throws; the file is unchanged then.
    public func update<R>(_ change: (inout JSONValue) throws -> R) throws -> R {
        try makeDirectory()
        let lock = try takeLock()
        defer { lock.release() }
        var state = try read() ?? .object([])
        let before = state
        let result = try change(&state)
        if state != before { try write(state.encoded(), in: directory) }
        return result
    }

    /// Writes the state, whatever was there; for files that one process has to itself.
    func replace(with state: JSONValue) throws(StateFileError) {
        try makeDirectory()
        try write(state.encoded(), in: directory)
    }

    private func takeLock() throws(StateFileError) -> FileLock {
        do throws(SystemError) { return try FileLock.wait(for: path + ".lock") } catch { throw .system(error) }
    }

    private func readAll(_ descriptor: Int32) throws(StateFileError) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(failure("fstat", path)) }
        let size = Int(status.st_size)
        guard size <= StateFile.largestSize else { throw .tooLarge(path: path, bytes: size) }
        var bytes = [UInt8](repeating: 0, count: size)
        var filled = 0
        while filled < size {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + filled, size - filled) }
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .unreadable(failure("read", path))
            }
            filled += count
        }
        bytes.removeLast(size - filled)
        return bytes
    }

    private func write(_ bytes: [UInt8], in directory: String) throws(StateFileError) {
        let beside = path + ".new"
        let descriptor = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(failure("open", beside)) }
        let owned = FileDescriptor(owning: descriptor)
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(owned.number, $0.baseAddress! + written, bytes.count - written) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw .system(failure("write", beside))
            }
            written += count
        }
        // Content before name: else a power cut could leave the new name on an empty file.
        guard fsync(owned.number) == 0 else { throw .system(failure("fsync", beside)) }
        guard rename(beside, path) == 0 else { throw .system(failure("rename", path)) }
        try syncDirectory()
    }

    /// Makes names that were given in the directory outlast a power cut.
    func syncDirectory() throws(StateFileError) {
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw .system(failure("open", directory)) }
        let ownedParent = FileDescriptor(owning: parent)
        guard fsync(ownedParent.number) == 0 else { throw .system(failure("fsync", directory)) }
    }

    /// Makes the directory, private, and those above it; nothing is changed where it exists.
    ///
    /// - Throws: ``StateFileError/system(_:)``.
    public func makeDirectory() throws(StateFileError) { try makeDirectory(directory) }

    private var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    private func makeDirectory(_ directory: String) throws(StateFileError) {
        guard !directory.isEmpty, mkdir(directory, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let slash = directory.lastIndex(of: "/"), slash != directory.startIndex else {
            throw .system(failure("mkdir", directory))
        }
        try makeDirectory(String(directory[..<slash]))
        guard mkdir(directory, 0o700) == 0 || errno == EEXIST else { throw .system(failure("mkdir", directory)) }
    }

    private func failure(_ function: String, _ subject: String) -> SystemError {
        SystemError(function: function, code: errno, subject: subject)
    }
}
