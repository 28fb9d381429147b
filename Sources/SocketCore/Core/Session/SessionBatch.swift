/// An event inside the core. A message is numbers alone here, so that neither making nor ending one counts a reference.
enum CoreEvent {
    case state(SessionState)
    case message(DeliveredMessage)
    case outcome(MessageOutcome)
    case writable
}

/// A message among the core's events.
struct DeliveredMessage {
    let sequence: UInt64
    let msgId: UInt32
    let version: UInt16
    /// Where its body lies among the batch's bodies.
    let start: UInt32
    let count: UInt32
}

/// Events as the core gives them out: the messages' bodies lie one behind the other, in one piece of memory.
struct SessionBatch {
    var events: [CoreEvent] = []
    var bodies: [UInt8] = []

    /// Whether there's nothing but messages, as under load.
    var isMessagesOnly: Bool {
        for event in events { guard case .message = event else { return false } }
        return true
    }

    /// How many events aren't messages; nil when one of them isn't for the events' reader.
    var newsCount: Int? {
        var count = 0
        for event in events {
            switch event {
            case .message: break
            case .state, .outcome: count += 1
            case .writable: return nil
            }
        }
        return count
    }

    /// The events as applications see them, each message with a hold on its body.
    var whole: [SessionEvent] {
        events.map { event in
            switch event {
            case .state(let state): .state(state)
            case .message(let message): .message(InboundMessage(message, in: bodies))
            case .outcome(let outcome): .outcome(outcome)
            case .writable: .writable
            }
        }
    }
}

extension InboundMessage {
    init(_ message: DeliveredMessage, in bodies: [UInt8]) {
        self.init(
            sequence: message.sequence, msgId: message.msgId, version: message.version, storage: bodies, start: message.start,
            count: message.count)
    }
}

/// The messages of one batch, for whoever is done with them when the call ends: nothing is counted or copied a message.
public struct SessionMessages: Sendable {
    private let batch: SessionBatch

    /// Of a batch that holds nothing but messages.
    init(_ batch: SessionBatch) { self.batch = batch }

    /// How many; at least one.
    public var count: Int { batch.events.count }

    /// A message to keep.
    public subscript(index: Int) -> InboundMessage { InboundMessage(message(index), in: batch.bodies) }

    /// Calls for each message in order, with its sender's id (0 when it wanted no receipt) and its body, lent.
    @inline(__always)
    public func forEach<Failure: Error>(_ take: (_ msgId: UInt32, _ body: RawSpan) throws(Failure) -> Void) throws(Failure) {
        let bodies = batch.bodies.span.bytes
        for index in batch.events.indices {
            let message = message(index)
            try take(message.msgId, bodies.extracting(Int(message.start)..<Int(message.start) + Int(message.count)))
        }
    }

    @inline(__always)
    private func message(_ index: Int) -> DeliveredMessage {
        guard case .message(let message) = batch.events[index] else { preconditionFailure("a batch of messages holds something else") }
        return message
    }
}
