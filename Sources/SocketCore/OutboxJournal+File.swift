import Glibc

/// A private file, open for reading and appending; closed with its value.
struct JournalFile: ~Copyable {
    private let descriptor: Int32
    private let path: String
    private let disk: JournalDisk

    /// Opens, or makes with mode 0600. Errors call it `name`: what it's about to become.
    init(_ path: String, _ disk: JournalDisk, name: String? = nil) throws(OutboxJournalError) {
        self.path = name ?? path
        self.disk = disk
        descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw .system(call: "open", path: self.path, errno: errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private func failure(_ call: String) -> OutboxJournalError { .system(call: call, path: path, errno: errno) }

    /// All bytes; nil when there are more than `limit`.
    func readAll(limit: Int) throws(OutboxJournalError) -> [UInt8]? {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw failure("lseek") }
        guard size <= limit else { return nil }
        var bytes: [UInt8] = []
        var problem: OutboxJournalError?
        bytes.append(addingCapacity: Int(size)) { output in
            output.withUnsafeMutableBufferPointer { target, initialized in
                while initialized < Int(size) {
                    let count = pread(descriptor, target.baseAddress! + initialized, Int(size) - initialized, off_t(initialized))
                    if count == 0 { break }
                    if count > 0 {
                        initialized += count
                    } else if errno != EINTR {
                        problem = failure("pread")
                        break
                    }
                }
            }
        }
        if let problem { throw problem }
        return bytes
    }

    /// Appends all of it.
    func append(_ bytes: RawSpan) throws(OutboxJournalError) {
        var problem: OutboxJournalError?
        bytes.withUnsafeBytes { raw in
            var done = 0
            while done < raw.count, problem == nil {
                // The loop's condition says that there are bytes, so there is a base address.
                let count = disk.write(descriptor, raw.baseAddress! + done, raw.count - done)
                if count >= 0 { done += count } else if errno != EINTR { problem = failure("write") }
            }
        }
        if let problem { throw problem }
    }

    func truncate(to length: Int) throws(OutboxJournalError) {
        while disk.truncate(descriptor, length) != 0 {
            if errno != EINTR { throw failure("ftruncate") }
        }
    }

    /// Waits until the bytes are on the disk.
    func sync() throws(OutboxJournalError) {
        while disk.sync(descriptor) != 0 {
            if errno != EINTR { throw failure("fdatasync") }
        }
    }

    /// Waits until names in the file's directory are on the disk.
    static func syncDirectory(of path: String, _ disk: JournalDisk) throws(OutboxJournalError) {
        let end = path.lastIndex(of: "/")
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = disk.openDirectory(directory)
        guard descriptor >= 0 else { throw .system(call: "open", path: directory, errno: errno) }
        defer { close(descriptor) }
        while disk.syncDirectory(descriptor) != 0 {
            // Some file systems can't sync a directory; they order names by themselves.
            if errno == EINVAL { return }
            if errno != EINTR { throw .system(call: "fsync", path: directory, errno: errno) }
        }
    }

    static func rename(_ path: String, to other: String, _ disk: JournalDisk) throws(OutboxJournalError) {
        if disk.rename(path, other) != 0 { throw .system(call: "rename", path: path, errno: errno) }
    }

    static func remove(_ path: String) throws(OutboxJournalError) {
        if unlink(path) != 0, errno != ENOENT { throw .system(call: "unlink", path: path, errno: errno) }
    }

    /// `<stem>-<n>` with the first n that no file has.
    static func freeName(_ stem: String) throws(OutboxJournalError) -> String {
        for number in 1...9_999 where access("\(stem)-\(number)", F_OK) != 0 { return "\(stem)-\(number)" }
        throw .system(call: "access", path: stem, errno: EEXIST)
    }
}
