/// Events as the core gives them out: the messages' bodies lie one behind the other, in one piece of memory.
struct SessionBatch {
    var events: [SessionEvent] = []
    var bodies: [UInt8] = []

    /// Whether there's nothing but messages, as under load.
    var isMessagesOnly: Bool {
        for event in events { guard case .message = event else { return false } }
        return true
    }

    /// The events, each message with a hold on its body.
    var whole: [SessionEvent] {
        guard !bodies.isEmpty else { return events }
        var whole = events
        for index in whole.indices {
            guard case .message(var message) = whole[index] else { continue }
            message.storage = bodies
            whole[index] = .message(message)
        }
        return whole
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
    public subscript(index: Int) -> InboundMessage {
        var message = self.message(index)
        message.storage = batch.bodies
        return message
    }

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
    private func message(_ index: Int) -> InboundMessage {
        guard case .message(let message) = batch.events[index] else { preconditionFailure("a batch of messages holds something else") }
        return message
    }
}
