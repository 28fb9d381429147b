import FrameCodec
import SocketCore

// MARK: - The shell around a core, as the product's shells are: journal, actions, write, hand over

extension SimWorld {
    /// Gives a core an input and then its tick.
    func input(_ endpoint: SimEndpoint, _ body: (SimEndpoint, Instant) -> Void) {
        guard endpoint.isAlive else { return }
        body(endpoint, clock(endpoint))
        tick(endpoint)
    }

    func tick(_ endpoint: SimEndpoint) {
        for _ in 0..<50 {
            guard endpoint.isAlive, failure == nil else { return }
            if endpoint.dieAt == .beforeJournal { return die(endpoint) }
            if endpoint.dieAt == .midJournal { return dieWriting(endpoint) }
            if !shellFaults.contains(.journalAfterWrite) { writeJournal(endpoint) }
            if endpoint.dieAt == .afterJournal { return die(endpoint) }
            for action in endpoint.core.takeActions() { act(endpoint, action) }
            write(endpoint)
            if endpoint.dieAt == .afterWrite { return die(endpoint) }
            if shellFaults.contains(.journalAfterWrite) { writeJournal(endpoint) }
            checkBounds(endpoint)
            guard handOut(endpoint) else { break }
        }
        wantTimer(endpoint)
        unblock(endpoint)
    }

    private func writeJournal(_ endpoint: SimEndpoint) {
        if let batch = endpoint.core.takeJournal() {
            endpoint.disk?.bytes += batch.bytes
            // Sometimes the kernel writes back by itself.
            if batch.mustSync && waitsForDisk && !shellFaults.contains(.neverSyncs) || random.chance(0.1) { synced(endpoint) }
        }
        if endpoint.core.journalWantsCompaction || (endpoint.disk != nil && random.chance(0.0005)) {
            endpoint.disk?.bytes = endpoint.core.compactJournal()
            synced(endpoint)
        }
        endpoint.takenUnsynced += endpoint.takenUnwritten
        endpoint.takenUnwritten = []
        if endpoint.disk == nil { endpoint.takenUnsynced = [] }
        for number in endpoint.fresh { truths[number].isAccepted = true }
        endpoint.fresh = []
    }

    /// A batch is on its way to the file, or a compacted journal to its place, when the process ends: at any byte, or in between.
    private func dieWriting(_ endpoint: SimEndpoint) {
        if let batch = endpoint.core.takeJournal() {
            let whole = random.chance(0.2)
            endpoint.disk?.bytes += whole ? batch.bytes[...] : batch.bytes[..<draw(0...batch.bytes.count)]
            if whole, endpoint.disk != nil, random.chance(0.5) {
                let compacted = endpoint.core.compactJournal()
                if random.chance(0.5) { endpoint.disk = SimDisk(bytes: compacted, synced: compacted.count) }
            }
        }
        die(endpoint)
    }

    private func synced(_ endpoint: SimEndpoint) {
        let written = endpoint.disk?.bytes.count ?? 0
        endpoint.disk?.synced = written
        endpoint.takenUnsynced = []
        endpoint.endedUnsynced = []
    }

    private func act(_ endpoint: SimEndpoint, _ action: SessionAction) {
        note("\(endpoint.name) does \(action)")
        switch action {
        case .connect(let number): dial(endpoint, number)
        case .finishWriting: if let link = endpoint.link { finish(link, endpoint.side) }
        case .close(let number, let abort):
            guard let link = endpoint.link, link.numbers[endpoint.side.rawValue] == number else { return }
            endpoint.link = nil
            hauntLater(endpoint, number)
            closeEnd(link, endpoint.side, abort: abort)
        }
    }

    /// Writes what the kernel takes: all, or a part, or nothing.
    func write(_ endpoint: SimEndpoint) {
        guard let link = endpoint.link, let number = link.numbers[endpoint.side.rawValue] else { return }
        while endpoint.isAlive, endpoint.core.outputByteCount > 0, link.holds[endpoint.side.rawValue] {
            let far = endpoint.side.other.rawValue
            let room = plan.pipeCapacity - link.pipes[far].bytes.count
            guard room > 0 else { return }
            let count = min(room, endpoint.core.outputByteCount)
            let piece = endpoint.core.withOutput { bytes in bytes.extracting(first: count).withUnsafeBytes { [UInt8]($0) } }
            put(piece, link, from: endpoint)
            endpoint.core.wrote(count, on: number, now: clock(endpoint))
            if endpoint.dieAt != nil { return }
        }
    }

    /// Gives the application its batch.
    ///
    /// - Returns: whether there's more to do.
    private func handOut(_ endpoint: SimEndpoint) -> Bool {
        let events = endpoint.core.takeEvents()
        excuse(endpoint, events)
        var last: UInt64?
        for event in events {
            switch event {
            case .state(let state):
                note("\(endpoint.name) is \(SimWorld.text(state))")
                stateChanged(endpoint, state)
            case .message(let message):
                note("\(endpoint.name) hears \(message.msgId): \(SimWorld.number(message.body).map(String.init) ?? "?")")
                endpoint.held.append(message)
                last = message.sequence
            case .outcome(let outcome): ended(endpoint, outcome)
            case .writable: endpoint.waitsForSpace = false
            case .journal: fail("\(endpoint.name): a core knows no files")
            }
        }
        guard let last else { return !events.isEmpty }
        let delay = max(draw(endpoint.takesAfter), endpoint.stopsTakingUntil - now)
        if delay <= 0 { take(endpoint, through: last, ticks: false) } else { schedule(.take(endpoint, last), at: now + delay) }
        return true
    }

    /// The application takes what it holds; from here on it counts as delivered.
    func take(_ endpoint: SimEndpoint, through sequence: UInt64, ticks: Bool = true) {
        guard endpoint.isAlive else { return }
        guard endpoint.frozenUntil <= now, endpoint.stopsTakingUntil <= now else {
            return schedule(.take(endpoint, sequence), at: max(endpoint.frozenUntil, endpoint.stopsTakingUntil))
        }
        var count = 0
        while count < endpoint.held.count, endpoint.held[count].sequence <= sequence {
            taken(endpoint, endpoint.held[count])
            count += 1
        }
        endpoint.held.removeFirst(count)
        endpoint.core.handedOver(through: sequence, now: clock(endpoint))
        if ticks { tick(endpoint) }
    }

    private func wantTimer(_ endpoint: SimEndpoint) {
        let deadline = endpoint.core.deadline.at
        guard deadline != .distantFuture else { return }
        let at = max(deadline.nanoseconds - endpoint.clockOffset, now)
        guard at < endpoint.timerAt else { return }
        endpoint.timerAt = at
        schedule(.timer(endpoint), at: at)
    }

    /// An application sends.
    func send(_ endpoint: SimEndpoint, _ count: Int, itself: Bool = false, tracked: Bool? = nil) {
        for _ in 0..<count {
            // Either end talks; the router's only once there's a session.
            var sender = endpoint
            if !itself, random.chance(0.4), let session = endpoint.host.sessions[endpoint.core.session] { sender = session }
            guard sender.isAlive, sender.frozenUntil <= now, !sender.waitsForSpace, failure == nil else { continue }
            let wantsReceipt = tracked ?? random.chance(0.85)
            let isTracked = wantsReceipt && !sender.host.isPlain
            let length = plan.largeBodies && random.chance(0.2) ? draw(1_000...20_000) : draw(4...60)
            let number = truths.count
            var body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: length)
            for index in 0..<4 { body[index] = UInt8(truncatingIfNeeded: number >> (8 * (3 - index))) }
            do throws(SessionError) {
                let ticket = try sender.core.send(body, wantsReceipt: wantsReceipt, now: clock(sender))
                note("\(sender.name) sends \(number) as \(ticket.msgId), \(length) bytes")
                truths.append(SimTruth(sender: sender.name, isTracked: isTracked, isPlain: sender.host.isPlain))
                sender.byTicket[ticket.number] = number
                if ticket.msgId != 0 {
                    if sender.byId[ticket.msgId] != nil { fail("\(sender.name): id \(ticket.msgId) given to two messages") }
                    sender.byId[ticket.msgId] = number
                }
                sender.fresh.append(number)
                tick(sender)
                if random.chance(0.02), sender.isAlive {
                    truths[number].mayBeUnknown = true
                    note("\(sender.name) cancels \(number)")
                    input(sender) { $0.core.cancel(ticket, now: $1) }
                }
            } catch {
                note("\(sender.name) can't send: \(error)")
                if case .outboxFull = error {
                    sender.waitsForSpace = true
                } else if !sender.isClosing {
                    fail("\(sender.name) refused a message: \(error)")
                }
            }
        }
    }

    private static func text(_ state: SessionState) -> String {
        switch state {
        case .open(let opening): "open\(opening.memoryLost ? ", memory lost" : "")"
        case .resumed: "resumed"
        default: "\(state)"
        }
    }

    static func number(_ body: [UInt8]) -> Int? {
        guard body.count >= 4 else { return nil }
        return body[0..<4].reduce(0) { $0 << 8 | Int($1) }
    }
}
