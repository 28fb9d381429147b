/// How a stream came to its end.
public enum StreamEnd: Error, Equatable, Sendable {
    /// The peer finished in order: everything it sent has arrived.
    case peerFinished
    /// The connection couldn't be made.
    case connectFailed(SystemError)
    /// The connection broke.
    case broken(SystemError)
    /// TLS didn't come about, or was broken.
    case insecure(TLSError)
}

extension StreamEnd: CustomStringConvertible {
    /// A sentence's worth, for people.
    public var description: String {
        switch self {
        case .peerFinished: "the peer closed the connection"
        case .connectFailed(let error): "cannot connect to \(error.subject): \(error.reason)"
        case .broken(let error): "the connection broke (\(error))"
        case .insecure(let error): "\(error)"
        }
    }
}

/// Whoever uses a stream; called on the loop's thread. After ``streamEnded(_:_:)`` nothing more comes.
protocol StreamOwner: AnyObject {
    /// The connection stands.
    func streamOpened(_ stream: Stream)
    /// Bytes came in; they're lent for the duration of the call.
    func stream(_ stream: Stream, received bytes: RawSpan)
    /// The kernel has room again after a write fell short.
    func streamIsWritable(_ stream: Stream)
    /// It's over; the stream has closed itself unless it was the peer that finished, which leaves our half open.
    func streamEnded(_ stream: Stream, _ end: StreamEnd)
    /// The peer is gone while reading was paused over bytes that it had sent: see ``Stream/readsToTheEnd``. Nothing can be written any more;
    /// the end follows the bytes.
    func streamTakesNothingMore(_ stream: Stream)
}

extension StreamOwner {
    func streamTakesNothingMore(_ stream: Stream) {}
}
