import FrameCodec

/// A router's fresh connection, before it's known which session it belongs to (protocol.md, section 3).
///
/// The shell decodes with a `FrameDecoder` whose limit is ``SessionLimits/helloBytes``, so that a stranger can't make
/// it hold more, hands the first frame to ``receive(_:body:)`` and closes when ``deadline`` is over.
public struct Greeting: Sendable {
    /// What the first frame leads to.
    public enum Step: Equatable, Sendable {
        /// Find or make the session's core and call ``SessionCore/accept(_:version:sees:now:)``.
        case welcome(ControllerHello, version: UInt16)
        /// Write `reply` (it may be empty), then close.
        case refuse(reply: [UInt8], LossReason)
    }

    /// When the connection is to be closed without further words.
    public private(set) var deadline: Instant
    /// What to say of one whose deadline is over.
    public private(set) var overdue: LossReason
    private let timing: SessionTiming
    private let versions: [UInt16]
    private let encoder: FrameEncoder

    /// A connection that was accepted now.
    ///
    /// - Parameters:
    ///   - configuration: versions and spans.
    ///   - isSecured: whether TLS comes first. It has the time of any connecting, and the hello's begins with ``opened(now:)``.
    ///   - now: the present.
    public init(_ configuration: SessionConfiguration, isSecured: Bool = false, now: Instant) {
        timing = configuration.timing
        deadline = now + (isSecured ? timing.connect : timing.hello)
        overdue = isSecured ? .transport("no TLS handshake within \(timing.connect)") : .noHello(after: timing.hello)
        versions = configuration.versions
        encoder = FrameEncoder(layout: configuration.layout)
    }

    /// TLS is up: from now on the hello is waited for.
    public mutating func opened(now: Instant) {
        deadline = now + timing.hello
        overdue = .noHello(after: timing.hello)
    }

    /// Judges the first frame.
    public func receive(_ header: FrameHeader, body: RawSpan) -> Step {
        guard header.msgId == 0, header.bodyLength > 0 else { return .refuse(reply: [], .badHello(.notAHello)) }
        do throws(HelloError) {
            let hello = try ControllerHello(body)
            guard let version = hello.versions.filter(versions.contains).max() else {
                return .refuse(reply: refusal(), .versionRefused(theirs: hello.versions))
            }
            return .welcome(hello, version: version)
        } catch {
            return .refuse(reply: [], .badHello(error))
        }
    }

    /// `{"error":{"code":"version","versions":[…]}}` in the lowest version spoken.
    private func refusal() -> [UInt8] {
        let error: JSONValue = ["error": ["code": "version", "versions": .array(versions.map { .integer(Int64($0)) })]]
        do {
            return try encoder.encode(Frame(msgId: 0, version: versions.min() ?? 1, body: error.encoded()))
        } catch {
            // So many versions that their list doesn't fit the layout: closing says it as well.
            return []
        }
    }
}
