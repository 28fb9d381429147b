/// Messages that a connection was given and that no receipt has settled: at most a window of them, in their order.
struct ReceiptLedger {
    private var entries = Ring<OutboundMessage>()
    /// Entries that must go again before anything new.
    private(set) var copiesWanted = 0
    /// No entry is overdue before this; it may be too early, never too late.
    private(set) var nextCheck = Instant.distantFuture
    /// Where the copy ended that the latest receipt answered at the earliest: the peer has worked through the stream so far.
    private var provenEnd: UInt64 = 0
    /// Overdue entries wait for a sign that the peer lost them.
    private var holdsBack = false

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    subscript(index: Int) -> OutboundMessage {
        @inline(__always) get { entries[index] }
    }

    /// Whether `msgId` is near enough to the oldest unsettled id that the peer's memory holds both.
    @inline(__always)
    func reaches(_ msgId: UInt32) -> Bool {
        entries.isEmpty || msgId &- entries[0].ticket.msgId < DuplicateWindow.span - 1
    }

    /// Ids are consecutive but for gaps, so the place is known or lies a little before.
    func index(of msgId: UInt32) -> Int? {
        guard !entries.isEmpty else { return nil }
        let guess = Int(msgId &- entries[0].ticket.msgId)
        if guess < entries.count, entries[guess].ticket.msgId == msgId { return guess }
        for index in 0..<entries.count where entries[index].ticket.msgId == msgId { return index }
        return nil
    }

    mutating func append(_ message: consuming OutboundMessage) { entries.append(message) }

    /// Takes out what a receipt names.
    mutating func settle(_ msgId: UInt32, now: Instant) -> OutboundMessage? {
        guard let index = index(of: msgId) else { return nil }
        let message = remove(at: index)
        provenEnd = max(provenEnd, message.firstCopyEnd)
        if holdsBack {
            holdsBack = false
            nextCheck = min(nextCheck, now)
        }
        return message
    }

    mutating func remove(at index: Int) -> OutboundMessage {
        if entries[index].wantsCopy { copiesWanted -= 1 }
        let message = entries.remove(at: index)
        if entries.isEmpty { nextCheck = .distantFuture }
        return message
    }

    /// Takes out all that `matches`, in order.
    mutating func remove(where matches: (OutboundMessage) -> Bool) -> [OutboundMessage] {
        var removed: [OutboundMessage] = []
        var index = 0
        while index < entries.count {
            if matches(entries[index]) { removed.append(remove(at: index)) } else { index += 1 }
        }
        return removed
    }

    /// A new connection: all go again, all counts of the old one are void.
    mutating func connectionOpened() {
        connectionLost()
        for index in 0..<entries.count { entries[index].wantsCopy = true }
        copiesWanted = entries.count
    }

    mutating func connectionLost() {
        for index in 0..<entries.count {
            entries[index].resends = 0
            entries[index].dueAt = .distantFuture
            entries[index].firstCopyEnd = 0
            entries[index].copyEnd = 0
            entries[index].wantsCopy = false
        }
        copiesWanted = 0
        provenEnd = 0
        holdsBack = false
        nextCheck = .distantFuture
    }

    /// The first entry that must go again.
    var firstWanted: Int? {
        guard copiesWanted > 0 else { return nil }
        for index in 0..<entries.count where entries[index].wantsCopy { return index }
        return nil
    }

    /// Notes that a copy was put into the output, ending at `end`.
    mutating func staged(at index: Int, end: UInt64, isResend: Bool) {
        if entries[index].wantsCopy {
            entries[index].wantsCopy = false
            copiesWanted -= 1
        }
        entries[index].sends += 1
        if isResend { entries[index].resends += 1 }
        entries[index].copyEnd = end
        if entries[index].firstCopyEnd == 0 { entries[index].firstCopyEnd = end }
        entries[index].dueAt = .distantFuture
    }

    /// Notes that the copy ending at `end` has left whole.
    @inline(__always)
    mutating func written(
        _ msgId: UInt32, end: UInt64, now: Instant, _ schedule: ResendSchedule, base: Int64, _ random: inout SeededGenerator
    ) {
        guard let index = index(of: msgId) else { return }
        entries[index].mayHaveLeft = true
        guard entries[index].copyEnd == end else { return }
        let due = now.advanced(byNanoseconds: schedule.wait(base, afterResends: entries[index].resends, &random))
        entries[index].dueAt = due
        nextCheck = min(nextCheck, due)
    }

    /// What is to be done about overdue entries.
    enum Overdue: Equatable {
        case resend([UInt32])
        case giveUp(msgId: UInt32, resends: Int)
    }

    /// Finds overdue entries.
    ///
    /// On an ordered stream a missing receipt means one of two things. If a later copy was receipted, the peer has lost this
    /// message or its receipt: it goes again. If nothing later was, the peer is slow: copies would only make it slower, so the
    /// oldest message alone goes again, to ask, and the others wait for the answer.
    mutating func overdue(now: Instant, limit: Int) -> Overdue {
        var ids: [UInt32] = []
        nextCheck = .distantFuture
        holdsBack = false
        for index in 0..<entries.count {
            guard entries[index].dueAt <= now else {
                nextCheck = min(nextCheck, entries[index].dueAt)
                continue
            }
            guard index == 0 || entries[index].copyEnd < provenEnd else {
                holdsBack = true
                continue
            }
            guard entries[index].resends < limit else {
                return .giveUp(msgId: entries[index].ticket.msgId, resends: entries[index].resends)
            }
            ids.append(entries[index].ticket.msgId)
        }
        return .resend(ids)
    }

    /// Nothing counts as overdue before `instant`: receipts couldn't be heard until now.
    mutating func postpone(to instant: Instant) {
        for index in 0..<entries.count where entries[index].dueAt < instant { entries[index].dueAt = instant }
        if !entries.isEmpty, nextCheck < instant { nextCheck = instant }
    }

    mutating func shrink() { entries.shrink() }

    /// Bytes allocated, bodies apart.
    var heldByteCount: Int { entries.heldByteCount }
}
