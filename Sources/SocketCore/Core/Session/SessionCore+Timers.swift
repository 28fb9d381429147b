// MARK: - Time

extension SessionCore {
    /// When ``advance(to:)`` must be called at the latest, and why.
    public var deadline: SessionDeadline {
        var next = SessionDeadline.none
        let timing = configuration.timing
        switch phase {
        case .closed, .suspended: return next
        case .offline: next.lower(to: forgetAt, .memory)
        case .connecting: next.lower(to: phaseSince + connectSpan, .connect)
        case .backoff: next.lower(to: reconnectAt, .reconnect)
        case .greeting: next.lower(to: max(phaseSince + timing.hello, hearUntil), .hello)
        case .open:
            guard !configuration.isPlain else { break }
            if output.isEmpty, !writingShut, !mutated(.noHeartbeat) {
                next.lower(to: lastSent.advanced(byNanoseconds: heartbeatSpan), .heartbeat)
            }
            if isReading {
                if !mutated(.noSilence) { next.lower(to: max(lastReceived.advanced(byNanoseconds: silenceSpan), hearUntil), .silence) }
                if !peerHasFinished, !writingShut { next.lower(to: max(ledger.nextCheck, hearUntil), .resend) }
            }
        }
        if closing != nil || peerHasFinished {
            if closing != nil, phase == .open, !writingShut, !peerHasFinished, output.isEmpty { next.lower(to: lingerEnd, .linger) }
            next.lower(to: closeStarted + timing.drain, .drain)
        }
        return next
    }

    /// Time has passed. Early and repeated calls do nothing.
    public mutating func advance(to now: Instant) {
        let first = deadline
        guard first.at <= now else { return }
        if now - first.at > configuration.timing.hearing, first.at != hearUntil {
            // We were held up, not the peer: what it said meanwhile may lie unread. Once only, so that a loaded machine can't
            // put the judgement off for ever.
            hearUntil = now + configuration.timing.hearing
        }
        // A few timers may be due at once, each at most once: a bound where a loop without one could turn for ever.
        for _ in 0..<8 {
            let due = deadline
            guard due.at <= now else { return }
            expire(due.reason, now)
        }
    }

    private mutating func expire(_ reason: SessionDeadline.Reason, _ now: Instant) {
        let timing = configuration.timing
        switch reason {
        case .none: break
        case .connect: fail(.connectTimedOut(after: connectSpan), abort: true, now)
        case .hello: fail(.noHello(after: timing.hello), abort: true, now)
        case .silence: fail(.silent(for: timing.silence), abort: true, now)
        case .heartbeat: heartbeat(now)
        case .resend: resendOverdue(now)
        case .reconnect: dial(now)
        case .linger: continueClosing(now)
        case .drain: drainEnded(now)
        case .memory: end(.endSession, .forgotten(after: timing.memory), now)
        }
    }

    private mutating func heartbeat(_ now: Instant) {
        output.append(encoder, msgId: 0, version: version, body: RawSpan())
        counters.heartbeatsSent += 1
        if mutated(.heartbeatBurst), now - lastSent >= configuration.timing.heartbeat * 2 {
            output.append(encoder, msgId: 0, version: version, body: RawSpan())
        }
        // The write comes after this; until it's reported the timer must not fire again.
        lastSent = now
        shrinkIdle()
    }

    /// Nothing is going on: memory that a burst needed goes back.
    mutating func shrinkIdle() {
        staged.shrink()
        ledger.shrink()
        outbox.shrink()
        unhanded.shrink()
        eventsReserve = 0
        bodiesReserve = 0
        releasesOutput = true
    }

    private mutating func resendOverdue(_ now: Instant) {
        switch ledger.overdue(now: now, limit: configuration.timing.resend.limit) {
        case .giveUp(let msgId, let resends): fail(.noReceipt(msgId: msgId, resends: resends), abort: true, now)
        case .resend(let ids):
            guard !mutated(.noResend) else { return }
            if mutated(.resendAll), !ids.isEmpty { for index in 0..<ledger.count { stage(index, isResend: true) } }
            for id in ids {
                if let index = ledger.index(of: id) { stage(index, isResend: true) }
            }
        }
    }
}
