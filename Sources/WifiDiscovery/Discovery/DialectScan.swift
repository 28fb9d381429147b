import SocketCore

/// One scan of foreign dialects on its loop: sockets, clock and tables around the dialects and their ``DialectTable``.
actor DialectScan: DatagramOwner, LoopTimerOwner {
    typealias Continuation = AsyncThrowingStream<DialectEvent, any Error>.Continuation

    /// A device that was silent for three rounds of a watch is gone.
    private static let silence = DialectRounds.period * 3
    /// A description comes from the same link; who takes longer has something else to do (design: bounded fetch).
    private static let fetchTime = Duration.seconds(3)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let options: DialectDiscovery.Options
    private let duration: Duration?
    private let continuation: Continuation
    private var sockets: DialectSockets
    private var roster = LinkRoster()
    /// Those that have sockets.
    private var interfaces: [UInt32: NetworkInterface] = [:]
    private var own: Set<IPAddress> = []
    private var link: Set<MACAddress> = []
    private var linkUnknown: WirelessUnknown?
    private var tables = ScanFacts()
    private var table = DialectTable()
    private var rounds = DialectRounds(now: .zero)
    private var end = Instant.distantFuture
    private var fetches = DescriptionFetches()
    private var exchanges: [HTTPLocation: LoopExchange] = [:]
    private var ignored = 0
    private var failures: [String: String] = [:]
    private var failedInterfaces: [String: String] = [:]
    private var timer: LoopTimer?
    private var followers = ScanFollowers()
    private var hasEnded = false

    init(_ options: DialectDiscovery.Options, duration: Duration?, loop: EventLoop, _ continuation: Continuation) {
        self.options = options
        self.duration = duration
        self.loop = loop
        self.continuation = continuation
        sockets = DialectSockets(Dialect.allCases.filter(options.dialects.contains).compactMap(\.foreign), on: loop)
    }

    private var isWatching: Bool { duration == nil }

    /// Opens the sockets and begins.
    func start() async {
        (link, linkUnknown) = await options.link.settled()
        guard !hasEnded else { return }
        do throws(DiscoveryError) { try open() } catch {
            close()
            return continuation.finish(throwing: error)
        }
        let now = loop.currentInstant
        rounds = DialectRounds(now: now)
        if let duration { end = now + duration }
        timer = LoopTimer(on: loop, owner: self)
        advance(now)
    }

    private func open() throws(DiscoveryError) {
        perform(roster.update(needs(try ScanInterfaces.choose(options.interfaces, reaching: options.targets)), now: loop.currentInstant))
        // Where a watch finds nothing to begin with, something may come.
        guard !sockets.isEmpty || options.dialects.allSatisfy({ $0.foreign == nil }) || isWatching else {
            throw .nothingToScan(failedInterfaces.merging(sockets.failures) { first, _ in first })
        }
        if isWatching { follow() }
    }

    /// What the usable interfaces need; the others are noted.
    private func needs(_ chosen: ScanInterfaces) -> [LinkRoster.Need] {
        failedInterfaces = chosen.unusable
        own = Set(chosen.usable.flatMap { $0.addresses.map(\.address) })
        for interface in chosen.usable { interfaces[interface.index] = interface }
        return chosen.usable.flatMap { interface in
            [interface.need(isV4: true), interface.hasLinkLocalV6 ? interface.need(isV4: false) : nil].compactMap { $0 }
        }
    }

    /// - Returns: whether there is somebody new to ask.
    @discardableResult
    private func perform(_ steps: [LinkRoster.Step]) -> Bool {
        var asksAnew = false
        for step in steps {
            switch step {
            case .open(let need):
                sockets.open(need, owner: self)
                asksAnew = true
            case .renew(let need):
                sockets.renew(need)
                asksAnew = true
            case .close(let key, let name):
                sockets.close(key)
                forget(key)
                guard !roster.holds(key.interface) else { continue }
                interfaces[key.interface] = nil
                if failedInterfaces[name] == nil { failedInterfaces[name] = "is gone" }
            }
        }
        return asksAnew
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
        guard !hasEnded, let chosen = try? ScanInterfaces.choose(options.interfaces, reaching: options.targets, inMidWatch: true)
        else { return }
        if perform(roster.update(needs(chosen), now: loop.currentInstant)) { rounds = DialectRounds(now: loop.currentInstant) }
        advance(loop.currentInstant)
    }

    /// Another access point, or none: all are graded anew and asked again.
    private func linkChanged(_ report: WirelessReport) {
        guard !hasEnded, report.addresses != link || report.unknown != linkUnknown else { return }
        (link, linkUnknown) = (report.addresses, report.unknown)
        readTables()
        continuation.yield(.graded(table.devices.map(judge), link: link, unknown: linkUnknown))
        rounds = DialectRounds(now: loop.currentInstant)
        advance(loop.currentInstant)
    }

    /// What was reachable by an interface's family alone is gone with it.
    private func forget(_ key: LinkRoster.Key) {
        guard isWatching else { return }
        let (lost, updated) = table.forget(interface: key.interface, isV4: key.isV4)
        for device in lost { continuation.yield(.lost(judge(device), .interfaceGone)) }
        for device in updated { continuation.yield(.updated(judge(device))) }
    }

    // MARK: Asking

    private func advance(_ now: Instant) {
        guard !hasEnded else { return }
        guard now < end else { return finish() }
        perform(roster.due(now: now))
        if rounds.isDue(now: now) {
            completeNeighbours()
            for port in sockets.asking { sockets.ask(port, targets: options.targets) }
            if isWatching {
                for device in table.forget(silentSince: now + DialectScan.silence.scaled(by: -1)) {
                    continuation.yield(.lost(judge(device), .expired))
                }
            }
        }
        timer?.set(to: min(rounds.next, end, roster.deadline ?? .distantFuture))
    }

    // MARK: Called by the loop

    nonisolated func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool) {
        let key = ObjectIdentifier(socket)
        let datagram = bytes.withUnsafeBytes { Array($0) }
        assumeIsolated { $0.take(datagram, at: key, from: source, interface: interface) }
    }

    nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {}

    nonisolated func timerFired(at now: Instant) { assumeIsolated { $0.advance(now) } }

    private func take(_ datagram: [UInt8], at key: ObjectIdentifier, from source: Endpoint, interface: UInt32) {
        guard !hasEnded, let port = sockets[key] else { return }
        let arrival = interface != 0 ? interface : port.need?.key.interface ?? 0
        // Answers from this machine's own daemons say nothing about the LAN.
        guard let known = interfaces[arrival], known.flags.contains(.loopback) || !own.contains(source.address),
            known.isOnLink(source.address) || options.targets.contains(source.address.unscoped),
            let description = port.dialect.parse(datagram, from: source)
        else {
            ignored += 1
            return
        }
        let place = DiscoveredRouter.Place(source.address, interface: arrival)
        take(description, at: place)
        if let location = description.location, !description.isLeaving { fetch(location, description, place) }
    }

    private func take(_ description: DeviceDescription, at place: DiscoveredRouter.Place) {
        readTables()
        switch table.take(description, at: place, neighbour: tables.facts.neighbour(at: place), now: loop.currentInstant) {
        case .found(let device): continuation.yield(.found(judge(device)))
        case .updated(let device): continuation.yield(.updated(judge(device)))
        case .left(let device): continuation.yield(.lost(judge(device), .bye))
        case .nothing: break
        case .refused: ignored += 1
        }
    }

    private func readTables() { tables.refresh(now: loop.currentInstant) }

    /// Answers often come before the kernel has resolved who sent them.
    private func completeNeighbours() {
        readTables()
        for device in table.complete(neighbours: tables.facts.neighbour) { continuation.yield(.updated(judge(device))) }
    }

    private func judge(_ device: DialectDevice) -> FoundDevice {
        FoundDevice(
            device: device, grading: device.grading(link: link), evidence: tables.facts.judge(device),
            interface: interfaces[device.places[0].interface]?.name ?? "\(device.places[0].interface)")
    }

    // MARK: Descriptions

    private func fetch(_ location: HTTPLocation, _ found: DeviceDescription, _ place: DiscoveredRouter.Place) {
        guard fetches.begins(location) else { return }
        do throws(SystemError) {
            exchanges[location] = try LoopExchange(location, on: loop, within: DialectScan.fetchTime) { [weak self] outcome in
                self?.assumeIsolated { $0.fetched(location, outcome, found, place) }
            }
        } catch {
            failures["\(location)"] = "\(error)"
        }
    }

    private func fetched(
        _ location: HTTPLocation, _ outcome: Result<UPnPDescription, DescriptionError>, _ found: DeviceDescription,
        _ place: DiscoveredRouter.Place
    ) {
        exchanges[location] = nil
        guard !hasEnded else { return }
        switch outcome {
        case .success(let description): take(description.completing(found), at: place)
        case .failure(let error): failures["\(location)"] = "\(error)"
        }
    }

    // MARK: End

    private func finish() {
        completeNeighbours()
        let result = DialectResult(
            devices: table.devices.map(judge), ignored: ignored, failures: failures.merging(sockets.failures) { first, _ in first },
            failedInterfaces: failedInterfaces,
            interfaces: interfaces.values.map(\.name).sorted(), link: link, linkUnknown: linkUnknown)
        continuation.yield(.finished(result))
        close()
        continuation.finish()
    }

    /// Ends the scan early; the result is told.
    func stop() {
        guard !hasEnded else { return }
        finish()
    }

    private func close() {
        hasEnded = true
        timer?.cancel()
        followers.end()
        sockets.close()
        for exchange in exchanges.values { exchange.cancel() }
        exchanges = [:]
    }
}

extension NetworkFacts {
    /// The kernel's hardware address for a place.
    func neighbour(at place: DiscoveredRouter.Place) -> MACAddress? { neighbours[Place(place.address, interface: place.interface)] }

    /// The evidence for a device of a foreign dialect. Nothing is said about being the only one: dialects don't count the same devices.
    func judge(_ device: DialectDevice) -> Evidence {
        let places = device.places.map { Place($0.address, interface: $0.interface) }
        let entries = places.compactMap { neighbours[$0] }
        let neighbour: Evidence.Neighbour =
            if entries.isEmpty || device.claimedMACs.isEmpty { .unknown } else if entries.contains(where: device.claimedMACs.contains) {
                .match
            } else { .mismatch }
        return Evidence(gateway: places.contains(where: gateways.contains), neighbour: neighbour)
    }
}
