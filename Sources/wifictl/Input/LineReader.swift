import Dispatch
import Synchronization

/// Cuts input into lines as it comes. `\r\n` ends a line as `\n` does; a last line without an end counts.
struct LineReader: ~Copyable {
    private let file: InputFile
    /// The longest line that is put up with, in bytes.
    private let limit: Int
    private var held: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private(set) var lineNumber = 0

    init(_ file: consuming InputFile, limit: Int) {
        self.file = file
        self.limit = limit
    }

    /// The next line without its end; nil when there are no more. May block its thread.
    mutating func next() throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = held[searched...].firstIndex(of: UInt8(ascii: "\n")) { return line(upTo: end, next: end + 1) }
            if held.count - start > limit { throw ToolError("line \(lineNumber + 1) of \(file.name) is longer than \(limit) bytes") }
            if isAtEnd { return start < held.count ? line(upTo: held.count, next: held.count) : nil }
            held.removeFirst(start)
            start = 0
            searched = held.count
            let piece = try file.next()
            isAtEnd = piece.isEmpty
            held += piece
        }
    }

    private mutating func line(upTo end: Int, next: Int) -> [UInt8] {
        let hasReturn = next > end && end > start && held[end - 1] == UInt8(ascii: "\r")
        let line = Array(held[start..<(hasReturn ? end - 1 : end)])
        start = next
        lineNumber += 1
        return line
    }
}

/// The lines of a file for a task: the reading blocks a thread of its own, one line ahead of nobody, so that input comes
/// in no faster than it is used and no other task waits for it.
final class InputLines: AsyncSequence, AsyncIteratorProtocol, Sendable {
    typealias Element = [UInt8]

    private let reader: Mutex<LineReader>
    private let queue = DispatchQueue(label: "input")

    /// Lines longer than `limit` bytes are an error.
    init(_ file: consuming sending InputFile, limit: Int) {
        reader = Mutex(LineReader(file, limit: limit))
    }

    func makeAsyncIterator() -> InputLines { self }

    /// The next line without its end; nil when there are no more.
    func next() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try reader.withLock { try $0.next() } }) }
        }
    }
}
