import SocketCore

/// A connection of a manager, and what it's held for.
struct HeldConnection {
    let connection: RouterConnection
    /// Made for a router that needn't prove itself: only for whoever named that router.
    let isException: Bool
    /// Who uses it now, beside whoever uses the current one.
    var users = 0
    /// When it was left, in the order of departures; nil: it was never the current one.
    var departure: UInt64?
}

/// A router's connections on their way out.
struct Departure {
    /// Closings under way.
    var closings = 0
    /// Who waits until there are none.
    var waiters: [CheckedContinuation<Void, Never>] = []
}

/// One connection a router, whoever asks for it and however many at once: two sessions with one router would be two outboxes, and their
/// messages would come in no order.
extension RouterManager {
    /// Sessions with earlier routers that are kept in memory for a return; with more, the one that was left longest ago is closed, and
    /// what it hadn't settled stays in its journal where state is kept.
    static let largestParkedCount = 8

    /// The connection with that router, where there is one: see ``borrow(_:exception:)``.
    func borrowHeld(_ mac: MACAddress, exception: Bool) async -> RouterConnection? {
        while true {
            if departing[mac] != nil {
                await departed(mac)
                continue
            }
            guard let entry = held[mac] else { return nil }
            held[mac]?.users += 1
            let isOver = await entry.connection.isOver
            // It was given up while it was asked.
            guard held[mac]?.connection === entry.connection else { continue }
            if !isOver, exception || !entry.isException { return entry.connection }
            await retire(entry.connection)
        }
    }

    /// The one connection with that router, not necessarily open: the one there is, or a new one. Who gets it gives it back by
    /// ``release(_:)``.
    ///
    /// - Throws: what ``makeSession(_:)`` throws.
    func borrow(_ target: SwitchCore.Target, exception: Bool) async throws -> RouterConnection {
        try await whenJournalIsFree(target.mac) { manager in
            // Looked for in each try: somebody else may have made it while a journal was waited for.
            if let connection = await manager.borrowHeld(target.mac, exception: exception) { return connection }
            let connection = try manager.makeConnection(target, exception: exception)
            let isException = try exception && manager.wantsProof(of: target.mac)
            manager.held[target.mac] = HeldConnection(connection: connection, isException: isException, users: 1)
            return connection
        }
    }

    /// Ends a use. A connection that nobody uses and that isn't the current one rests if it was that before, and is closed otherwise.
    func release(_ connection: RouterConnection) async {
        guard held[connection.mac]?.connection === connection else { return }
        held[connection.mac]?.users -= 1
        await settle(connection)
    }

    /// This connection is the one in use from now on, and the one before it isn't any more.
    func adopt(_ connection: RouterConnection, moves: Bool) async {
        let old = current
        current = connection
        held[connection.mac]?.departure = nil
        keepCurrent(connection.mac, opening: await connection.opening, moves: moves)
        var news = [StatusItem(StatusKey(connection.mac, .current), .current(true))]
        if let old, old !== connection {
            departures += 1
            if held[old.mac]?.connection === old { held[old.mac]?.departure = departures }
            if old.mac != connection.mac { news.insert(StatusItem(StatusKey(old.mac, .current), .current(false)), at: 0) }
        }
        watchCommands()
        // In one call: of two routers that become current at once, the later one's news come last.
        await hub.report(news)
        if current === connection { await failover?.use(connection.mac) }
        if let opening = await connection.opening { noteStation(opening, of: connection.mac) }
        await connection.follow(followedNames)
        // It went to the background while this was under way.
        if isSuspended { await connection.suspend() }
        if let old { await settle(old) }
    }

    /// Closes a connection for good, at most after ``SessionTiming/drain``: what it hasn't settled stays in its journal, or is given up.
    func retire(_ connection: RouterConnection, _ policy: ClosePolicy = .keepForLater) async {
        if held[connection.mac]?.connection === connection { held[connection.mac] = nil }
        await depart(connection.mac) { await connection.close(policy) }
    }

    /// Nobody gets another connection with that router before `close` has returned.
    func depart(_ mac: MACAddress, _ close: @Sendable () async -> Void) async {
        departing[mac, default: Departure()].closings += 1
        await close()
        departing[mac]?.closings -= 1
        guard let departure = departing[mac], departure.closings == 0 else { return }
        departing[mac] = nil
        for waiter in departure.waiters { waiter.resume() }
    }

    /// Returns when none of that router's connections is on its way out. To ask and to wait is one step, in which nothing can happen.
    func departed(_ mac: MACAddress) async {
        while departing[mac] != nil { await withCheckedContinuation { departing[mac]?.waiters.append($0) } }
    }

    private func settle(_ connection: RouterConnection) async {
        guard let entry = held[connection.mac], entry.connection === connection, entry.users == 0, current !== connection else { return }
        guard entry.departure != nil, options.keepsSessions else { return await retire(connection) }
        await connection.park()
        while let oldest = oldestBeyondBound() { await retire(oldest) }
    }

    /// The connection that was left longest ago, where more rest than are kept.
    private func oldestBeyondBound() -> RouterConnection? {
        let resting = held.values.filter { $0.users == 0 && $0.departure != nil }
        guard resting.count > RouterManager.largestParkedCount else { return nil }
        return resting.min { ($0.departure ?? 0) < ($1.departure ?? 0) }?.connection
    }

    /// Routers whose sessions are kept for a return.
    var keptRouters: Set<MACAddress> { Set(held.values.filter { $0.departure != nil }.map(\.connection.mac)) }

    /// Ends the session that is kept for a router that was current before: what it hasn't settled is given up.
    ///
    /// - Returns: false when none is kept.
    @discardableResult
    public func endSession(with mac: MACAddress) async -> Bool {
        guard let entry = held[mac], entry.departure != nil else { return false }
        let connection = entry.connection
        held[mac] = nil
        await connection.takeBackMessages()
        await retire(connection, .endSession)
        return true
    }
}
