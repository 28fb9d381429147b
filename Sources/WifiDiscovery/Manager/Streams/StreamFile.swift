import Glibc
import SocketCore
import Synchronization

/// Why a stream can't be kept in a file.
public enum StreamFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A file operation failed.
    case system(SystemError)
    /// The state beside it can't be written.
    case state(StateFileError)
    /// Somebody else reads into the same file.
    case inUse(path: String)
    /// What is there can't take a stream.
    case unfit(path: String, is: String)
    /// The file isn't as long as what was written to it: somebody else has changed it.
    case changed(path: String, have: Int, expected: Int)

    /// A sentence for people, with what to try.
    public var description: String {
        switch self {
        case .system(let error): "cannot keep the stream: \(error) (is there room, and may you write there?)"
        case .state(let error): "\(error)"
        case .inUse(let path): "another reading writes \(path) (wait for it, or name another file)"
        case .unfit(let path, let kind): "cannot keep the stream: \(path) is \(kind) (name a file)"
        case .changed(let path, let have, let expected):
            "\(path) has \(have) bytes where \(expected) were written: somebody else has changed it (delete it and read again)"
        }
    }
}

/// A regular file that a stream is read into: its bytes in `path.part`, where they come from in `path.part.json`, until it's whole.
final class StreamFile: Sendable {
    /// Where the bytes come from. Another boot may have another stream of that name.
    struct Source: Equatable {
        var router: String
        var boot: String?
        var stream: String
    }

    private let place: OutputPlace
    private let path: String
    private let source: Source
    private let part: FileDescriptor
    private let state: StateFile
    private let written: Mutex<(bytes: Int, total: Int?)>
    /// Bytes that an earlier reading has left.
    let kept: Int
    /// The stream's size as the earlier reading has learned it.
    let total: Int?

    /// Opens it, and goes on with what is there if it's of the same source.
    init(_ place: OutputPlace, _ source: Source) throws(StreamFileError) {
        self.place = place
        path = place.target
        self.source = source
        let number = open(path + ".part", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system(SystemError(function: "open", code: errno, subject: path + ".part")) }
        part = FileDescriptor(owning: number)
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else { throw .inUse(path: path) }
        let target = place.target
        let name = target.lastIndex(of: "/").map { String(target[target.index(after: $0)...]) } ?? target
        state = StateFile(directory: OutputPlace.folder(of: path), name: name + ".part.json")
        let (kept, total) = StreamFile.left(by: state, source, number)
        self.kept = kept
        self.total = total
        written = Mutex((kept, total))
        guard ftruncate(number, off_t(kept)) == 0, lseek(number, off_t(kept), SEEK_SET) == off_t(kept) else {
            throw .system(SystemError(function: "ftruncate", code: errno, subject: path + ".part"))
        }
    }

    /// Unlocked by word: a child that is being started holds a copy of every descriptor for a moment, and with it the lock.
    deinit { flock(part.number, LOCK_UN) }

    /// How much of the same stream is there. A damaged or foreign state counts as none: it's only read again.
    private static func left(by state: StateFile, _ source: Source, _ number: Int32) -> (Int, Int?) {
        guard let json = try? state.read(), let total = json["total"]?.integerValue,
            Source(
                router: json["router"]?.stringValue ?? "", boot: json["boot"]?.stringValue, stream: json["stream"]?.stringValue ?? "")
                == source
        else { return (0, nil) }
        let size = Int(lseek(number, 0, SEEK_END))
        return size > 0 && size <= total ? (size, Int(total)) : (0, nil)
    }

    /// Adds bytes; the first ones tell the stream's size, which is kept before them.
    func append(_ bytes: [UInt8], total: Int) throws(StreamFileError) {
        if written.withLock({ $0.total }) != total {
            let json: JSONValue = [
                "router": .string(source.router), "boot": source.boot.map { .string($0) } ?? .null, "stream": .string(source.stream),
                "total": .integer(Int64(total)),
            ]
            do throws(StateFileError) { try state.replace(with: json) } catch { throw .state(error) }
        }
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(part.number, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(SystemError(function: "write", code: errno, subject: path + ".part")) }
            done += count
        }
        written.withLock { $0 = ($0.bytes + bytes.count, total) }
    }

    /// All is there: it gets its name, and with it the owner and the mode of the file that had it.
    func finish(total: Int) throws(StreamFileError) {
        let size = Int(lseek(part.number, 0, SEEK_END))
        guard size == total else { throw .changed(path: path + ".part", have: size, expected: total) }
        // Content before name: else a power cut could leave the new name on an empty file.
        guard fsync(part.number) == 0 else { throw .system(SystemError(function: "fsync", code: errno, subject: path + ".part")) }
        do throws(SystemError) { try place.handDown(to: part.number) } catch { throw .system(error) }
        guard rename(path + ".part", path) == 0 else { throw .system(SystemError(function: "rename", code: errno, subject: path)) }
        // The name before what tells to go on: killed in between, the state without its part counts as none.
        do throws(StateFileError) { try state.syncDirectory() } catch { throw .state(error) }
        unlink(state.path)
    }
}
