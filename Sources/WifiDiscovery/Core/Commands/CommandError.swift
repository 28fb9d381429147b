import SocketCore

/// Why a command came to nothing.
public enum CommandError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What a device can't do.
    public enum Obstacle: String, Hashable, Sendable {
        /// It has no such property.
        case noProperty
        /// The property can't be read.
        case notReadable
        /// The property can't be changed.
        case notWritable
        /// The property's changes aren't told.
        case notNotifying
        /// It has no such stream.
        case noStream
    }

    /// The device refused.
    case refused(DeviceFault)
    /// By the device's own account it can't do that with the property or stream of that name; nothing was sent.
    case notPossible(String, Obstacle)
    /// No encoding of this command is known for the protocol version and firmware that the device speaks; nothing was sent.
    case noEncoding(version: UInt16, firmware: String?)
    /// No answer to any of the tries.
    case timedOut(tries: Int)
    /// The command before it timed out.
    case linkBad
    /// The session ended, or the caller took it back.
    case cancelled
    /// The manager moved to another router before the answer came.
    case movedAway
    /// Too many commands wait already.
    case queueFull(count: Int)
    /// The answer isn't what the vocabulary says.
    case malformedAnswer(String)

    /// A sentence for people, with whose fault it is and what to try.
    public var description: String {
        switch self {
        case .refused(let fault): "the router refused: \(fault)"
        case .notPossible(let name, let obstacle): "\(name) \(CommandError.text(obstacle)) on this router; nothing was sent"
        case .noEncoding(let version, let firmware):
            "no encoding of this command is known for protocol version \(version)\(firmware.map { " and firmware \($0)" } ?? "")"
        case .timedOut(let tries):
            "the router didn't answer any of \(tries) tries: the link is bad, or it's busy; go nearer or try again later"
        case .linkBad: "not tried: the command before it got no answer, so the link is bad"
        case .cancelled: "the session ended before the answer came"
        case .movedAway: "another router became the current one before the answer came"
        case .queueFull(let count): "\(count) commands wait already; wait for some of them to end"
        case .malformedAnswer(let what): "the router's answer makes no sense: \(what) (its firmware's fault)"
        }
    }

    private static func text(_ obstacle: Obstacle) -> String {
        switch obstacle {
        case .noProperty: "is no property"
        case .notReadable: "can't be read"
        case .notWritable: "can't be written"
        case .notNotifying: "doesn't tell its changes"
        case .noStream: "is no stream"
        }
    }
}
