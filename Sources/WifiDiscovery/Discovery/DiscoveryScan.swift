import SocketCore

/// One scan on its loop: sockets, clock and tables around ``DiscoveryCore``.
actor DiscoveryScan: DatagramOwner, LoopTimerOwner, TickHandler {
    /// How old the kernel's tables may be when a router is judged by them: a burst of answers costs one reading.
    private static let tableAge = Duration.milliseconds(200)

    typealias Continuation = AsyncThrowingStream<ScanEvent, any Error>.Continuation

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let options: RouterDiscovery.Options
    private let continuation: Continuation
    private let duration: Duration?
    private var core: DiscoveryCore
    private var sockets: [DiscoveryLink.ID: UDPSocket] = [:]
    private var links: [ObjectIdentifier: DiscoveryLink.ID] = [:]
    private var interfaceNames: [UInt32: String] = [:]
    private var link: Set<MACAddress> = []
    private var linkUnknown: WirelessUnknown?
    private var facts = NetworkFacts()
    private var factsRead = Instant.zero
    private var isSettlePending = false
    private var timer: LoopTimer?
    private var hasEnded = false

    init(_ options: RouterDiscovery.Options, duration: Duration?, loop: EventLoop, _ continuation: Continuation) {
        self.options = options
        self.duration = duration
        self.loop = loop
        self.continuation = continuation
        core = DiscoveryCore(DiscoveryConfiguration(duration: duration), generator: SystemRandomNumberGenerator())
    }

    /// Opens the sockets and begins.
    func start() async {
        switch options.link {
        case .automatic:
            let report = await WirelessLink.settled()
            (link, linkUnknown) = (report.addresses, report.unknown)
        case .addresses(let addresses): link = addresses
        }
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
        var opened: [DiscoveryLink] = []
        for interface in chosen.usable {
            interfaceNames[interface.index] = interface.name
            opened += open(interface)
        }
        for (name, reason) in chosen.unusable { core.interfaceFailed(name, reason: reason) }
        guard !opened.isEmpty else { throw DiscoveryError.nothingToScan(core.failedInterfaces) }
        if duration == nil { listenToGroup(chosen.usable) }
        timer = LoopTimer(on: loop, owner: self)
        core.start(links: opened, now: loop.currentInstant)
        settle()
    }

    private func configuration() -> DiscoveryConfiguration {
        var configuration = DiscoveryConfiguration(
            duration: duration, link: link, endsAtMatch: options.endsAtMatch || options.mac != nil, mac: options.mac,
            targets: options.targets, port: options.port)
        if let group = options.group {
            if group.isV4 { configuration.groupV4 = group } else { configuration.groupV6 = group.unscoped }
        }
        return configuration
    }

    /// One socket a family; what can't be opened is noted and spoils nothing.
    private func open(_ interface: NetworkInterface) -> [DiscoveryLink] {
        var opened: [DiscoveryLink] = []
        var addresses: [IPAddress] = []
        if let address = interface.bindAddressV4, options.group?.isV4 ?? true { addresses.append(address) }
        if speaksV6(interface) { addresses.append(.anyV6) }
        if addresses.isEmpty { core.interfaceFailed(interface.name, reason: "has no address of the group's family") }
        for address in addresses {
            let id = DiscoveryLink.ID(sockets.count)
            var socketOptions = UDPSocket.Options()
            socketOptions.interface = interface.index
            socketOptions.allowsBroadcast = true
            do throws(SystemError) {
                let socket = try UDPSocket(on: loop, bind: Endpoint(address, port: 0), options: socketOptions, owner: self)
                sockets[id] = socket
                links[ObjectIdentifier(socket)] = id
                opened.append(
                    DiscoveryLink(
                        id: id, interface: interface.index, name: interface.name, isV4: address.isV4,
                        broadcasts: address.isV4 ? interface.broadcasts : [],
                        fallbacks: facts.fallbacks(on: interface.index, isV4: address.isV4)))
            } catch {
                core.interfaceFailed(interface.name, reason: "\(error)")
            }
        }
        return opened
    }

    /// The group needs a link-local address; a target that was named may have any.
    private func speaksV6(_ interface: NetworkInterface) -> Bool {
        if options.group?.isV4 ?? false { return false }
        let isTargeted = options.targets.contains { !$0.address.isV4 }
        return interface.hasLinkLocalV6 || isTargeted && interface.addresses.contains { !$0.address.isV4 }
    }

    /// While watching, announcements are heard too. Bound to the group and not to all addresses: else this socket would
    /// take unicast probes from a router on the same machine.
    private func listenToGroup(_ interfaces: [NetworkInterface]) {
        let group = options.group ?? DiscoveryDatagram.groupV4
        guard group.isV4 else { return }
        var socketOptions = UDPSocket.Options()
        socketOptions.sharesPort = true
        do throws(SystemError) {
            let socket = try UDPSocket(on: loop, bind: Endpoint(group, port: options.port), options: socketOptions, owner: self)
            sockets[DiscoveryLink.ID(-1)] = socket
            for interface in interfaces where interface.bindAddressV4 != nil { try socket.join(group, interface: interface.index) }
        } catch {
            // Probes alone find every router as well, only later.
            core.interfaceFailed("group \(group)", reason: "\(error)")
        }
    }

    private func readTables() {
        guard loop.currentInstant - factsRead >= DiscoveryScan.tableAge else { return }
        factsRead = loop.currentInstant
        // Without the tables there's no evidence, which is what "unknown" says; the scan goes on.
        if let current = try? NetworkFacts.current() { facts = current }
    }

    // MARK: Called by the loop

    nonisolated func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool) {
        let key = ObjectIdentifier(socket)
        assumeIsolated { scan in
            guard !scan.hasEnded else { return }
            if isOversize {
                scan.core.receivedOversize()
            } else {
                scan.core.received(bytes, from: source, interface: interface, link: scan.links[key], now: scan.loop.currentInstant)
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
        if !hasEnded { timer?.set(to: core.deadline ?? .distantFuture) }
    }

    private func send(_ probe: OutgoingProbe) {
        do throws(SystemError) {
            try sockets[probe.link]?.send(probe.bytes.span.bytes, to: probe.destination)
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
        zip(routers, facts.judge(routers)).map { router, evidence in
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
        for socket in sockets.values { socket.close() }
        sockets = [:]
        links = [:]
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
