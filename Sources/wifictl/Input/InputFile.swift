import Glibc

/// A file or standard input, read in pieces; closed when it goes.
struct InputFile: ~Copyable {
    /// What one read asks for: large enough that the system call no longer shows in a profile.
    static let pieceLength = 256 * 1024

    /// The file's name for error messages.
    let name: String
    private let descriptor: Int32
    private let isOwned: Bool
    private let cancellation: CancellationSignal?

    /// Opens the file at `path`; `-` or nil means standard input. A raised `cancellation` ends a read that waits for
    /// somebody to type or to send.
    init(_ path: String?, cancellation: CancellationSignal? = nil) throws(ToolError) {
        self.cancellation = cancellation
        guard let path, path != "-" else {
            (name, descriptor, isOwned) = ("standard input", STDIN_FILENO, false)
            return
        }
        (name, isOwned) = (path, true)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            throw ToolError("cannot open \(path): \(systemMessage(errno))", hint: "check the path, or use - for standard input")
        }
    }

    deinit {
        if isOwned, descriptor >= 0 { close(descriptor) }
    }

    /// Whether a person is expected to type the input.
    var isTerminal: Bool { Terminal.isTerminal(descriptor) }

    /// Reads the next piece into `buffer` and gives the number of bytes; 0 at the end. Blocks its thread while there is
    /// nothing to read.
    ///
    /// - Throws: `ToolError` when the file can't be read, `CancellationError` once the cancellation is raised.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            try waitUntilReadable()
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR, errno != EAGAIN { throw ToolError("cannot read \(name): \(systemMessage(errno))") }
        }
    }

    private func waitUntilReadable() throws {
        var waiting = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: cancellation?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, 2, -1) < 0, errno == EINTR {}
        try cancellation?.check()
    }

    /// The next piece of at most `length` bytes; empty at the end.
    func next(_ length: Int = pieceLength) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = try read(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// All that is left, at most `limit` bytes; more is an error, since whoever asks for all must hold all.
    func all(limit: Int) throws -> [UInt8] {
        var content: [UInt8] = []
        while true {
            let piece = try next(min(InputFile.pieceLength, limit - content.count + 1))
            if piece.isEmpty { return content }
            content += piece
            if content.count > limit { throw ToolError("\(name) is larger than \(limit) bytes", hint: "is it the right file?") }
        }
    }
}

/// What the system says of an error number, without the number.
func systemMessage(_ number: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    let message = text.withUnsafeMutableBufferPointer { buffer -> String in
        guard let start = buffer.baseAddress else { return "" }
        return strerror_r(number, start, buffer.count) == 0 ? String(cString: start) : ""
    }
    return message.isEmpty ? "unknown error \(number)" : message.prefix(1).lowercased() + message.dropFirst()
}
