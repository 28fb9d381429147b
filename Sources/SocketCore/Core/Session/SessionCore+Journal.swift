import FrameCodec

// MARK: - The journal

extension SessionCore {
    /// Goes on with a session that an earlier process left behind: same session, same ids; what had no outcome goes again.
    ///
    /// - Returns: nil when a message no longer fits this configuration's limits or the role is another: the journal is of
    ///   another session then.
    public init?(_ configuration: SessionConfiguration, restoring contents: JournalContents, seed: UInt64, now: Instant) {
        let limit = min(configuration.maximumBodyLength, configuration.layout.maximumExpressibleLength)
        guard contents.header.role == configuration.role, contents.messages.allSatisfy({ $0.body.count <= limit }) else { return nil }
        self.init(configuration, session: contents.header.session, seed: seed, now: now, beginsJournal: false)
        hasOpened = contents.hasOpened
        inbound = contents.inbound
        nextId = contents.nextId
        idsMayCollide = true
        peerBoot = contents.boot
        peerMAC = configuration.expectedMAC ?? contents.mac
        if configuration.keepsJournal {
            journal = JournalWriter()
            journal?.restored(contents)
        }
        for restored in contents.messages {
            var message = OutboundMessage(
                ticket: SessionTicket(number: nextTicket, msgId: restored.msgId), body: restored.body, acceptedAt: now)
            nextTicket += 1
            message.mayHaveLeft = true
            message.sends = 1
            outbox.append(message)
        }
        if configuration.role == .router { forgetAt = now + configuration.timing.memory }
    }

    /// Records since the last call; to be appended, and synced where asked, before the output is written and before a
    /// message is reported as accepted.
    public mutating func takeJournal() -> JournalBatch? { journal?.takeBatch() }

    /// Whether the file should be replaced by ``compactJournal()``.
    public var journalWantsCompaction: Bool { journal?.wantsCompaction ?? false }

    /// A whole journal for a new file that takes the old one's place; records not yet taken are in it.
    public mutating func compactJournal() -> [UInt8] {
        var messages: [(msgId: UInt32, body: [UInt8])] = []
        for index in 0..<ledger.count { messages.append((ledger[index].ticket.msgId, ledger[index].body)) }
        outbox.forEach { if $0.ticket.msgId != 0 { messages.append(($0.ticket.msgId, $0.body)) } }
        var keys: [JSONValue.Member] = [
            .init("next", .integer(Int64(nextId))), .init("received", .integer(Int64(inbound.top))),
            .init("above", .array(inbound.takenAboveTop.map { .integer(Int64($0)) })), .init("opened", .bool(hasOpened && !isUnconfirmed)),
        ]
        if let peerBoot { keys.append(.init("boot", .string(peerBoot))) }
        if let peerMAC { keys.append(.init("mac", .string(peerMAC))) }
        return journal?.compacted(.object([.init("state", .object(keys))]), messages) ?? []
    }
}
