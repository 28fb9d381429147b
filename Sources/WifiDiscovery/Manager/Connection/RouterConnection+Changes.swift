import SocketCore

/// Properties of one router that changed, in one batch: the last value of each.
public struct PropertyChange: Equatable, Sendable {
    /// The router.
    public var mac: MACAddress
    /// The new values.
    public var values: [JSONValue.Member]
}

/// Changes of properties of one router, for one reader: `for await change in router.changes(of: "clients")`.
///
/// The first says what the properties are. A reader who falls behind gets the newest values, never a backlog. It ends with the session.
public struct PropertyChanges: AsyncSequence, Sendable {
    let mac: MACAddress
    let updates: StatusUpdates

    /// Hands out changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let mac: MACAddress
        var updates: StatusUpdates.AsyncIterator

        /// The next change, once there is one.
        public mutating func next() async -> PropertyChange? {
            guard let batch = await updates.next() else { return nil }
            let values = batch.items.compactMap { item -> JSONValue.Member? in
                guard case .property(let name) = item.key.subject, case .property(let value) = item.value else { return nil }
                return JSONValue.Member(name, value)
            }
            return PropertyChange(mac: mac, values: values)
        }
    }

    /// Begins reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(mac: mac, updates: updates.makeAsyncIterator()) }
}

extension RouterConnection {
    /// Changes of the named properties from now on, the present values first.
    ///
    /// The router is asked to tell them at once, and asked again while it doesn't answer; the changes end with the session, or at once when
    /// the router doesn't tell such changes: ``subscribe(to:)`` says why.
    public nonisolated func changes(of names: String...) -> PropertyChanges {
        let updates = setup.hub.updates(StatusFilter(.properties, names: Set(names), routers: [mac]))
        Task(executorPreference: loop) {
            while true {
                do throws(CommandError) {
                    return try await self.subscribe(names)
                } catch {
                    switch error {
                    case .timedOut, .linkBad, .queueFull: continue
                    default: return updates.box.refuse()
                    }
                }
            }
        }
        return PropertyChanges(mac: mac, updates: updates)
    }

    /// Changes of the named properties from now on, once the router has agreed to tell them.
    ///
    /// - Throws: ``CommandError``; ``CommandError/notPossible(_:_:)`` before anything is sent when the router doesn't tell one of them.
    public func subscribe(to names: [String]) async throws(CommandError) -> PropertyChanges {
        // Listening begins before asking: news may come before the answer.
        let updates = await setup.hub.updatesNow(StatusFilter(.properties, names: Set(names), routers: [mac]))
        try await subscribe(names)
        return PropertyChanges(mac: mac, updates: updates)
    }

    private func subscribe(_ names: [String]) async throws(CommandError) {
        try await check(.subscribe(names: names))
        followed.formUnion(names)
        do throws(CommandError) { tell(try await request(.subscribe(names: names)).objectValue ?? []) } catch {
            if case .refused = error { followed.subtract(names) }
            throw error
        }
    }

    /// Has the router tell what of these it can; the news go to the board. What it can't tell is left out.
    func follow(_ names: Set<String>) async {
        let able = await ableToTell(names)
        guard !able.isEmpty else { return }
        followed.formUnion(able)
        follow(again: false)
    }

    private func ableToTell(_ names: Set<String>) async -> Set<String> {
        do throws(CommandError) {
            guard let capabilities = try await capabilities() else { return names }
            return names.filter { capabilities.obstacle(to: .subscribe(names: [$0])) == nil }
        } catch {
            // Without knowing, the router itself is to say so; and a bad link is asked again when it is better.
            return names
        }
    }

    /// Asks the router to tell all that is followed; `again` where it did so before and may have forgotten.
    func follow(again: Bool) {
        guard !followed.isEmpty, !again || hasStood else {
            hasStood = true
            return
        }
        Task(executorPreference: loop) { await self.askToTell() }
    }

    private func askToTell() async {
        do throws(CommandError) { tell(try await request(.subscribe(names: followed.sorted())).objectValue ?? []) } catch {
            dropped.failedSubscriptions += 1
        }
    }

    /// Values from the router go to the board, if somebody has asked for them.
    func tell(_ values: [JSONValue.Member]) {
        for member in values {
            guard followed.contains(member.name) else {
                dropped.unwanted += 1
                continue
            }
            let key = StatusKey(mac, .property(member.name))
            setup.hub.assumeIsolated { $0.report(key, .property(member.value)) }
        }
    }

    /// What the session's events mean for who watches sessions.
    func tellBoard(_ event: SessionEvent) {
        guard case .state(let state) = event else { return }
        let key = StatusKey(mac, .session)
        setup.hub.assumeIsolated { hub in
            switch state {
            case .open, .resumed: hub.report(key, .session(.online))
            case .lost: hub.sessionLost(key.router)
            case .suspended: hub.report(key, .session(.suspended))
            case .closed(let reason): hub.report(key, .session(.closed(reason)))
            case .connecting, .reconnecting: break
            }
        }
    }
}
