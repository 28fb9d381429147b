// MARK: - Loss, suspension, close

extension SessionCore {
    /// We give the connection up.
    mutating func fail(_ reason: LossReason, abort: Bool, _ now: Instant) {
        actions.append(.close(connection, abort: abort))
        lose(reason, now)
    }

    /// The connection is gone: what was in it is void, what is unsettled stays.
    mutating func lose(_ reason: LossReason, _ now: Instant) {
        let stoodFor = phase == .open ? now - phaseSince : .zero
        let wasConnecting = phase == .connecting
        let wasShut = writingShut
        dropConnection(now)
        if mutated(.forgetOutbox) {
            while outbox.popFirst() != nil {}
            _ = ledger.remove(where: { _ in true })
        }
        // Nothing is lost where both have closed in order, as was wished.
        if closing == nil || !wasShut || reason.isFinal { emit(.state(.lost(reason))) }
        if let closing, wasShut || reason.isFinal || !triesOn(closing, now) { return end(closing, reason.isFinal ? reason : .closed, now) }
        guard configuration.role == .controller else {
            // A plain controller can't say that it's back.
            if configuration.isPlain { return end(.endSession, reason, now) }
            forgetAt = now + configuration.timing.memory
            return enter(.offline, now)
        }
        if !wasConnecting, stoodFor >= configuration.timing.reconnect.stability || mutated(.noBackoff) { failures = 0 }
        failures += 1
        let wait = configuration.timing.reconnect.wait(afterFailures: failures, &random)
        reconnectAt = now + wait
        enter(.backoff, now)
        emit(.state(.reconnecting(attempt: failures, after: wait)))
    }

    /// Forgets the connection; messages without receipt that hadn't left whole end here.
    private mutating func dropConnection(_ now: Instant) {
        connection = .none
        while let copy = staged.popFirst() {
            guard copy.endsWithWriting else { continue }
            emit(.outcome(MessageOutcome(ticket: copy.ticket, result: .notSent, sends: 1, elapsed: now - copy.acceptedAt)))
        }
        // They left the outbox when they were put into the output: nothing else may come to say that there's room.
        offerSpace()
        staged.removeAll()
        output.reset()
        ledger.connectionLost()
        peerHasFinished = false
        writingShut = false
        shrinkIdle()
    }

    /// The peer has shut its sending half, or closed: it gets what it's still owed, then the connection is closed.
    public mutating func peerFinished(_ number: ConnectionNumber, now: Instant) {
        guard number == connection, connection != .none else { return }
        guard phase == .open, !writingShut, !output.isEmpty || !unhanded.isEmpty else {
            return fail(.peerClosed, abort: false, now)
        }
        peerHasFinished = true
        if closing == nil { closeStarted = now }
    }

    /// The application goes to the background: timers stop, the connection is given up in order, messages stay.
    public mutating func suspend(now: Instant) {
        guard phase != .closed, phase != .suspended, closing == nil else { return }
        let hadConnection = connection != .none
        if hadConnection { actions.append(.close(connection, abort: false)) }
        dropConnection(now)
        forgetAt = .distantFuture
        enter(.suspended, now)
        if hadConnection { emit(.state(.lost(.suspended))) }
        emit(.state(.suspended))
    }

    /// The application is back: one new connection, at once.
    public mutating func resume(now: Instant) {
        guard phase == .suspended else { return }
        failures = 0
        enter(.offline, now)
        if configuration.role == .controller { dial(now) } else { forgetAt = now + configuration.timing.memory }
    }

    /// Ends the session in order: nothing more is accepted, what waits is sent and its receipts are waited for, then the
    /// sending half is shut, the peer is heard out, and the connection closed; all within ``SessionTiming/drain``.
    ///
    /// A controller's session that doesn't stand, or whose connection breaks meanwhile, goes on dialling within that span as long as a
    /// message has no outcome. With a journal that keeps them for later, not started or suspended, it ends at once.
    public mutating func close(_ policy: ClosePolicy = .endSession, now: Instant) {
        guard phase != .closed, closing == nil else { return }
        closeStarted = now
        guard phase == .open || triesOn(policy, now) else {
            if connection != .none { actions.append(.close(connection, abort: false)) }
            dropConnection(now)
            return end(policy, .closed, now)
        }
        closing = policy
        continueClosing(now)
    }

    /// Whether a close that has no connection is worth another dial: a message of ours may still get there in time.
    private func triesOn(_ policy: ClosePolicy, _ now: Instant) -> Bool {
        guard policy == .endSession || !configuration.keepsJournal else { return false }
        guard configuration.role == .controller, outbox.messages > 0 else { return false }
        return now - closeStarted < configuration.timing.drain && phase != .offline && phase != .suspended
    }

    /// Until when a close waits for receipts with the connection whole; it may have come about after the close began.
    var lingerEnd: Instant { max(closeStarted, phaseSince) + configuration.timing.linger }

    /// Goes a step on where closing (ours or the peer's) has got.
    mutating func continueClosing(_ now: Instant) {
        if phase != .open, let closing, outbox.messages == 0 {
            // The last message was taken back: nothing is left to dial for.
            if connection != .none { actions.append(.close(connection, abort: false)) }
            dropConnection(now)
            return end(closing, .closed, now)
        }
        guard phase == .open, closing != nil || peerHasFinished else { return }
        guard output.isEmpty else { return }
        if peerHasFinished {
            if unhanded.isEmpty { fail(closing == nil ? .peerClosed : .closed, abort: false, now) }
            return
        }
        let isSettled = outbox.isEmpty && ledger.isEmpty && unhanded.isEmpty || mutated(.closeAtOnce)
        if isSettled || now >= lingerEnd { shutWriting(now) }
    }

    private mutating func shutWriting(_ now: Instant) {
        guard !writingShut else { return }
        writingShut = true
        actions.append(.finishWriting(connection))
    }

    /// The time for an orderly end is over.
    mutating func drainEnded(_ now: Instant) {
        if let closing, connection == .none { return end(closing, .closed, now) }
        fail(closing == nil ? .peerClosed : .closed, abort: false, now)
    }

    private func endResult(_ message: OutboundMessage) -> MessageResult {
        message.mayHaveLeft && !mutated(.alwaysNotSent) ? .unknown : .notSent
    }

    /// The session is over.
    mutating func end(_ policy: ClosePolicy, _ reason: LossReason, _ now: Instant) {
        isKeptForLater = policy == .keepForLater && configuration.keepsJournal
        if isKeptForLater {
            for message in outbox.removeUnreceipted() { finish(message, endResult(message), now) }
        } else {
            for message in ledger.remove(where: { _ in true }) { finish(message, endResult(message), now) }
            while let message = outbox.popFirst() { finish(message, endResult(message), now) }
        }
        closing = nil
        enter(.closed, now)
        emit(.state(.closed(reason)))
    }
}
