import FrameCodec
import SocketCore

// MARK: - The truth, and what must always hold

extension SimWorld {
    func stateChanged(_ endpoint: SimEndpoint, _ state: SessionState) {
        noteStability(endpoint, state)
        switch state {
        case .open(let opening):
            if opening.memoryLost, endpoint.side == .controller {
                endpoint.takenIds = []
                endpoint.owed = [:]
            }
        case .lost(let reason): if isQuiet { fail("\(endpoint.name) lost its connection in peace: \(reason)") }
        case .closed(let reason):
            if endpoint.side == .router {
                endpoints.removeAll { $0 === endpoint }
                if endpoint.host.sessions[endpoint.core.session] === endpoint { endpoint.host.sessions[endpoint.core.session] = nil }
            } else if !endpoint.isClosing {
                fail("\(endpoint.name) closed by itself: \(reason)")
            }
        default: break
        }
    }

    /// Before a batch of events is told: whether it tells of a memory lost, which excuses `unknown`.
    func excuse(_ endpoint: SimEndpoint, _ events: [SessionEvent]) {
        for case .state(let state) in events {
            switch state {
            case .open(let opening) where opening.memoryLost && plan.memoryLoss == .reportUnknown: break
            case .closed(.forgotten): break
            default: continue
            }
            for number in endpoint.byTicket.values { truths[number].mayBeUnknown = true }
        }
    }

    func ended(_ endpoint: SimEndpoint, _ outcome: MessageOutcome) {
        guard let number = endpoint.byTicket[outcome.ticket.number] else {
            return fail("\(endpoint.name) reports an outcome for a message that nobody sent: \(outcome)")
        }
        note("\(endpoint.name): \(number) (\(outcome.ticket.msgId)) is \(outcome.result.rawValue) after \(outcome.sends) sends")
        let truth = truths[number]
        if truth.outcome != nil, !truth.mayEndAgain { fail("message \(number) has two outcomes, the second is \(outcome.result.rawValue)") }
        switch outcome.result {
        case .delivered: if truth.taken == 0 { fail("message \(number) is reported as delivered and was never taken: lost in silence") }
        case .notSent, .cancelled:
            if truth.taken > 0 { fail("message \(number) is reported as \(outcome.result.rawValue) and was taken") }
        case .unknown:
            if truth.isTracked, !truth.mayBeUnknown, !endpoint.isClosing {
                fail("message \(number) is reported as unknown without a reason")
            }
        }
        if isCalm, outcome.result == .notSent, truth.isTracked, !truth.mayBeUnknown, !truth.isOrphan, !endpoint.isClosing {
            fail("message \(number) was given up in peace")
        }
        truths[number].outcome = outcome.result
        if endpoint.disk != nil { endpoint.endedUnsynced.append(number) }
    }

    func taken(_ endpoint: SimEndpoint, _ message: InboundMessage) {
        guard let number = SimWorld.number(message.body), number < truths.count else {
            return fail("\(endpoint.name) got a body that nobody sent")
        }
        let truth = truths[number]
        if truth.isPlain, truth.taken > 0 { fail("plain message \(number) came twice") }
        if !truth.mayComeAgain {
            if truth.takenInMemory == endpoint.memory { fail("\(endpoint.name) got message \(number) twice in one session") }
            if truth.taken > 0, plan.memoryLoss == .reportUnknown { fail("message \(number) came twice where unknown was asked for") }
            if number <= endpoint.lastTaken { fail("\(endpoint.name) got message \(number) after \(endpoint.lastTaken)") }
        }
        if truth.outcome == .notSent || truth.outcome == .cancelled { fail("message \(number) was taken after being reported as not sent") }
        truths[number].taken += 1
        truths[number].takenInMemory = endpoint.memory
        endpoint.lastTaken = max(endpoint.lastTaken, number)
        if message.msgId != 0 { endpoint.takenIds.insert(message.msgId) }
        endpoint.takenUnwritten.append(number)
    }

    // MARK: - Death

    /// A process has died: what it hadn't told its application, its application never hears.
    func died(_ endpoint: SimEndpoint) {
        for case .outcome(let outcome) in endpoint.core.takeEvents() {
            guard let number = endpoint.byTicket[outcome.ticket.number] else { continue }
            truths[number].isOrphan = true
            truths[number].mayEndAgain = true
        }
        for number in endpoint.takenUnwritten + (endpoint.isPowerCut ? endpoint.takenUnsynced : []) { truths[number].mayComeAgain = true }
        if endpoint.isPowerCut { for number in endpoint.endedUnsynced { truths[number].mayEndAgain = true } }
        for number in endpoint.fresh { truths[number].isOrphan = true }
        lostPower(endpoint)
        if endpoint.disk == nil {
            orphan(endpoint)
        } else {
            for number in endpoint.byTicket.values where !truths[number].isTracked { truths[number].isOrphan = true }
        }
    }

    func orphan(_ endpoint: SimEndpoint) {
        for number in endpoint.byTicket.values where truths[number].outcome == nil { truths[number].isOrphan = true }
    }

    /// A session's memory is gone with its process.
    func forgotten(_ endpoint: SimEndpoint) { orphan(endpoint) }

    /// What a process knows from its predecessor's journal.
    func inherit(_ fresh: SimEndpoint, from dead: SimEndpoint) {
        fresh.byId = dead.byId
        for number in dead.fresh {
            for (id, other) in fresh.byId where other == number { fresh.byId[id] = nil }
        }
        fresh.takenIds = dead.takenIds
        fresh.owed = dead.owed
        fresh.lastTaken = dead.lastTaken
        var found: Set<Int> = []
        for ticket in fresh.core.pendingTickets {
            guard let number = dead.byId[ticket.msgId] else { fail("\(dead.name)'s journal holds \(ticket), which nobody sent"); continue }
            fresh.byTicket[ticket.number] = number
            fresh.byId[ticket.msgId] = number
            found.insert(number)
        }
        for number in dead.byId.values where !found.contains(number) {
            let truth = truths[number]
            if truth.isAccepted, truth.outcome == nil, !truth.isOrphan {
                fail("message \(number) of \(dead.name) was accepted and isn't in the journal")
            }
        }
    }

    /// A controller began a new session: nobody fetches what the router has for the old one.
    func abandoned(_ dead: SimEndpoint) {
        orphan(dead)
        if let stale = dead.host.sessions[dead.core.session] { orphan(stale) }
    }

    // MARK: - The end

    private var current: [SimEndpoint] {
        controllers + controllers.compactMap { $0.host.sessions[$0.core.session] }
    }

    var isSettled: Bool {
        guard steps % 8 == 0 else { return false }
        return current.count == 2 * controllers.count
            && current.allSatisfy {
                $0.isAlive && $0.core.isOpen && $0.core.pendingMessages == 0 && $0.core.outputByteCount == 0 && $0.held.isEmpty
                    && $0.frozenUntil <= now
            }
    }

    func checkSettled() {
        for controller in controllers where controller.host.sessions[controller.core.session] == nil {
            fail("\(controller.name)'s router has no session with it after all that time")
        }
        for endpoint in current where !(endpoint.isAlive && endpoint.core.isOpen) {
            fail("\(endpoint.name) isn't open after all that time")
        }
        for (number, truth) in truths.enumerated() where truth.outcome == nil && !truth.isOrphan {
            fail("message \(number) of \(truth.sender) has no outcome after all that time")
        }
        for endpoint in current where endpoint.waitsForSpace { fail("\(endpoint.name) was never told that there's space again") }
    }

    /// Each controller says a last thing and closes: it must arrive.
    func closeAll() {
        let before = truths.count
        for controller in controllers { send(controller, 2) }
        for controller in controllers {
            note("\(controller.name) closes")
            controller.isClosing = true
            input(controller) { $0.core.close(.endSession, now: $1) }
        }
        finishRun()
        for controller in controllers where !controller.core.isClosed { fail("\(controller.name) didn't close within its time") }
        for number in before..<truths.count where truths[number].sender.hasPrefix("controller") && truths[number].taken == 0 {
            guard truths[number].outcome != .cancelled, !plan.slowApplications else { continue }
            fail("message \(number), sent before the close, wasn't taken")
        }
    }
}
