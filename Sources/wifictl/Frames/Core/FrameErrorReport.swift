import FrameCodec
import SocketCore

/// A frame error as the tool tells it: its name and numbers for scripts, a sentence for people.
struct FrameErrorReport: Equatable, Sendable {
    /// Where the frame begins, in bytes from the start of its stream.
    let offset: UInt64
    let error: FrameError

    /// The error's name in JSON Lines.
    var name: String {
        switch error {
        case .unsupportedVersion: "unsupportedVersion"
        case .malformedLength: "malformedLength"
        case .bodyTooLarge: "bodyTooLarge"
        case .truncated: "truncated"
        case .outputTooSmall: "outputTooSmall"
        }
    }

    /// The JSON line's members: `error`, `offset`, and the numbers that belong to the error.
    var members: [JSONValue.Member] {
        let numbers: [JSONValue.Member] =
            switch error {
            case .unsupportedVersion(let version): [JSONValue.Member("version", .integer(Int64(version)))]
            case .malformedLength(let field): [JSONValue.Member("field", .string(FrameErrorReport.hex(field)))]
            case .bodyTooLarge(let declared, let limit):
                [JSONValue.Member("declared", .integer(Int64(declared))), JSONValue.Member("limit", .integer(Int64(limit)))]
            case .truncated(let have, let need), .outputTooSmall(let have, let need):
                [JSONValue.Member("have", .integer(Int64(have))), JSONValue.Member("need", .integer(Int64(need)))]
            }
        return [JSONValue.Member("error", .string(name)), JSONValue.Member("offset", .integer(Int64(offset)))] + numbers
    }

    /// What is wrong and where, without advice.
    var sentence: String {
        let what =
            switch error {
            case .unsupportedVersion(let version): "version \(version) isn't accepted"
            case .malformedLength(let field): "the length field \(FrameErrorReport.hex(field)) is no number"
            case .bodyTooLarge(let declared, let limit): "a body of \(declared) bytes is declared, the limit is \(limit)"
            case .truncated(let have, let need):
                need == FrameHeader.byteCount
                    ? "the stream ends inside a header: \(have) of \(need) bytes"
                    : "the stream ends inside a frame: \(have) of \(need) bytes"
            case .outputTooSmall(let have, let need): "a frame of \(need) bytes doesn't fit \(have)"
            }
        return "\(what), in the frame at offset \(offset)"
    }

    /// What to try.
    var advice: String {
        switch error {
        case .unsupportedVersion, .malformedLength: "another --layout, or bytes that are no frames?"
        case .bodyTooLarge: "raise --limit if the body should be that large, or is it another --layout?"
        case .truncated: "was the stream cut off?"
        case .outputTooSmall: "give it more room"
        }
    }

    private static func hex(_ field: UInt32) -> String {
        let digits = String(field, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
