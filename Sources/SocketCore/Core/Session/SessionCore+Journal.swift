import FrameCodec

// MARK: - The journal

extension SessionCore {
    /// Goes on with a session that an earlier process left behind: same session, same ids; what had no outcome goes again.
    ///
    /// - Returns: nil when the contents' ``JournalContents/misfit(_:)`` says why not. The journal is to be left as it is then: a session
    ///   that was begun anew in it would give its messages' ids to others.
    public init?(_ configuration: SessionConfiguration, restoring contents: JournalContents, seed: UInt64, now: Instant) {
        guard contents.misfit(configuration) == nil else { return nil }
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
        let state = JournalWriter.state(
            next: nextId, inbound, opened: hasOpened && !isUnconfirmed, boot: peerBoot, mac: peerMAC)
        return journal?.compacted(state, messages) ?? []
    }
}

extension JournalContents {
    /// What keeps a session of that configuration from going on with this.
    public func misfit(_ configuration: SessionConfiguration) -> JournalMisfit? {
        guard header.role == configuration.role else { return .otherRole(header.role) }
        let limit = configuration.largestBody
        return messages.first { $0.body.count > limit }.map { .messageTooLarge(msgId: $0.msgId, bytes: $0.body.count, limit: limit) }
    }
}

extension SessionConfiguration {
    /// What a body may have at most, by the limit and by what the layout can say.
    var largestBody: Int { min(maximumBodyLength, layout.maximumExpressibleLength) }
}
