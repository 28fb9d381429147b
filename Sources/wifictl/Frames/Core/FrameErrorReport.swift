import FrameCodec
import SocketCore

/// A frame error as the tool tells it: its name and numbers for scripts, a sentence for people.
struct FrameErrorReport: Equatable, Sendable {
    /// Where the frame begins, in bytes from the start of its stream.
    let offset: UInt64
    let error: FrameError

    /// The error's name in JSON Lines.
    var name: String { error.name }

    /// The JSON line's members: `error`, `offset`, and the numbers that belong to the error.
    var members: [JSONValue.Member] {
        let numbers: [JSONValue.Member] =
            switch error {
            case .unsupportedVersion(let version): [JSONValue.Member("version", .integer(Int64(version)))]
            case .malformedLength(let field): [JSONValue.Member("field", .string(FrameError.hex(field)))]
            case .bodyTooLarge(let declared, let limit):
                [JSONValue.Member("declared", .integer(Int64(declared))), JSONValue.Member("limit", .integer(Int64(limit)))]
            case .truncated(let have, let need), .outputTooSmall(let have, let need):
                [JSONValue.Member("have", .integer(Int64(have))), JSONValue.Member("need", .integer(Int64(need)))]
            }
        return [JSONValue.Member("error", .string(name)), JSONValue.Member("offset", .integer(Int64(offset)))] + numbers
    }

    /// What is wrong and where, without advice.
    var sentence: String {
        "\(error), in the frame at offset \(offset)"
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
}
