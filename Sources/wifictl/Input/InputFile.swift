import Glibc

/// A file or standard input, read in pieces; closed when it goes.
struct InputFile: ~Copyable {
    /// What one read asks for: large enough that the system call no longer shows in a profile.
    static let pieceLength = 256 * 1024

    /// The file's name for error messages.
    let name: String
    private let descriptor: Int32
    private let isOwned: Bool

    /// Opens the file at `path`; `-` or nil means standard input.
    init(_ path: String?) throws(ToolError) {
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

    /// Reads the next piece into `buffer` and gives the number of bytes; 0 at the end. May block its thread.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(ToolError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw ToolError("cannot read \(name): \(systemMessage(errno))")
            }
        }
    }

    /// The next piece of at most `length` bytes; empty at the end.
    func next(_ length: Int = pieceLength) throws(ToolError) -> [UInt8] {
        var failure: ToolError?
        let piece = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            do throws(ToolError) {
                count = try read(into: UnsafeMutableRawBufferPointer(buffer))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return piece
    }

    /// All that is left, at most `limit` bytes; more is an error, since whoever asks for all must hold all.
    func all(limit: Int) throws(ToolError) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            let piece = try next(min(InputFile.pieceLength, limit - content.count + 1))
            if piece.isEmpty { return content }
            content += piece
            if content.count > limit { throw ToolError("\(name) is larger than \(limit) bytes", hint: "raise --limit if it should be") }
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
