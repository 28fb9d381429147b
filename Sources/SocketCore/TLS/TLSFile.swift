import Glibc

/// Small files of certificates and keys: read with a bound, written whole or not at all.
enum TLSFile {
    /// The largest file taken: a revocation list of some hundred thousand entries.
    static let largest = 16 << 20

    /// What tells one content of a file from another without reading it.
    struct Stamp: Equatable {
        private let device: dev_t
        private let node: ino_t
        private let size: off_t
        private let times: [Int]

        fileprivate init(_ status: stat) {
            (device, node, size) = (status.st_dev, status.st_ino, status.st_size)
            times = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
        }
    }

    /// The file's stamp; nil where there is none.
    static func stamp(_ path: String) -> Stamp? {
        var status = stat()
        return stat(path, &status) == 0 ? Stamp(status) : nil
    }

    /// Whether every user of this machine can read the file.
    static func isOpenToAll(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
    }

    /// - Throws: ``TLSError/configuration(_:)``, naming the file and the system's reason.
    static func read(_ path: String) throws(TLSError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw problem("cannot open", path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw problem("cannot read", path) }
        guard status.st_size <= largest else { throw .configuration("\(path) is larger than \(largest) bytes: is it the right file?") }
        // One byte more than the file has, so that its end is seen without another allocation: a key's bytes are to be in one place.
        var failed = false
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size) + 1) { buffer, count in
            while count < buffer.count {
                let got = Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), buffer.count - count)
                if got < 0, errno == EINTR { continue }
                failed = got < 0
                if got <= 0 { return }
                count += got
            }
        }
        if failed { throw problem("cannot read", path) }
        return bytes
    }

    /// Writes beside and renames, so that nobody ever sees half of it and a full disk loses nothing.
    ///
    /// - Parameter isPrivate: readable by its owner alone (0600) from its first moment.
    /// - Throws: ``TLSError/configuration(_:)``.
    static func write(_ bytes: UnsafeRawBufferPointer, to path: String, isPrivate: Bool) throws(TLSError) {
        let beside = "\(path).\(getpid()).new"
        let mode: mode_t = isPrivate ? 0o600 : 0o644
        let descriptor = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw problem("cannot create", beside) }
        var isDone = false
        defer { if !isDone { unlink(beside) } }
        let complete = writeAll(bytes, to: descriptor) && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let reason = errno
        guard close(descriptor) == 0, complete else { throw problem("cannot write", beside, reason) }
        guard rename(beside, path) == 0 else { throw problem("cannot write", path) }
        isDone = true
    }

    static func write(_ bytes: [UInt8], to path: String) throws(TLSError) {
        let span = bytes.span.bytes
        try span.withUnsafeBytes { (raw) throws(TLSError) in try write(raw, to: path, isPrivate: false) }
    }

    private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// What went wrong, and what to do.
    private static func problem(_ what: String, _ path: String, _ code: Int32 = errno) -> TLSError {
        let error = SystemError(function: "open", code: code)
        return .configuration("\(what) \(path): \(error.reason) (\(error.fileAdvice))")
    }
}
