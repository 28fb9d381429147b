import SocketCore

// MARK: - Machines whose processes don't wait for the disk, and that lose power

extension SimWorld {
    /// What a shell makes of a journal before it restores it: after another boot, what was kept without waiting goes to a new session.
    ///
    /// - Returns: whether it was begun anew.
    func goOn(_ contents: inout JournalContents, after dead: SimEndpoint) -> Bool {
        guard !waitsForDisk, !shellFaults.contains(.trustsDisk) else { return false }
        return contents.goOn(
            inBoot: SimWorld.boot(machineBoot(after: dead)), waitsForDisk: false,
            successor: SessionIdentifier(high: ~seed, low: UInt64(memories)))
    }

    static func boot(_ number: Int) -> String { "machine boot \(number)" }

    func machineBoot(after dead: SimEndpoint) -> Int { dead.machineBoot + (dead.isPowerCut ? 1 : 0) }

    /// A machine without power has forgotten whatever nobody waited for: what its journal still holds may be over and done with.
    func lostPower(_ endpoint: SimEndpoint) {
        guard !waitsForDisk, endpoint.isPowerCut, endpoint.disk != nil else { return }
        for number in Set(endpoint.byTicket.values).union(endpoint.byId.values) {
            truths[number].mayComeAgain = true
            truths[number].mayEndAgain = true
            truths[number].mayBeUnknown = true
        }
        for number in endpoint.endedUnsynced { truths[number].outcome = nil }
    }

    /// What a new session has from a journal that may have gaps: the messages in it, and nothing of the old session's memory.
    func inheritAnew(_ fresh: SimEndpoint, from dead: SimEndpoint) {
        fresh.lastTaken = dead.side == .controller ? dead.lastTaken : -1
        var found: Set<Int> = []
        for ticket in fresh.core.pendingTickets {
            guard let number = dead.byId[ticket.msgId] else { fail("\(dead.name)'s journal holds \(ticket), which nobody sent"); continue }
            fresh.byTicket[ticket.number] = number
            fresh.byId[ticket.msgId] = number
            found.insert(number)
        }
        for number in Set(dead.byId.values).union(dead.byTicket.values) where !found.contains(number) && truths[number].outcome == nil {
            truths[number].isOrphan = true
        }
        // A session that its controller has left for another one: nobody comes for what it has.
        if !controllers.contains(where: { $0.core.session == dead.core.session }) { orphan(fresh) }
        if dead.side == .controller, let stale = dead.host.sessions[dead.core.session] { orphan(stale) }
    }
}
