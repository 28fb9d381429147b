import FrameCodec
import SocketCore

/// Why a line describes no frame.
enum FrameLineError: Error, Equatable, Sendable {
    case notJSON(JSONError)
    case notObject
    case otherType(String)
    case unknownKey(String)
    case missing(String)
    /// The value of `key` isn't `wanted`.
    case illTyped(key: String, wanted: String)
    case badHex
    case bodyDiffersFromText
    case wrongLength(declared: Int64, body: Int)
}

extension FrameLineError: CustomStringConvertible {
    var description: String {
        switch self {
        case .notJSON(let error): "no JSON: \(error)"
        case .notObject: "not a JSON object"
        case .otherType(let type): "a line of type '\(type)' is no frame"
        case .unknownKey(let key): "unknown key '\(key)'"
        case .missing(let key): "'\(key)' is missing"
        case .illTyped(let key, let wanted): "'\(key)' isn't \(wanted)"
        case .badHex: "'body' isn't an even number of hex digits"
        case .bodyDiffersFromText: "'body' and 'text' say different things"
        case .wrongLength(let declared, let body): "'len' says \(declared), but the body has \(body) bytes"
        }
    }
}

extension Frame {
    /// Keys that `frames` and `send` print beside those that make the frame; they're passed over.
    private static let passedOver: Set<String> = [
        "type", "offset", "kind", "stream", "direction", "time", "source", "destination",
    ]

    /// Types of lines that `frames` prints beside those that show a frame.
    static let otherTypes: Set<String> = ["datagram", "stream", "error", "summary"]

    /// Reads `{"msgId":1,"version":1,"body":"6869"}` or with `"text":"hi"` in place of the body. `version` is 1 when left
    /// out, the body empty when both are. A line that `frames` printed is read as the frame that it shows.
    init(jsonLine line: [UInt8]) throws(FrameLineError) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue.parse(line) } catch { throw .notJSON(error) }
        guard let members = value.objectValue else { throw .notObject }
        if let type = value["type"], type != "frame", type != "message" { throw .otherType(type.stringValue ?? type.text) }
        let known = Frame.passedOver.union(["msgId", "version", "body", "text", "len"])
        for member in members where !known.contains(member.name) { throw .unknownKey(member.name) }
        guard let id = value["msgId"] else { throw .missing("msgId") }
        guard let msgId = id.integerValue.flatMap({ UInt32(exactly: $0) }) else {
            throw .illTyped(key: "msgId", wanted: "a whole number from 0 to 4294967295")
        }
        guard let version = (value["version"] ?? 1).integerValue.flatMap({ UInt16(exactly: $0) }) else {
            throw .illTyped(key: "version", wanted: "a whole number from 1 to 65535")
        }
        self.init(msgId: msgId, version: version, body: try Frame.body(of: value))
        if let declared = value["len"] {
            guard let declared = declared.integerValue else { throw .illTyped(key: "len", wanted: "a whole number") }
            guard declared == body.count else { throw .wrongLength(declared: declared, body: body.count) }
        }
    }

    private static func body(of value: JSONValue) throws(FrameLineError) -> [UInt8] {
        var bytes: [UInt8]?
        if let body = value["body"] {
            guard let digits = body.stringValue else { throw .illTyped(key: "body", wanted: "a string of hex digits") }
            guard let read = Hex.bytes(digits.utf8) else { throw .badHex }
            bytes = read
        }
        guard let text = value["text"], text != .null else { return bytes ?? [] }
        guard let written = text.stringValue.map({ Array($0.utf8) }) else { throw .illTyped(key: "text", wanted: "a string") }
        guard bytes == nil || bytes == written else { throw .bodyDiffersFromText }
        return written
    }
}
