import SocketCore

/// One scan of foreign dialects on its loop: sockets, clock and tables around the dialects and their ``DialectTable``.
actor DialectScan: DatagramOwner, LoopTimerOwner {
    typealias Continuation = AsyncThrowingStream<DialectEvent, any Error>.Continuation

    /// A device that was silent for three rounds of a watch is gone.
    private static let silence = DialectRounds.period * 3
    /// How old the kernel's tables may be when a device is judged by them.
    private static let tableAge = Duration.milliseconds(200)
    /// A description comes from the same link; who takes longer has something else to do (design: bounded fetch).
    private static let fetchTime = Duration.seconds(3)

    /// What belongs to one socket.
    private struct Port {
        var socket: UDPSocket
        var dialect: any DiscoveryDialect
        /// nil for a socket that only listens, for all interfaces.
        var interface: NetworkInterface?
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let options: DialectDiscovery.Options
    private let duration: Duration?
    private let continuation: Continuation
    private var ports: [ObjectIdentifier: Port] = [:]
    private var interfaces: [UInt32: NetworkInterface] = [:]
    private var own: Set<IPAddress> = []
    private var link: Set<MACAddress> = []
    private var linkUnknown: WirelessUnknown?
    private var facts = NetworkFacts()
    private var factsRead = Instant.zero
    private var table = DialectTable()
    private var rounds = DialectRounds(now: .zero)
    private var end = Instant.distantFuture
    private var fetches = DescriptionFetches()
    private var exchanges: [HTTPLocation: LoopExchange] = [:]
    private var ignored = 0
    private var failures: [String: String] = [:]
    private var failedInterfaces: [String: String] = [:]
    private var timer: LoopTimer?
    private var follower: Task<Void, Never>?
    private var hasEnded = false

    init(_ options: DialectDiscovery.Options, duration: Duration?, loop: EventLoop, _ continuation: Continuation) {
        self.options = options
        self.duration = duration
        self.loop = loop
        self.continuation = continuation
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
        let chosen = try ScanInterfaces.choose(options.interfaces, reaching: options.targets)
        use(chosen)
        // Where a watch finds nothing to begin with, something may come.
        guard !ports.isEmpty || foreign.isEmpty || duration == nil else {
            throw .nothingToScan(failedInterfaces.merging(failures) { first, _ in first })
        }
        if duration == nil { follow() }
    }

    private var foreign: [any DiscoveryDialect] { Dialect.allCases.filter(options.dialects.contains).compactMap(\.foreign) }

    /// Opens what isn't open yet.
    private func use(_ chosen: ScanInterfaces) {
        failedInterfaces = chosen.unusable
        own = Set(chosen.usable.flatMap { $0.addresses.map(\.address) })
        for interface in chosen.usable {
            interfaces[interface.index] = interface
            for dialect in foreign { open(dialect, on: interface) }
        }
        for dialect in foreign { if let port = dialect.listening { listen(dialect, port) } }
    }

    // MARK: Watching

    private func follow() {
        let loop = loop
        follower = Task(executorPreference: loop) { [weak self] in
            for await _ in NetworkChanges.stream(on: loop) { await self?.interfacesChanged() }
        }
    }

    /// What is behind an interface that went stays listed until it has been silent for long enough: it may come back.
    private func interfacesChanged() {
        // A list that can't be read now will be at the next change; till then the sockets at hand do.
        guard !hasEnded, let chosen = try? ScanInterfaces.choose(options.interfaces, reaching: options.targets, inMidWatch: true)
        else { return }
        let usable = Set(chosen.usable.map(\.index))
        for (key, port) in ports where port.interface.map({ !usable.contains($0.index) }) ?? false {
            port.socket.close()
            ports[key] = nil
        }
        let known = Set(table.devices.flatMap { $0.places.map(\.interface) })
        interfaces = interfaces.filter { usable.contains($0.key) || known.contains($0.key) }
        let before = ports.count
        use(chosen)
        guard ports.count > before else { return }
        rounds = DialectRounds(now: loop.currentInstant)
        advance(loop.currentInstant)
    }

    // MARK: Opening

    /// One socket a family, so that an answer's dialect is known by where it came to.
    private func open(_ dialect: any DiscoveryDialect, on interface: NetworkInterface) {
        var addresses = interface.bindAddressV4.map { [$0] } ?? []
        if interface.hasLinkLocalV6 { addresses.append(.anyV6) }
        for address in addresses where !dialect.probes(isV4: address.isV4).isEmpty {
            if let key = key(dialect, interface.index, isV4: address.isV4) {
                ports[key]?.interface = interface
                continue
            }
            var socketOptions = UDPSocket.Options()
            socketOptions.interface = interface.index
            socketOptions.allowsBroadcast = true
            add(dialect, bind: Endpoint(address, port: 0), socketOptions, interface)
        }
    }

    private func listen(_ dialect: any DiscoveryDialect, _ port: UInt16) {
        var socketOptions = UDPSocket.Options()
        socketOptions.sharesPort = true
        socketOptions.allowsBroadcast = true
        for address in [IPAddress.any, .anyV6] where ports.values.contains(where: { $0.socket.local.address.isV4 == address.isV4 }) {
            guard key(dialect, nil, isV4: address.isV4) == nil else { continue }
            add(dialect, bind: Endpoint(address, port: port), socketOptions, nil)
        }
    }

    /// The socket that there is for it; without an interface, the one that only listens.
    private func key(_ dialect: any DiscoveryDialect, _ interface: UInt32?, isV4: Bool) -> ObjectIdentifier? {
        ports.first {
            $0.value.dialect.dialect == dialect.dialect && $0.value.interface?.index == interface
                && $0.value.socket.local.address.isV4 == isV4
        }?.key
    }

    private func add(_ dialect: any DiscoveryDialect, bind: Endpoint, _ socketOptions: UDPSocket.Options, _ interface: NetworkInterface?) {
        do throws(SystemError) {
            let socket = try UDPSocket(on: loop, bind: bind, options: socketOptions, owner: self)
            ports[ObjectIdentifier(socket)] = Port(socket: socket, dialect: dialect, interface: interface)
        } catch {
            failures["\(dialect.dialect.rawValue) on \(interface?.name ?? "port \(bind.port)")"] = "\(error)"
        }
    }

    // MARK: Asking

    private func advance(_ now: Instant) {
        guard !hasEnded else { return }
        guard now < end else { return finish() }
        if rounds.isDue(now: now) {
            completeNeighbours()
            for port in ports.values { ask(port) }
            if duration == nil {
                for device in table.forget(silentSince: now + DialectScan.silence.scaled(by: -1)) {
                    continuation.yield(.lost(judge(device)))
                }
            }
        }
        timer?.set(to: min(rounds.next, end))
    }

    private func ask(_ port: Port) {
        guard let interface = port.interface else { return }
        let isV4 = port.socket.local.address.isV4
        for probe in port.dialect.probes(isV4: isV4) {
            guard options.targets.isEmpty else {
                for target in options.targets where target.isV4 == isV4 { send(probe.redirected(to: target), port, interface) }
                continue
            }
            send(probe, port, interface)
            guard probe.isBroadcast else { continue }
            for broadcast in interface.broadcasts { send(probe.redirected(to: broadcast), port, interface) }
        }
    }

    private func send(_ probe: DialectProbe, _ port: Port, _ interface: NetworkInterface) {
        let destination = Endpoint(probe.destination.address.scoped(to: interface.index), port: probe.destination.port)
        do throws(SystemError) { try port.socket.send(probe.bytes.span.bytes, to: destination) } catch {
            failures["\(port.dialect.dialect.rawValue) on \(interface.name)"] = "\(error)"
        }
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
        guard !hasEnded, let port = ports[key] else { return }
        let arrival = interface != 0 ? interface : port.interface?.index ?? 0
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
        switch table.take(description, at: place, neighbour: facts.neighbour(at: place), now: loop.currentInstant) {
        case .found(let device): continuation.yield(.found(judge(device)))
        case .updated(let device): continuation.yield(.updated(judge(device)))
        case .left(let device): continuation.yield(.lost(judge(device)))
        case .nothing: break
        case .refused: ignored += 1
        }
    }

    private func readTables() {
        guard loop.currentInstant - factsRead >= DialectScan.tableAge else { return }
        factsRead = loop.currentInstant
        // Without the tables there's no evidence, which is what "unknown" says; the scan goes on.
        if let current = try? NetworkFacts.current() { facts = current }
    }

    /// Answers often come before the kernel has resolved who sent them.
    private func completeNeighbours() {
        readTables()
        for device in table.complete(neighbours: facts.neighbour) { continuation.yield(.updated(judge(device))) }
    }

    private func judge(_ device: DialectDevice) -> FoundDevice {
        FoundDevice(
            device: device, grading: device.grading(link: link), evidence: facts.judge(device),
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
            devices: table.devices.map(judge), ignored: ignored, failures: failures, failedInterfaces: failedInterfaces,
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
        follower?.cancel()
        for port in ports.values { port.socket.close() }
        for exchange in exchanges.values { exchange.cancel() }
        ports = [:]
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
