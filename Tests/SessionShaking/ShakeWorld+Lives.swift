import SocketCore

// MARK: - What sessions say, and what is said to them

extension ShakeWorld {
    func begin(_ life: ShakeLife) {
        allLives.append(life)
        if plan.isAttended {
            let (world, number) = (self, life.number)
            let attendant = ShakeAttendant { [weak world] events in
                world?.assumeIsolated { world in
                    world.happened(world.allLives[number], events)
                    world.answer(world.allLives[number])
                }
            }
            life.session.assumeIsolated { $0.attend(by: attendant) }
        } else {
            read(life)
        }
    }

    /// A new reader takes the place of the one before.
    func read(_ life: ShakeLife) {
        life.readers.last?.cancel()
        life.gate?.resume()
        life.gate = nil
        let number = life.number
        life.readers.append(Task(executorPreference: loop) { await self.readOn(number) })
    }

    private func readOn(_ number: Int) async {
        let life = allLives[number]
        while true {
            if life.rests, !Task.isCancelled { await withCheckedContinuation { life.gate = $0 } }
            guard !Task.isCancelled, let batch = await life.session.nextEvents() else { break }
            happened(life, batch)
        }
        // The reader before may be about to say what it was given.
        if !life.isClosed { await pause(10) }
        if !Task.isCancelled, !life.isClosed { trace.fail("\(life.name): its events ended, and it didn't say that it's closed") }
    }

    func rest(_ life: ShakeLife) {
        life.rests = true
        if plan.isAttended { life.session.assumeIsolated { $0.setReading(false) } }
    }

    func goOn(_ life: ShakeLife) {
        guard life.rests else { return }
        life.rests = false
        life.gate?.resume()
        life.gate = nil
        if plan.isAttended { life.session.assumeIsolated { $0.setReading(true) } }
    }

    func happened(_ life: ShakeLife, _ events: [SessionEvent]) {
        for case .state(.open(let opening)) in events where opening.memoryLost && life.side == .controller { truth.forgotten(life) }
        for event in events {
            switch event {
            case .message(let message): truth.taken(life, message)
            case .outcome(let outcome): truth.ended(life, outcome)
            case .state(let state):
                trace.note("\(life.name) is \(ShakeWorld.brief(state))")
                if case .lost = state { life.losses += 1 }
                if case .closed(let reason) = state { closed(life, reason) }
            case .journal(let error): trace.note("\(life.name): journal \(error.map { "\($0)" } ?? "well again")")
            case .writable: trace.fail("\(life.name) told of room to somebody who didn't ask")
            }
        }
    }

    private func closed(_ life: ShakeLife, _ reason: LossReason) {
        if life.isClosed { trace.fail("\(life.name) closed twice") }
        life.isClosed = true
        if life.side == .controller, !life.isClosing { trace.fail("\(life.name) closed by itself: \(reason)") }
        if life.side == .router, plan.keepsMemory, !life.isClosing { trace.fail("\(life.name) closed by itself: \(reason)") }
        if routers[life.session.identifier] === life { routers[life.session.identifier] = nil }
    }

    private static func brief(_ state: SessionState) -> String {
        switch state {
        case .open(let opening): "open\(opening.memoryLost ? ", forgotten" : "")"
        case .resumed: "resumed"
        default: "\(state)"
        }
    }

    // MARK: Messages

    /// - Returns: the message's number, once it has its outcome.
    @discardableResult
    func send(_ life: ShakeLife, wantsReceipt: Bool) async -> Int {
        let (number, body) = newBody(life, wantsReceipt)
        trace.note("\(life.name) sends \(number)")
        do {
            let outcome = try await life.session.send(body, wantsReceipt: wantsReceipt)
            // Who is closed for later, or dead, hears what is known: the next process hears the end.
            if life.isKept || life.isKilled, outcome.result == .unknown, outcome.sends == 0 {
                truth.accepted(number, life, outcome.ticket)
            } else {
                truth.accepted(number, life, outcome.ticket)
                truth.ended(life, outcome)
            }
        } catch {
            truth.refused(number, life)
        }
        return number
    }

    func post(_ life: ShakeLife, wantsReceipt: Bool, whenFull: Session.FullPolicy, most: Int = .max) async {
        let (number, body) = newBody(life, wantsReceipt, most: most)
        do {
            let ticket = try await life.session.post(body, wantsReceipt: wantsReceipt, whenFull: whenFull)
            trace.note("\(life.name) has posted \(number) (\(ticket.msgId))")
            truth.accepted(number, life, ticket)
        } catch {
            trace.note("\(life.name) can't post \(number): \(error)")
            truth.refused(number, life)
        }
    }

    /// Those of a flood are small.
    func newBody(_ life: ShakeLife, _ wantsReceipt: Bool, most: Int = .max) -> (number: Int, body: [UInt8]) {
        truth.body(of: life, wantsReceipt: wantsReceipt, bytes: Int.random(in: 0...min(most, plan.largestBody), using: &random))
    }

    /// What an attendant does in the middle of being told.
    private func answer(_ life: ShakeLife) {
        guard life.side != .twin, !life.isClosed, random.chance(0.1) else { return }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            trace.note("\(life.name), being told: dropConnection()")
            life.session.assumeIsolated { $0.dropConnection() }
        case 1: life.session.assumeIsolated { session in if let first = session.pendingTickets.first { session.resend(first) } }
        default:
            let wantsReceipt = random.chance(0.7)
            let (number, body) = newBody(life, wantsReceipt)
            let ticket = life.session.assumeIsolated { try? $0.offer(body, wantsReceipt: wantsReceipt) }
            trace.note("\(life.name), being told: offers \(number) (\(ticket?.msgId ?? 0))")
            guard let ticket else { return truth.refused(number, life) }
            truth.offered(number, life, ticket, keepsJournal: life.keepsJournal)
        }
    }

    /// Goes on beside the script; it must end all the same.
    func beside(_ life: ShakeLife, _ body: @escaping @Sendable (isolated ShakeWorld, ShakeLife) async -> Void) {
        let number = life.number
        life.tasks.append(Task(executorPreference: loop) { await self.run(number, body) })
    }

    private func run(_ number: Int, _ body: @Sendable (isolated ShakeWorld, ShakeLife) async -> Void) async {
        await body(self, allLives[number])
    }

    /// A message without outcome, if there's one.
    func pendingTicket(_ life: ShakeLife) async -> SessionTicket? { await life.session.pendingTickets.randomElement(using: &random) }

    func cancel(_ life: ShakeLife) async {
        guard let ticket = await pendingTicket(life) else { return }
        let isCancelled = await life.session.cancel(ticket)
        trace.note("\(life.name) \(isCancelled ? "cancels" : "can't cancel") \(ticket.msgId)")
    }

    /// Ends a session; every caller must return.
    func close(_ life: ShakeLife, _ policy: ClosePolicy, callers: Int) async {
        life.isClosing = true
        let (session, name) = (life.session, life.name)
        await doing(name, "close(\(policy))") {
            await withTaskGroup { group in
                for caller in 0..<callers {
                    group.addTask(executorPreference: loop) {
                        // The third one's thought is another: away, and not over.
                        if caller == 2 { await session.suspend() } else { await session.close(policy) }
                    }
                }
            }
        }
        // What it hasn't handed over yet is handed over now; a reader that rests would never see the end.
        goOn(life)
    }
}

/// Takes a session's events on the spot.
private final class ShakeAttendant: SessionAttendant {
    private let take: @Sendable ([SessionEvent]) -> Void

    init(_ take: @escaping @Sendable ([SessionEvent]) -> Void) { self.take = take }

    func session(_ session: Session, happened events: [SessionEvent]) { take(events) }
    func sessionEnded(_ session: Session) {}
}
