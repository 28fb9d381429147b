import SocketCore

/// What processes that talked to a router at the same time have left behind, each in a journal of its own.
extension RouterManager {
    /// Calls `body` with a session for each journal of that router that nobody holds and in which something waits, one after the other:
    /// not started yet, and to be closed by `body`. Messages of different journals have no order among each other.
    ///
    /// - Parameters:
    ///   - mac: whose journals.
    ///   - target: where the router is; nil has it looked for, if there is anything for it.
    ///   - body: settles one journal's session.
    /// - Returns: how many journals were left as they are, since their messages don't fit this configuration.
    /// - Throws: what `body`, ``whereabouts(_:)`` and ``makeSession(_:)`` throw.
    @discardableResult
    public func withLeftovers(
        of mac: MACAddress, at target: SwitchCore.Target? = nil, _ body: @Sendable (Session) async throws -> Void
    ) async throws -> Int {
        guard let outboxes, !options.session.isPlain else { return 0 }
        var place = target
        var seen: Set<String> = []
        var unfit = 0
        while !Task.isCancelled {
            do {
                guard let journal = try outboxes.openWaiting(mac, for: options.session, besides: &seen) else { break }
                if place == nil { place = try await whereabouts(mac.description) }
                guard let place else { break }
                let ways = try ways(to: place, exception: options.allowsUnproven)
                let session = try Session(
                    to: place.session, ways.configuration, tls: ways.tls, journal: journal, loop: loop, resolver: ways.resolver)
                try await body(session)
            } catch OutboxJournalError.unfit {
                unfit += 1
            }
        }
        return unfit
    }

    /// Settles them in the background, behind a router that was restored: their news comes as this router's.
    func settleLeftovers(of target: SwitchCore.Target) {
        guard settling == nil else { return }
        settling = Task {
            do {
                try await withLeftovers(of: target.mac, at: target) { await self.settle($0, of: target.mac) }
            } catch {
                onRemark("what other processes have left for \(target.mac) stays there: \(error)")
            }
            settling = nil
        }
    }

    private func settle(_ session: Session, of mac: MACAddress) async {
        leftover = session
        let onEvent = onEvent
        let reading = Task(executorPreference: loop) {
            var source = SessionSource(mac, session.identifier, nil)
            for await batch in session.events {
                for event in batch {
                    source.hear(event)
                    onEvent(source, event)
                }
            }
        }
        await session.start()
        if isSuspended { await session.suspend() }
        await session.settled()
        await session.close(.keepForLater)
        await reading.value
        leftover = nil
    }

    /// Ends that; what isn't settled stays.
    func endSettling() async {
        settling?.cancel()
        await leftover?.close(.keepForLater)
        await settling?.value
    }
}
