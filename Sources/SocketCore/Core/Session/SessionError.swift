/// Why `send` refused a message. Nothing was kept; the message has no outcome.
public enum SessionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// An empty body can't be a message: with an id it's a receipt on the wire, without one a heartbeat. The caller's fault.
    case emptyBody
    /// The body is larger than this session's limit or than its layout can say. The caller's fault.
    case bodyTooLarge(bytes: Int, limit: Int)
    /// The outbox is full: wait for ``SessionEvent/writable``. The peer is away or slow.
    case outboxFull(messages: Int, bytes: Int)
    /// The session is closed or closing.
    case closed

    /// A sentence for people.
    public var description: String {
        switch self {
        case .emptyBody: "an empty body can't be sent: on the wire it would be a receipt or a heartbeat"
        case .bodyTooLarge(let bytes, let limit): "a body of \(bytes) byte\(bytes == 1 ? "" : "s") is over this session's limit of \(limit)"
        case .outboxFull(let messages, let bytes):
            "the outbox is full (\(messages) messages, \(bytes) bytes): the peer is away or slow; wait until it's writable or cancel some"
        case .closed: "the session is closed; open another one"
        }
    }
}

/// Why a connection ended.
public enum LossReason: Error, Equatable, Sendable, CustomStringConvertible {
    /// Dialling failed, as the shell tells it.
    case connectFailed(String)
    /// Dialling took longer than the span.
    case connectTimedOut(after: Duration)
    /// No hello came within the span. The peer's fault.
    case noHello(after: Duration)
    /// The first frame was no hello, or an ill one. The peer's fault.
    case badHello(HelloError)
    /// The router speaks none of our versions.
    case versionRefused(theirs: [UInt16])
    /// A certificate was refused, on either side: dialling again changes nothing.
    case refused(String)
    /// Another router answers at this address.
    case wrongRouter(expected: String, found: String)
    /// A frame with another version than the agreed one. The peer's fault.
    case wrongVersion(found: UInt16, agreed: UInt16)
    /// The stream is no stream of frames. The peer's fault.
    case badFrame(String)
    /// No byte came for the span.
    case silent(for: Duration)
    /// A message was resent as often as allowed and never receipted.
    case noReceipt(msgId: UInt32, resends: Int)
    /// The peer ended it in order.
    case peerClosed
    /// The transport failed, as the shell tells it.
    case transport(String)
    /// A newer connection for the same session took over.
    case replaced
    /// The application went to the background.
    case suspended
    /// `close` was called.
    case closed
    /// Nobody came back within the router's memory.
    case forgotten(after: Duration)

    /// A clause for people.
    public var description: String {
        switch self {
        case .connectFailed(let text): "cannot connect: \(text)"
        case .connectTimedOut(let span): "no connection within \(span)"
        case .noHello(let span): "the peer sent no hello within \(span)"
        case .badHello(let error): "the peer's first frame is no valid hello: \(error)"
        case .versionRefused(let theirs): "the router speaks none of our protocol versions, only \(theirs)"
        case .refused(let text): "refused, and not tried again: \(text)"
        case .wrongRouter(let expected, let found): "router \(found) answers where \(expected) was expected"
        case .wrongVersion(let found, let agreed): "the peer sent a frame of version \(found) in a session of version \(agreed)"
        case .badFrame(let text): "the peer's bytes are no frames: \(text)"
        case .silent(let span): "nothing heard for \(span)"
        case .noReceipt(let msgId, let resends): "no receipt for message \(msgId) after \(resends) resends"
        case .peerClosed: "the peer closed the connection"
        case .transport(let text): text
        case .replaced: "replaced by a newer connection"
        case .suspended: "suspended"
        case .closed: "closed"
        case .forgotten(let span): "the controller didn't come back within \(span)"
        }
    }
}

extension LossReason {
    /// Whether it ends the session and not just the connection.
    var isFinal: Bool { if case .refused = self { true } else { false } }
}
