/// Why a description couldn't be had; the server's fault.
public enum HTTPAnswerError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What came is no HTTP answer.
    case malformed
    /// The head or the body is longer than a device's description can be.
    case tooLong(limit: Int)
    /// Another status than 200. Redirections aren't followed: a description lies where the sender said.
    case status(Int)
    /// The connection ended before the answer did.
    case truncated

    /// A clause for people.
    public var description: String {
        switch self {
        case .malformed: "what came is no HTTP answer"
        case .tooLong(let limit): "the answer is longer than \(limit) bytes"
        case .status(let status): "the server answered with status \(status)"
        case .truncated: "the answer was cut off"
        }
    }
}

/// Takes an HTTP answer apart as its bytes come: pure, and bounded whatever the server sends.
///
/// Feed ``take(_:)`` until it gives the body, or the end of the connection to ``finish()``.
struct HTTPAnswer {
    /// A description's head is a few hundred bytes.
    static let maximumHead = 8 << 10
    /// Descriptions are some kilobytes; a few with icons and many services are tens.
    static let maximumBody = 64 << 10

    private enum State {
        case head
        case counted(Int)
        case untilEnd
        case chunks
        case done
    }

    private var state = State.head
    private var held: [UInt8] = []
    private var body: [UInt8] = []

    /// Takes what came.
    ///
    /// - Returns: the whole body once it is there.
    mutating func take(_ bytes: some Sequence<UInt8>) throws(HTTPAnswerError) -> [UInt8]? {
        held.append(contentsOf: bytes)
        if case .head = state { try takeHead() }
        switch state {
        case .head, .done: return nil
        case .counted(let length):
            guard held.count >= length else { return nil }
            state = .done
            return Array(held[..<length])
        case .untilEnd:
            guard held.count <= HTTPAnswer.maximumBody else { throw .tooLong(limit: HTTPAnswer.maximumBody) }
            return nil
        case .chunks: return try takeChunks()
        }
    }

    /// The connection ended.
    ///
    /// - Returns: the body, where its end is the connection's.
    mutating func finish() throws(HTTPAnswerError) -> [UInt8] {
        guard case .untilEnd = state else { throw .truncated }
        state = .done
        return held
    }

    private mutating func takeHead() throws(HTTPAnswerError) {
        guard let end = HTTPAnswer.endOfHead(held) else {
            guard held.count <= HTTPAnswer.maximumHead else { throw .tooLong(limit: HTTPAnswer.maximumHead) }
            return
        }
        guard end <= HTTPAnswer.maximumHead else { throw .tooLong(limit: HTTPAnswer.maximumHead) }
        guard let head = HTTPHead(held[..<end]), let status = head.status else { throw .malformed }
        guard status == 200 else { throw .status(status) }
        held.removeFirst(end)
        if let coding = head["transfer-encoding"] {
            guard coding.lowercased() == "chunked" else { throw .malformed }
            state = .chunks
        } else if let text = head["content-length"] {
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text) else { throw .malformed }
            guard length <= HTTPAnswer.maximumBody else { throw .tooLong(limit: HTTPAnswer.maximumBody) }
            state = .counted(length)
        } else {
            state = .untilEnd
        }
    }

    /// Where the empty line behind the head ends.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        var index = 0
        while let feed = bytes[index...].firstIndex(of: 0x0A) {
            let next = feed + 1
            if next < bytes.count, bytes[next] == 0x0A { return next + 1 }
            if next + 1 < bytes.count, bytes[next] == 0x0D, bytes[next + 1] == 0x0A { return next + 2 }
            index = next
        }
        return nil
    }

    /// A chunk: its length in hex, perhaps `;` and extensions, the bytes, an empty line. The last one is empty.
    private mutating func takeChunks() throws(HTTPAnswerError) -> [UInt8]? {
        // A size line: eight digits would be four gigabytes, the rest is room for extensions.
        let longestLine = 256
        var start = 0
        // Taken off once for all chunks: else many small ones would move what is held as often.
        defer { held.removeFirst(start) }
        while let feed = held[start...].prefix(longestLine).firstIndex(of: 0x0A) {
            let digits = held[start..<feed].prefix { $0 != 0x3B && $0 != 0x0D && $0 != 0x20 }
            guard (1...8).contains(digits.count), digits.first != 0x2B,
                let length = Int(String(decoding: digits, as: UTF8.self), radix: 16), length >= 0
            else {
                throw .malformed
            }
            guard body.count + length <= HTTPAnswer.maximumBody else { throw .tooLong(limit: HTTPAnswer.maximumBody) }
            if length == 0 {
                state = .done
                return body
            }
            let end = feed + 1 + length
            guard held.count >= end + 2 else { return nil }
            guard held[end] == 0x0D, held[end + 1] == 0x0A else { throw .malformed }
            body += held[feed + 1..<end]
            start = end + 2
        }
        guard held.count - start < longestLine else { throw .malformed }
        return nil
    }
}
