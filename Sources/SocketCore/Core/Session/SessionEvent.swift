/// What a session tells its application, in the order it happened.
public enum SessionEvent: Equatable, Sendable {
    /// The session's state changed.
    case state(SessionState)
    /// A message from the peer. It's receipted after ``SessionCore/handedOver(through:now:)``.
    case message(InboundMessage)
    /// A message of ours has ended.
    case outcome(MessageOutcome)
    /// There's room in the outbox again after a refusal.
    case writable
    /// The session's ``OutboxJournal`` can't be written, such as on a full disk: until it can, nothing is sent or reported as accepted.
    /// It's tried again each second; nil tells that it worked. From the session around the core, which knows no files.
    case journal(OutboxJournalError?)
}

/// A session's state as an application sees it.
public enum SessionState: Equatable, Sendable {
    /// Dialling, the how-manieth time since it last stood, from 1.
    case connecting(attempt: Int)
    /// Open for the first time, or anew with an empty memory.
    ///
    /// Indirect, as is the next: hellos are large and rare, and every event is as large as the largest.
    indirect case open(SessionOpening)
    /// Open again, with everything remembered.
    indirect case resumed(SessionOpening)
    /// The connection is gone.
    case lost(LossReason)
    /// The next try, counted from 1, comes in a while.
    case reconnecting(attempt: Int, after: Duration)
    /// Given up until `resume`.
    case suspended
    /// Over for good.
    case closed(LossReason)
}

/// What was agreed when a connection opened.
public struct SessionOpening: Equatable, Sendable {
    /// The session.
    public var session: SessionIdentifier
    /// The version of all further frames.
    public var version: UInt16
    /// Whether the router has lost this session's memory since it last stood.
    public var memoryLost: Bool
    /// Where the router was reached; nil on the router's side, and of a core whose shell didn't say.
    public var peer: Endpoint?
    /// The router's hello; nil for a plain device.
    public var router: RouterHello?
    /// The controller's hello; nil on a plain device's connection.
    public var controller: ControllerHello?
}

/// A message that came in.
///
/// The bodies of one batch lie in one piece of memory, which every message of it holds on to: an application that keeps a message for
/// long keeps its ``body`` instead.
public struct InboundMessage: Equatable, Sendable {
    /// Counts all messages that this core delivered, from 1; given back in ``SessionCore/handedOver(through:now:)``.
    public var sequence: UInt64
    /// The sender's id; 0 when no receipt is wanted.
    public var msgId: UInt32
    /// The version in the frame's header.
    public var version: UInt16
    /// The bodies of the whole batch, and where this one lies in it.
    let storage: [UInt8]
    let start: UInt32
    let count: UInt32

    /// The body, in memory of its own.
    public var body: [UInt8] {
        start == 0 && Int(count) == storage.count ? storage : withBody { $0.withUnsafeBytes { [UInt8]($0) } }
    }

    /// The body's size in bytes.
    public var bodyLength: Int { Int(count) }

    /// Lends the body where it lies.
    public func withBody<Result, Failure: Error>(_ take: (RawSpan) throws(Failure) -> Result) throws(Failure) -> Result {
        try take(storage.span.bytes.extracting(Int(start)..<Int(start) + Int(count)))
    }

    /// Equal when everything that the application can see is.
    public static func == (left: InboundMessage, right: InboundMessage) -> Bool {
        left.sequence == right.sequence && left.msgId == right.msgId && left.version == right.version && left.body == right.body
    }
}

/// Names a message given to `send`.
public struct SessionTicket: Hashable, Sendable {
    /// Counts the messages that this core accepted, from 1; restored ones come first.
    public let number: UInt64
    /// The id on the wire; 0 for a message without receipt.
    public let msgId: UInt32
}

/// How a message ended.
public enum MessageResult: String, Equatable, Sendable {
    /// The peer's application took it.
    case delivered
    /// It never left whole.
    case notSent
    /// It was written, and no receipt came or none was wanted.
    case unknown
    /// The application took it back.
    case cancelled
}

/// How, and at what cost, a message ended: exactly one a message.
public struct MessageOutcome: Equatable, Sendable {
    /// Which message.
    public var ticket: SessionTicket
    /// How it ended.
    public var result: MessageResult
    /// Copies given to the connection; 1 means never resent. A message restored from a journal counts as sent once before.
    public var sends: Int
    /// From `send`, or from the restoration, to the end.
    public var elapsed: Duration
}

/// Tells a session's connections apart, so that late news of an old one changes nothing.
public struct ConnectionNumber: Hashable, Sendable {
    /// Counts from 1; 0 is none.
    public let value: UInt32
    static let none = ConnectionNumber(value: 0)
    var next: ConnectionNumber { ConnectionNumber(value: value &+ 1) }
}

/// What the shell is to do, in this order.
public enum SessionAction: Equatable, Sendable {
    /// Dial, then call `connected` or `connectFailed`.
    case connect(ConnectionNumber)
    /// Shut the sending half (after what was written).
    case finishWriting(ConnectionNumber)
    /// Close; news of that connection isn't wanted any more. Abort means: reset it, what is under way doesn't matter.
    case close(ConnectionNumber, abort: Bool)
}

/// Counts for reports; they change nothing.
public struct SessionCounters: Equatable, Sendable {
    /// Messages that came again and were only receipted, or not even that.
    public var duplicates: UInt64 = 0
    /// Receipts for nothing.
    public var strayReceipts: UInt64 = 0
    /// Copies after the first.
    public var resends: UInt64 = 0
    /// Heartbeats sent.
    public var heartbeatsSent: UInt64 = 0
    /// Heartbeats received.
    public var heartbeatsReceived: UInt64 = 0
    /// Connections opened.
    public var openings: UInt64 = 0
}
