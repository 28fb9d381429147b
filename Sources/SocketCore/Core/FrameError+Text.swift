import FrameCodec

/// In this module and not in FrameCodec, which firmware builds without text.
extension FrameError: CustomStringConvertible {
    /// A clause for people.
    public var description: String {
        switch self {
        case .unsupportedVersion(let version): "version \(version) isn't accepted"
        case .malformedLength(let field): "the length field \(FrameError.hex(field)) is no number"
        case .bodyTooLarge(let declared, let limit):
            "a body of \(declared) byte\(declared == 1 ? "" : "s") is declared, the limit is \(limit)"
        case .truncated(let have, let need):
            "the stream ends inside a \(need == FrameHeader.byteCount ? "header" : "frame"): \(have) of \(need) bytes"
        case .outputTooSmall(let have, let need): "a frame of \(need) bytes doesn't fit \(have)"
        }
    }

    /// Its name in JSON Lines.
    package var name: String {
        switch self {
        case .unsupportedVersion: "unsupportedVersion"
        case .malformedLength: "malformedLength"
        case .bodyTooLarge: "bodyTooLarge"
        case .truncated: "truncated"
        case .outputTooSmall: "outputTooSmall"
        }
    }

    /// Eight hex digits.
    package static func hex(_ field: UInt32) -> String {
        let digits = String(field, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
