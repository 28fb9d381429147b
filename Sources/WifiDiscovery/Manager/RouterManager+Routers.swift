import SocketCore

extension RouterManager {
    /// All routers that are known, with the reason why each is or isn't one to talk to: the current one first, then those that are there.
    ///
    /// What was found by ``connect()``, ``liveRouters()`` and the other calls so far; nothing is asked on the network.
    ///
    /// - Throws: ``StateFileError`` or ``DirectoryError`` about the kept list; see ``RouterDirectory``.
    public var routers: [ListedRouter] {
        get throws {
            let known = try directory?.load() ?? DirectoryCore()
            return sightings.list(
                known: known, current: current?.mac ?? known.current, kept: keptRouters, wantsProof: options.trust.hasRoot,
                now: SystemCalls.monotonicNow())
        }
    }

    /// ``routers`` again and again while the network is watched: at first, and a moment after each change. A reader who falls behind gets
    /// the newest list. The watch ends with the reader.
    public nonisolated func liveRouters() -> AsyncThrowingStream<[ListedRouter], any Error> {
        let (lists, continuation) = AsyncThrowingStream.makeStream(
            of: [ListedRouter].self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            do {
                try await self.watch { continuation.yield($0) }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        continuation.onTermination = { _ in task.cancel() }
        return lists
    }

    private func watch(_ tell: @escaping @Sendable ([ListedRouter]) -> Void) async throws {
        var discovery = looking
        discovery.endsAtMatch = false
        let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let teller = Task {
            var last: [ListedRouter]?
            for await _ in signals {
                guard let list = await self.tellPresence() else { continue }
                if last.map({ $0.count == list.count && zip($0, list).allSatisfy { $0.looksLike($1) } }) != true { tell(list) }
                last = list
                // A scan's answers come in bursts; a list a burst is enough. Cancelled: the end comes sooner.
                try? await Task.sleep(for: options.status.window)
            }
        }
        defer {
            signal.finish()
            teller.cancel()
        }
        signal.yield()
        for try await event in try RouterDiscovery(discovery, loop: loop).events(for: nil) {
            note(event)
            signal.yield()
        }
    }

    private func note(_ event: ScanEvent) {
        let now = SystemCalls.monotonicNow()
        switch event {
        case .found(let router), .updated(let router, _): note([router], now)
        case .lost(let router, let loss): sightings.lost(router, loss, now: now)
        case .graded(let routers, _, _): note(routers, now)
        case .finished(let result): note(result.routers, now)
        }
    }

    private func note(_ routers: [FoundRouter], _ now: Instant) {
        sightings.note(routers, now: now, date: .systemNow())
        guard !options.trust.hasRoot else { return }
        do { try directory?.merge(routers, now: now) } catch { onRemark("the routers that were found aren't kept: \(error)") }
    }

    /// The list, told to whoever subscribed to routers' presence as well.
    private func tellPresence() async -> [ListedRouter]? {
        let list: [ListedRouter]
        do { list = try routers } catch {
            onRemark("the known routers can't be read: \(error)")
            return nil
        }
        await hub.report(list.map { StatusItem(StatusKey($0.mac, .presence), .presence($0.standing)) })
        return list
    }

    // MARK: Status

    /// News of the named kinds, coalesced, of all routers or of those given; properties by their names.
    ///
    /// The first batch says how things stand; whoever reads slower than news come gets the newest state, never a backlog. Properties are
    /// those of the current router, whichever it is: each is asked to tell them. It ends with ``close()``.
    public nonisolated func status(
        _ kinds: StatusKinds, names: Set<String> = [], routers: Set<MACAddress>? = nil
    ) -> StatusUpdates {
        let updates = hub.updates(StatusFilter(kinds, names: names, routers: routers))
        if kinds.contains(.properties), !names.isEmpty { Task { await self.follow(names) } }
        return updates
    }

    private func follow(_ names: Set<String>) async {
        let new = names.subtracting(followedNames)
        followedNames.formUnion(names)
        if !new.isEmpty { await current?.follow(new) }
    }

    /// What became of status reports so far.
    public var statusCounters: StatusBoard.Counters { get async { await hub.counters } }
}
