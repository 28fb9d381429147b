/// A message of ours from `send` to its outcome.
struct OutboundMessage {
    let ticket: SessionTicket
    let body: [UInt8]
    let acceptedAt: Instant
    /// Copies given to connections so far.
    var sends = 0
    /// Whether a whole copy may have reached the peer: one was written, or the message comes from a journal.
    var mayHaveLeft = false
    /// Resends on the present connection.
    var resends = 0
    /// When the receipt is overdue; never while the latest copy hasn't left.
    var dueAt = Instant.distantFuture
    /// Where the first and the latest copy end in the present connection's stream; 0 for none.
    var firstCopyEnd: UInt64 = 0
    var copyEnd: UInt64 = 0
    /// Unsettled when the connection opened: goes again before anything new.
    var wantsCopy = false

    /// What it counts for in the outbox's bytes.
    var cost: Int { body.count + SessionLimits.entryCost }

    init(ticket: SessionTicket, body: [UInt8], acceptedAt: Instant) {
        self.ticket = ticket
        self.body = body
        self.acceptedAt = acceptedAt
    }
}

/// Messages that no connection has been given yet, in their order, and the count of all that are kept.
struct Outbox {
    private var waiting = Ring<OutboundMessage>()
    /// Messages kept: waiting and unsettled.
    private(set) var messages = 0
    /// Bytes of them, ``OutboundMessage/cost``.
    private(set) var bytes = 0
    /// Waiting messages that come from a journal; receipts for those may still arrive.
    private var restored = 0

    var isEmpty: Bool { waiting.isEmpty }
    @inline(__always) var first: (msgId: UInt32, mayHaveLeft: Bool)? {
        waiting.isEmpty ? nil : (waiting[0].ticket.msgId, waiting[0].mayHaveLeft)
    }

    mutating func append(_ message: OutboundMessage) {
        account(message)
        if message.mayHaveLeft { restored += 1 }
        waiting.append(message)
    }

    /// Takes the next one to be sent; it stays counted until ``release(_:)``.
    mutating func popFirst() -> OutboundMessage? {
        let message = waiting.popFirst()
        if let message, message.mayHaveLeft { restored -= 1 }
        return message
    }

    private mutating func account(_ message: OutboundMessage) {
        messages += 1
        bytes += message.cost
    }

    /// A message has ended.
    mutating func release(_ message: OutboundMessage) {
        messages -= 1
        bytes -= message.cost
    }

    mutating func remove(_ ticket: SessionTicket) -> OutboundMessage? {
        for index in 0..<waiting.count where waiting[index].ticket == ticket { return remove(at: index) }
        return nil
    }

    /// Takes out a restored message that a receipt names.
    mutating func removeRestored(msgId: UInt32) -> OutboundMessage? {
        guard restored > 0 else { return nil }
        for index in 0..<waiting.count where waiting[index].mayHaveLeft && waiting[index].ticket.msgId == msgId {
            return remove(at: index)
        }
        return nil
    }

    /// Takes out all restored messages that `matches`, in order.
    mutating func removeRestored(where matches: (UInt32) -> Bool) -> [OutboundMessage] {
        var removed: [OutboundMessage] = []
        guard restored > 0 else { return removed }
        var index = 0
        while index < waiting.count {
            if waiting[index].mayHaveLeft, matches(waiting[index].ticket.msgId) {
                removed.append(remove(at: index))
            } else {
                index += 1
            }
        }
        return removed
    }

    /// Takes out all messages that want no receipt, in order: no journal holds them.
    mutating func removeUnreceipted() -> [OutboundMessage] {
        var removed: [OutboundMessage] = []
        for _ in 0..<waiting.count {
            guard let message = waiting.popFirst() else { break }
            if message.ticket.msgId == 0 { removed.append(message) } else { waiting.append(message) }
        }
        return removed
    }

    func contains(msgId: UInt32) -> Bool {
        for index in 0..<waiting.count where waiting[index].ticket.msgId == msgId { return true }
        return false
    }

    func forEach(_ body: (OutboundMessage) -> Void) {
        for index in 0..<waiting.count { body(waiting[index]) }
    }

    mutating func shrink() { waiting.shrink() }

    /// Bytes allocated, bodies apart.
    var heldByteCount: Int { waiting.heldByteCount }

    private mutating func remove(at index: Int) -> OutboundMessage {
        let message = waiting.remove(at: index)
        if message.mayHaveLeft { restored -= 1 }
        return message
    }
}
