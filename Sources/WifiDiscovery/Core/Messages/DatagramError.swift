import FrameCodec
import SocketCore

/// Why a datagram is no discovery message. The sender's fault: it is counted and dropped, and nothing else happens
/// (protocol.md, section 4).
public enum DatagramError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Longer than ``DiscoveryDatagram/maximumByteCount``; it was dropped unread.
    case tooLong(byteCount: Int)
    /// Not one whole frame.
    case frame(FrameError)
    /// Bytes after the frame.
    case trailingBytes(Int)
    /// A probe or reply with msgId 0.
    case zeroMessageId
    /// The body is no JSON text.
    case notJSON(JSONError)
    /// JSON, but none of `probe`, `reply`, `announce`, `bye`.
    case unknownMessage
    /// A message of a kind that isn't meant for this receiver, like a probe at a controller.
    case unexpectedMessage
    /// A required key isn't there.
    case missingKey(String)
    /// A key holds another type, or a value outside its range.
    case badValue(key: String)

    /// A clause for people.
    public var description: String {
        switch self {
        case .tooLong(let count): "it's longer than a discovery message may be: \(count) bytes"
        case .frame(let error): "it's no frame: \(error)"
        case .trailingBytes(let count): "\(count) byte\(count == 1 ? "" : "s") too many stand behind its frame"
        case .zeroMessageId: "its msgId is 0"
        case .notJSON(let error): "its body is no JSON: \(error)"
        case .unknownMessage: "its body is none of probe, reply, announce and bye"
        case .unexpectedMessage: "it's of a kind that isn't meant for this side"
        case .missingKey(let key): "\"\(key)\" is missing"
        case .badValue(let key): "\"\(key)\" is ill-typed or out of its range"
        }
    }

    /// One word for counters and JSON.
    public var reason: Reason {
        switch self {
        case .tooLong: .tooLong
        case .frame: .frame
        case .trailingBytes: .trailingBytes
        case .zeroMessageId: .zeroMessageId
        case .notJSON: .notJSON
        case .unknownMessage: .unknownMessage
        case .unexpectedMessage: .unexpectedMessage
        case .missingKey: .missingKey
        case .badValue: .badValue
        }
    }

    /// The error without its numbers.
    public enum Reason: String, Hashable, Sendable, CaseIterable, Comparable {
        /// Longer than a datagram may be.
        case tooLong
        /// The frame is broken.
        case frame
        /// Bytes behind the frame.
        case trailingBytes
        /// A probe or reply without id.
        case zeroMessageId
        /// The body is no JSON.
        case notJSON
        /// The object says nothing that is known.
        case unknownMessage
        /// A message that isn't for this side.
        case unexpectedMessage
        /// A key is missing.
        case missingKey
        /// A key's value can't be.
        case badValue

        /// In alphabetical order, for output that doesn't depend on hashing.
        public static func < (left: Reason, right: Reason) -> Bool { left.rawValue < right.rawValue }
    }
}
