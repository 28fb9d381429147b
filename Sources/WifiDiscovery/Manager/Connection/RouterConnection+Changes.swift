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
    /// Between two tries to have a router tell its changes: it's busy, or the link is bad, and commands come first.
    private static let subscriptionPause = Duration.seconds(1)

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
                    case .timedOut, .linkBad: continue
                    // A cancelled sleep only asks sooner.
                    case .queueFull: try? await Task.sleep(for: RouterConnection.subscriptionPause)
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
        following.add(names)
        do throws(CommandError) { try await ask(toTell: names) } catch {
            if case .refused = error { following.drop(names) }
            throw error
        }
    }

    private func ask(toTell names: [String]) async throws(CommandError) {
        let memory = following.memory
        tell(try await request(.subscribe(names: names)).objectValue ?? [])
        following.agreed(names, in: memory)
    }

    /// Has the router tell what of these it can, from whenever it's there; the news go to the board. What it can't tell is left out.
    func follow(_ names: Set<String>) {
        following.wish(names)
        askToTell()
    }

    /// Asks the router to tell what is followed and it hasn't agreed to yet; where it's away, that's done when it is back.
    func askToTell() {
        guard !following.isAsking, following.isIncomplete else { return }
        following.isAsking = true
        Task(executorPreference: loop) { await self.askUntilTold() }
    }

    private func askUntilTold() async {
        defer { following.isAsking = false }
        while refusal == nil, following.isIncomplete, isOpen {
            let able = following.wishes.isEmpty ? [] : await ableToTell(following.wishes)
            let names = following.next(of: able)
            guard !names.isEmpty else { continue }
            do throws(CommandError) { try await ask(toTell: names) } catch {
                dropped.failedSubscriptions += 1
                switch error {
                // Which of several it can't tell, only asking for each shows.
                case .refused: if names.count == 1 { following.drop(names) } else { following.asksSingly = true }
                // A cancelled sleep only asks sooner.
                case .timedOut, .linkBad, .queueFull: try? await Task.sleep(for: RouterConnection.subscriptionPause)
                default: return
                }
            }
        }
    }

    private func ableToTell(_ names: Set<String>) async -> Set<String> {
        do throws(CommandError) {
            guard let capabilities = try await capabilities() else { return names }
            return names.filter { capabilities.obstacle(to: .subscribe(names: [$0])) == nil }
        } catch {
            // Without knowing, the router itself is to say so.
            return names
        }
    }

    /// Values from the router go to the board, if somebody has asked for them.
    func tell(_ values: [JSONValue.Member]) {
        for member in values {
            guard following.names.contains(member.name) else {
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
        let (key, isHurrying) = (StatusKey(mac, .session), isHurrying)
        setup.hub.assumeIsolated { hub in
            switch state {
            case .open, .resumed: hub.report(key, .session(.online))
            case .lost: if !isHurrying { hub.sessionLost(key.router) }
            case .suspended: if !isHurrying { hub.report(key, .session(.suspended)) }
            case .closed(let reason): hub.report(key, .session(.closed(reason)))
            case .connecting, .reconnecting: break
            }
        }
    }
}
