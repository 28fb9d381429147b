import SocketCore

/// What becomes of messages that the old router hasn't settled when a switch closes its session.
public enum UnsettledMessages: Sendable {
    /// They stay with their router, and are delivered when it is the current one again.
    case keep
    /// They are taken back: each ends as `cancelled`, or as `unknown` when it may have arrived.
    case cancel
}

extension RouterManager {
    /// A switch under way.
    struct RunningSwitch {
        let mac: MACAddress
        let task: Task<RouterConnection, any Error>
    }

    /// Sessions with earlier routers that are kept in memory for a return; with more, the one that was left longest ago is closed, and
    /// what it hadn't settled stays in its journal where state is kept.
    static let largestParkedCount = 8

    /// Moves to another router: the new one is probed and its session opened, or resumed if it was current before; only then the old one
    /// is drained and left.
    ///
    /// The newest wish counts: a switch that is still looking, probing or connecting gives way to a later one to another router, and
    /// throws ``ManagerError/superseded(_:)``. One to the same router joins it.
    ///
    /// - Throws: ``SwitchError`` with the step that failed (the old session is as it was), ``ManagerError``, ``DiscoveryError``.
    @discardableResult
    public func `switch`(
        to reference: String, unsettled: UnsettledMessages = .keep,
        onStep: @escaping @Sendable (SwitchCore.Action) -> Void = { _ in }
    ) async throws -> RouterConnection {
        // Said twice in the same words it's one wish, which nobody supersedes.
        if latestWish != reference { wishes += 1 }
        latestWish = reference
        let wish = wishes
        let target = try await locate(reference)
        if let current, current.mac == target.mac, switching == nil, wish == wishes, await current.session.isOpen { return current }
        while let running = switching {
            if running.mac == target.mac { return try await running.task.value }
            guard wish == wishes else { throw ManagerError.superseded(reference) }
            running.task.cancel()
            _ = await running.task.result
            if switching?.task == running.task { switching = nil }
        }
        // Nothing is waited for from here on until the switch is known to be under way.
        guard wish == wishes else { throw ManagerError.superseded(reference) }
        let task = Task { try await self.run(target, unsettled, onStep) }
        switching = RunningSwitch(mac: target.mac, task: task)
        defer { if switching?.task == task { switching = nil } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where wish != wishes {
            throw ManagerError.superseded(reference)
        }
    }

    private func run(
        _ target: SwitchCore.Target, _ unsettled: UnsettledMessages, _ onStep: @escaping @Sendable (SwitchCore.Action) -> Void
    ) async throws -> RouterConnection {
        let old = current
        let one = RouterSwitch(
            options.discovery, from: old, loop: loop, onStep: onStep,
            hooks: RouterSwitch.Hooks(
                make: { try await self.connection(to: $0, exception: self.options.allowsUnproven) },
                adopt: { await self.adopt($0, moves: true) },
                leave: { await self.leave($0, unsettled) }, abandon: { await self.leaveOrClose($0) }))
        let (connection, _) = try await one.run(target)
        return connection
    }

    /// The session that is kept for that router, or a new one.
    func connection(to target: SwitchCore.Target, exception: Bool) throws -> RouterConnection {
        if let parked = parked[target.mac] { return parked }
        return try makeConnection(target, exception: exception)
    }

    /// This connection is the one in use from now on.
    func adopt(_ connection: RouterConnection, moves: Bool) async {
        let old = current
        current = connection
        parked[connection.mac] = nil
        parkedOrder.removeAll { $0 == connection.mac }
        keepCurrent(connection.mac, moves: moves)
        if let old, old.mac != connection.mac { await hub.report(StatusKey(old.mac, .current), .current(false)) }
        await hub.report(StatusKey(connection.mac, .current), .current(true))
        await failover?.use(connection.mac)
        if !followedNames.isEmpty { await connection.follow(followedNames) }
        // It went to the background while this was under way.
        if isSuspended { await connection.suspend() }
    }

    /// This connection isn't used any more, for now.
    func leave(_ connection: RouterConnection, _ unsettled: UnsettledMessages = .keep) async {
        guard current !== connection else { return }
        if unsettled == .cancel { for ticket in await connection.session.pendingTickets { await connection.session.cancel(ticket) } }
        guard options.keepsSessions else { return await connection.close(.keepForLater) }
        await connection.park()
        parked[connection.mac] = connection
        parkedOrder.removeAll { $0 == connection.mac }
        parkedOrder.append(connection.mac)
        while parkedOrder.count > RouterManager.largestParkedCount {
            let oldest = parkedOrder.removeFirst()
            await parked.removeValue(forKey: oldest)?.close(.keepForLater)
        }
    }

    /// Ends the session that is kept for a router that was current before: what it hasn't settled is given up.
    ///
    /// - Returns: false when none is kept.
    @discardableResult
    public func endSession(with mac: MACAddress) async -> Bool {
        guard let connection = parked.removeValue(forKey: mac) else { return false }
        parkedOrder.removeAll { $0 == mac }
        for ticket in await connection.session.pendingTickets { await connection.session.cancel(ticket) }
        await connection.close(.endSession)
        return true
    }
}
