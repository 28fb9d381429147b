import SocketCore

/// One scan on its loop: sockets, clock and tables around ``DiscoveryCore``.
actor DiscoveryScan: DatagramOwner, LoopTimerOwner, TickHandler {
    typealias Continuation = AsyncThrowingStream<ScanEvent, any Error>.Continuation

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let options: RouterDiscovery.Options
    private let continuation: Continuation
    private let duration: Duration?
    private var core: DiscoveryCore
    private var sockets: ScanSockets
    private var roster = LinkRoster()
    private var interfaceNames: [UInt32: String] = [:]
    private var link: Set<MACAddress> = []
    private var linkUnknown: WirelessUnknown?
    private var tables = ScanFacts()
    private var isSettlePending = false
    private var timer: LoopTimer?
    private var followers = ScanFollowers()
    private var hasEnded = false

    init(_ options: RouterDiscovery.Options, duration: Duration?, loop: EventLoop, _ continuation: Continuation) {
        self.options = options
        self.duration = duration
        self.loop = loop
        self.continuation = continuation
        core = DiscoveryCore(DiscoveryConfiguration(duration: duration), generator: SystemRandomNumberGenerator())
        sockets = ScanSockets(options, on: loop)
    }

    private var isWatching: Bool { duration == nil }

    /// Opens the sockets and begins.
    func start() async {
        (link, linkUnknown) = await options.link.settled()
        guard !hasEnded else { return }
        do {
            try begin()
        } catch {
            end()
            continuation.finish(throwing: error)
        }
    }

    private func begin() throws {
        let chosen = try ScanInterfaces.choose(options.interfaces, reaching: options.targets.map(\.address))
        readTables()
        core = DiscoveryCore(configuration(), generator: SystemRandomNumberGenerator())
        core.setFacts(tables.facts)
        timer = LoopTimer(on: loop, owner: self)
        let opened = roster.update(needs(chosen), now: loop.currentInstant).compactMap(open)
        // Where a watch finds nothing to begin with, something may come.
        guard !opened.isEmpty || isWatching else { throw DiscoveryError.nothingToScan(core.failedInterfaces) }
        core.start(links: opened, now: loop.currentInstant)
        if isWatching { follow() }
        settle()
    }

    private func configuration() -> DiscoveryConfiguration {
        var configuration = DiscoveryConfiguration(
            duration: duration, link: link, endsAtMatch: !options.hearsEverybody && (options.endsAtMatch || options.mac != nil),
            mac: options.mac, targets: options.targets, maxWaitMilliseconds: options.maxWaitMilliseconds, port: options.port)
        configuration.expected = Set(options.expected.sorted().prefix(DiscoveryBounds.routers))
        if let group = options.group {
            if group.isV4 { configuration.groupV4 = group } else { configuration.groupV6 = group.unscoped }
        }
        return configuration
    }

    /// What the usable interfaces need; the others are noted.
    private func needs(_ chosen: ScanInterfaces) -> [LinkRoster.Need] {
        for (name, reason) in chosen.unusable { core.interfaceFailed(name, reason: reason) }
        return chosen.usable.flatMap { interface in
            let needs = sockets.needs(interface)
            if needs.isEmpty { core.interfaceFailed(interface.name, reason: "has no address of the group's family") }
            return needs
        }
    }

    /// The link of a step that opens one or asks anew; what can't be opened is noted and spoils nothing.
    private func open(_ step: LinkRoster.Step) -> DiscoveryLink? {
        switch step {
        case .open(let need):
            interfaceNames[need.key.interface] = need.name
            do throws(SystemError) {
                let link = try sockets.open(need, fallbacks: fallbacks(need.key), owner: self)
                if isWatching { hear(need) }
                return link
            } catch {
                roster.failed(need.key)
                core.interfaceFailed(need.name, reason: "\(error)")
                return nil
            }
        case .renew(let need):
            interfaceNames[need.key.interface] = need.name
            return sockets.renewed(need, fallbacks: fallbacks(need.key))
        case .close: return nil
        }
    }

    private func fallbacks(_ key: LinkRoster.Key) -> [IPAddress] { tables.facts.fallbacks(on: key.interface, isV4: key.isV4) }

    private func hear(_ need: LinkRoster.Need) {
        do throws(SystemError) { try sockets.hear(need.key, owner: self) } catch {
            // Probes alone find every router as well, only later.
            core.interfaceFailed("group on \(need.name)", reason: "\(error)")
        }
    }

    private func readTables() {
        tables.refresh(now: loop.currentInstant)
        core.setFacts(tables.facts)
    }

    // MARK: Called by the loop

    nonisolated func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool) {
        let key = ObjectIdentifier(socket)
        assumeIsolated { scan in
            guard !scan.hasEnded else { return }
            if isOversize {
                scan.core.receivedOversize()
            } else {
                scan.core.received(
                    bytes, from: source, interface: interface, link: scan.sockets.link(of: key), now: scan.loop.currentInstant)
            }
            scan.settleLater()
        }
    }

    nonisolated func tickEnded(at now: Instant) {
        assumeIsolated { scan in
            scan.isSettlePending = false
            scan.settle()
        }
    }

    nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {}

    nonisolated func timerFired(at now: Instant) {
        assumeIsolated { scan in
            scan.perform(scan.roster.due(now: now))
            scan.core.advance(now: now)
            scan.settle()
        }
    }

    // MARK: Outputs

    /// A burst of datagrams is judged once.
    private func settleLater() {
        guard !isSettlePending else { return }
        isSettlePending = true
        loop.atEndOfTick(self)
    }

    private func settle() {
        for probe in core.takeProbes() { send(probe) }
        let events = core.takeEvents()
        if !events.isEmpty {
            readTables()
            let known = judged()
            for event in events { tell(event, known) }
        }
        if !hasEnded { timer?.set(to: min(core.deadline ?? .distantFuture, roster.deadline ?? .distantFuture)) }
    }

    private func send(_ probe: OutgoingProbe) {
        do throws(SystemError) {
            try sockets.send(probe)
        } catch {
            core.sendFailed(probe, reason: error.reason, now: loop.currentInstant)
        }
    }

    private func tell(_ event: DiscoveryEvent, _ known: [MACAddress: FoundRouter]) {
        // A router that is gone is no longer among the known ones: it's judged alone.
        let found = { [self] (router: DiscoveredRouter) in known[router.router.mac] ?? judge([router])[0] }
        switch event {
        case .found(let router): continuation.yield(.found(found(router)))
        case .updated(let router, let changes): continuation.yield(.updated(found(router), changes))
        case .lost(let router, let loss): continuation.yield(.lost(found(router), loss))
        case .finished(let finish):
            continuation.yield(.finished(result(finish, known)))
            end()
            continuation.finish()
        }
    }

    private func judged() -> [MACAddress: FoundRouter] {
        Dictionary(judge(core.routers).map { ($0.mac, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func judge(_ routers: [DiscoveredRouter]) -> [FoundRouter] {
        zip(routers, tables.facts.judge(routers)).map { router, evidence in
            FoundRouter(
                discovered: router, grading: Grading.of(router.router, link: link), evidence: evidence,
                interface: interfaceNames[router.interface] ?? "\(router.interface)")
        }
    }

    private func result(_ finish: DiscoveryEvent.Finish, _ known: [MACAddress: FoundRouter]) -> ScanResult {
        let routers = known.values.sorted { $0.mac < $1.mac }
        return ScanResult(
            routers: routers, selection: Selection.choose(among: routers), finish: finish, counters: core.counters,
            failedInterfaces: core.failedInterfaces, interfaces: interfaceNames.values.sorted(), link: link, linkUnknown: linkUnknown)
    }

    // MARK: Watching

    /// Follows the interfaces, and the Wi-Fi link where it isn't given.
    private func follow() {
        continuation.yield(.graded([], link: link, unknown: linkUnknown))
        followers.begin(
            options.link, on: loop, interfacesChanged: { [weak self] in await self?.interfacesChanged() },
            linkChanged: { [weak self] in await self?.linkChanged($0) })
    }

    private func interfacesChanged() {
        // A list that can't be read now will be at the next change; till then the sockets at hand do.
        guard !hasEnded,
            let chosen = try? ScanInterfaces.choose(options.interfaces, reaching: options.targets.map(\.address), inMidWatch: true)
        else { return }
        readTables()
        perform(roster.update(needs(chosen), now: loop.currentInstant))
        settle()
    }

    private func perform(_ steps: [LinkRoster.Step]) {
        for step in steps {
            if let link = open(step) {
                core.add(link, now: loop.currentInstant)
            } else if case .close(let key, let name) = step, let id = sockets.close(key) {
                core.remove(id, now: loop.currentInstant)
                // Told while its name is still known.
                settle()
                if !roster.holds(key.interface) { interfaceNames[key.interface] = nil }
                if core.failedInterfaces[name] == nil, !interfaceNames.values.contains(name) {
                    core.interfaceFailed(name, reason: "is gone")
                }
            }
        }
    }

    /// Another access point, or none: all are graded anew and asked again.
    private func linkChanged(_ report: WirelessReport) {
        guard !hasEnded, report.addresses != link || report.unknown != linkUnknown else { return }
        (link, linkUnknown) = (report.addresses, report.unknown)
        core.setLink(link, now: loop.currentInstant)
        readTables()
        continuation.yield(.graded(judge(core.routers), link: link, unknown: linkUnknown))
        settle()
    }

    // MARK: End

    /// Ends the scan early; the result is told.
    func stop() {
        guard !hasEnded else { return }
        core.stop(now: loop.currentInstant)
        settle()
        end()
    }

    private func end() {
        hasEnded = true
        timer?.cancel()
        followers.end()
        sockets.close()
    }
}

extension Selection {
    /// The choice among found routers: only those that answered a probe of our own are candidates.
    public static func choose(among routers: [FoundRouter]) -> Selection {
        choose(
            among: routers.filter(\.discovered.isConfirmed).map {
                Candidate(mac: $0.mac, grading: $0.grading, evidence: $0.evidence, isConflicted: $0.discovered.isConflicted)
            })
    }
}
