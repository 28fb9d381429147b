import FrameCodec

// MARK: - Messages of ours

extension SessionCore {
    /// Accepts a message. Once its journal record is synced it can't be lost any more; it may be sent long after.
    ///
    /// - Returns: its ticket; the id on the wire is fixed now.
    /// - Throws: ``SessionError``; nothing was kept then.
    public mutating func send(_ body: [UInt8], wantsReceipt: Bool = true, now: Instant) throws(SessionError) -> SessionTicket {
        guard phase != .closed, closing == nil else { throw .closed }
        guard !body.isEmpty || configuration.isPlain else { throw .emptyBody }
        let limit = configuration.largestBody
        guard body.count <= limit else { throw .bodyTooLarge(bytes: body.count, limit: limit) }
        let cost = body.count + SessionLimits.entryCost
        let fits = outbox.messages < configuration.outboxMessages && outbox.bytes + cost <= configuration.outboxBytes
        guard fits || outbox.messages == 0 || mutated(.unboundedOutbox) else {
            refusedForSpace = true
            throw .outboxFull(messages: outbox.messages, bytes: outbox.bytes)
        }
        let ticket = SessionTicket(number: nextTicket, msgId: wantsReceipt ? takeId() : 0)
        nextTicket += 1
        if wantsReceipt, !configuration.isPlain { journal?.accepted(msgId: ticket.msgId, body) }
        outbox.append(OutboundMessage(ticket: ticket, body: body, acceptedAt: now))
        pump(now)
        return ticket
    }

    /// The next id that no unsettled message has.
    private mutating func takeId() -> UInt32 {
        if idsMayCollide {
            while ledger.index(of: nextId) != nil || outbox.contains(msgId: nextId) { nextId = MessageID.next(after: nextId) }
        }
        let id = nextId
        nextId = MessageID.next(after: id)
        if nextId < id { idsMayCollide = true }
        return id
    }

    /// Takes a message back.
    ///
    /// - Returns: false when it has ended already. Its outcome is ``MessageResult/cancelled`` if it surely never left, else
    ///   ``MessageResult/unknown``: what was written can't be called back.
    @discardableResult
    public mutating func cancel(_ ticket: SessionTicket, now: Instant) -> Bool {
        if let message = outbox.remove(ticket) {
            finish(message, message.mayHaveLeft ? .unknown : .cancelled, now)
            continueClosing(now)
            return true
        }
        guard ticket.msgId != 0, let index = ledger.index(of: ticket.msgId), ledger[index].ticket == ticket else { return false }
        finish(ledger.remove(at: index), mutated(.cancelSent) ? .cancelled : .unknown, now)
        pump(now)
        continueClosing(now)
        return true
    }

    /// Sends an unsettled message again at once, with its old id: whoever waits for its answer has lost patience.
    ///
    /// - Returns: false when it has ended, hasn't been written whole yet, or nothing can be written now.
    @discardableResult
    public mutating func resend(_ ticket: SessionTicket, now: Instant) -> Bool {
        guard phase == .open, !isUnconfirmed, !peerHasFinished, !writingShut, ticket.msgId != 0,
            let index = ledger.index(of: ticket.msgId), ledger[index].ticket == ticket, ledger[index].dueAt != .distantFuture
        else { return false }
        stage(index, isResend: false)
        return true
    }

    /// Puts into the output what may go now: copies due after a reconnect in their order, then new messages.
    mutating func pump(_ now: Instant) {
        guard phase == .open, !isUnconfirmed, !peerHasFinished, !writingShut else { return }
        if mutated(.newBeforeOld) { pumpNew(now) }
        while output.count < SessionLimits.outputMark, let index = ledger.firstWanted { stage(index, isResend: false) }
        pumpNew(now)
    }

    private mutating func pumpNew(_ now: Instant) {
        while output.count < SessionLimits.outputMark, let next = outbox.first {
            guard ledger.copiesWanted == 0 || mutated(.newBeforeOld) else { return }
            let isTracked = next.msgId != 0 && (!configuration.isPlain || mutated(.trackPlain))
            if isTracked, !mutated(.ignoreWindow) {
                guard ledger.count < configuration.window, ledger.reaches(next.msgId) else { return }
            }
            guard let message = outbox.popFirst() else { return }
            if isTracked {
                ledger.append(message)
                stage(ledger.count - 1, isResend: false)
            } else {
                output.append(encoder, msgId: message.ticket.msgId, version: version, body: message.body.span.bytes)
                staged.append(
                    StagedCopy(ticket: message.ticket, end: output.end, acceptedAt: message.acceptedAt, endsWithWriting: true))
                outbox.release(message)
            }
        }
    }

    /// Puts a copy of an unsettled message into the output. It has been noted as unsettled before.
    mutating func stage(_ index: Int, isResend: Bool) {
        if ledger[index].sends > 0 { counters.resends += 1 }
        output.append(encoder, msgId: ledger[index].ticket.msgId, version: version, body: ledger[index].body.span.bytes)
        ledger.staged(at: index, end: output.end, isResend: isResend)
        staged.append(
            StagedCopy(
                ticket: ledger[index].ticket, end: output.end, acceptedAt: ledger[index].acceptedAt, endsWithWriting: false))
    }

    /// The shell wrote that many of the bytes that waited.
    public mutating func wrote(_ byteCount: Int, on number: ConnectionNumber, now: Instant) {
        guard number == connection, byteCount > 0 else { return }
        output.removeFirst(byteCount)
        lastSent = now
        if releasesOutput, output.isEmpty {
            output.shrink()
            releasesOutput = false
        }
        if mutated(.ownWritesAreLife) { lastReceived = now }
        while !staged.isEmpty, staged[0].end <= output.position {
            guard let copy = staged.popFirst() else { break }
            if copy.endsWithWriting {
                emit(.outcome(MessageOutcome(ticket: copy.ticket, result: .unknown, sends: 1, elapsed: now - copy.acceptedAt)))
                offerSpace()
            } else {
                ledger.written(copy.ticket.msgId, end: copy.end, now: now, configuration.timing.resend, base: resendSpan, &random)
            }
        }
        pump(now)
        updateReading(now)
        continueClosing(now)
    }

    /// A message has ended: its only outcome.
    mutating func finish(_ message: OutboundMessage, _ result: MessageResult, _ now: Instant) {
        outbox.release(message)
        if message.ticket.msgId != 0 {
            // After a power cut a message that was called off must not be found again; one that was delivered may: the peer knows it.
            let mustSync = result == .cancelled || result == .notSent
            journal?.settled(msgId: message.ticket.msgId, bodyLength: message.body.count, mustSync: mustSync)
        }
        let outcome = MessageOutcome(ticket: message.ticket, result: result, sends: message.sends, elapsed: now - message.acceptedAt)
        emit(.outcome(outcome))
        if mutated(.doubleOutcome), message.sends > 1 { emit(.outcome(outcome)) }
        offerSpace()
    }

    /// After a refusal, room is offered once the outbox is half empty, so that offers come in useful sizes.
    mutating func offerSpace() {
        guard refusedForSpace, outbox.messages <= configuration.outboxMessages / 2, outbox.bytes <= configuration.outboxBytes / 2 else {
            return
        }
        refusedForSpace = false
        emit(.writable)
    }
}
