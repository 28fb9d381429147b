import SocketCore

/// What becomes of messages that the old router hasn't settled when a switch closes its session.
public enum UnsettledMessages: Sendable {
    /// They stay with their router, and are delivered when it is the current one again.
    case keep
    /// They are taken back: each ends as `cancelled`, or as `unknown` when it may have arrived.
    case cancel
}

/// A wish to switch, while it's found out which router is meant.
struct SwitchWish {
    /// Counted up; what is said twice in the same words is one wish, which nobody supersedes.
    let number: Int
    let reference: String
    let isException: Bool
    let place: Task<SwitchCore.Target, any Error>
}

extension RouterManager {
    /// A switch under way.
    struct RunningSwitch {
        let mac: MACAddress
        /// Whether it needn't prove itself.
        let isException: Bool
        let task: Task<RouterConnection, any Error>
        /// Who waits for it: it's called off when nobody does any more.
        var waiters = 0
    }

    /// Moves to another router: the new one is probed and its session opened, or resumed if it was current before; only then the old one
    /// is drained and left.
    ///
    /// The newest wish counts: a switch that is still looking, probing or connecting gives way to a later one to another router, and
    /// throws ``ManagerError/superseded(_:)``. One to the same router, in whichever words it's named, joins it.
    ///
    /// - Throws: ``SwitchError`` with the step that failed (the old session is as it was), ``ManagerError``, ``DiscoveryError``.
    @discardableResult
    public func `switch`(
        to reference: String, unsettled: UnsettledMessages = .keep,
        onStep: @escaping @Sendable (SwitchCore.Action) -> Void = { _ in }
    ) async throws -> RouterConnection {
        try await move(to: reference, unsettled: unsettled, exception: options.allowsUnproven, onStep: onStep)
    }

    /// The same; with `exception`, whatever the router proves.
    @discardableResult
    func move(
        to reference: String, unsettled: UnsettledMessages, exception: Bool,
        onStep: @escaping @Sendable (SwitchCore.Action) -> Void = { _ in }
    ) async throws -> RouterConnection {
        let place = Task { try await self.locate(reference, exception: exception) }
        let isRepeated = newestWish?.reference == reference && newestWish?.isException == exception
        var number = (newestWish?.number ?? 0) + (isRepeated ? 0 : 1)
        let wish = SwitchWish(number: number, reference: reference, isException: exception, place: place)
        newestWish = wish
        let target = try await withTaskCancellationHandler {
            try await place.value
        } onCancel: {
            place.cancel()
        }
        while true {
            if let newest = newestWish, newest.number != number {
                let other = try? await newest.place.value.mac
                guard newestWish?.number == newest.number else { continue }
                guard other == target.mac else { throw ManagerError.superseded(reference) }
                number = newest.number
            } else if let running = switching {
                if running.mac == target.mac, running.isException == exception { return try await join(running.task, number, reference) }
                running.task.cancel()
                _ = await running.task.result
                if switching?.task == running.task { switching = nil }
            } else {
                // Nothing was waited for since the newest wish and the switch under way were looked at.
                let task = Task { try await self.run(target, unsettled, exception: exception, onStep) }
                switching = RunningSwitch(mac: target.mac, isException: exception, task: task)
                return try await join(task, number, reference)
            }
        }
    }

    /// Waits for a switch under way, which is called off when all who wait for it are.
    private func join(_ task: Task<RouterConnection, any Error>, _ number: Int, _ reference: String) async throws -> RouterConnection {
        switching?.waiters += 1
        defer { if switching?.task == task { switching = nil } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                Task { await self.callOff(task) }
            }
        } catch is CancellationError where !Task.isCancelled && newestWish.map({ $0.number != number }) == true {
            throw ManagerError.superseded(reference)
        }
    }

    private func callOff(_ task: Task<RouterConnection, any Error>) {
        guard let running = switching, running.task == task else { return }
        switching?.waiters -= 1
        if running.waiters <= 1 { task.cancel() }
    }

    private func run(
        _ target: SwitchCore.Target, _ unsettled: UnsettledMessages, exception: Bool,
        _ onStep: @escaping @Sendable (SwitchCore.Action) -> Void
    ) async throws -> RouterConnection {
        let used = current
        if let used, used.mac == target.mac, await used.isOpen { return used }
        // A router that is dialled anew in its own place has no predecessor.
        let old = used?.mac == target.mac ? nil : used
        if let old { held[old.mac]?.users += 1 }
        let one = RouterSwitch(
            options.discovery, from: old, loop: loop, timing: options.switching, onStep: onStep,
            hooks: RouterSwitch.Hooks(
                make: { try await self.borrow($0, exception: exception) },
                adopt: { await self.adopt($0, moves: true) },
                leave: { if unsettled == .cancel { await $0.takeBackMessages() } },
                abandon: { await self.release($0) }))
        let result: Result<RouterConnection, any Error>
        do { result = .success(try await one.run(target).0) } catch { result = .failure(error) }
        if let old { await release(old) }
        let connection = try result.get()
        await release(connection)
        return connection
    }
}
