import SocketCore

@testable import WifiDiscovery

/// A controller and routers on a made-up network in made-up time: datagrams get lost, delayed and doubled by a seed.
struct SimulatedLAN {
    /// A machine with routers on it.
    struct Host {
        var address: IPAddress
        var interface: UInt32
        var group: ResponderGroup
        /// Multicast doesn't get through to it.
        var ignoresGroup = false
        var isPlugged = true
    }

    private enum Delivery: Sendable {
        case probe(host: Int, bytes: [UInt8], from: Endpoint)
        case reply(bytes: [UInt8], from: Endpoint, interface: UInt32, link: DiscoveryLink.ID?)
    }

    static let port = DiscoveryDatagram.port

    var now = Instant.zero
    var core: DiscoveryCore
    var hosts: [Host] = []
    /// The share of datagrams that get lost, on each way.
    var loss = 0.0
    var duplicates = 0.0
    var delay: ClosedRange<Duration> = .microseconds(200)...Duration.milliseconds(2)
    /// Called for each probe; nil lets it go, a text refuses it with that reason.
    var refuses: (OutgoingProbe) -> String? = { _ in nil }
    private(set) var events: [(at: Instant, event: DiscoveryEvent)] = []
    private(set) var probes: [(at: Instant, probe: OutgoingProbe)] = []
    var generator: SeededGenerator
    private var links: [DiscoveryLink] = []
    private var queue = DueQueue<Delivery>()

    init(_ configuration: DiscoveryConfiguration = DiscoveryConfiguration(), seed: UInt64 = 1) {
        core = DiscoveryCore(configuration, generator: SeededGenerator(seed: seed))
        generator = SeededGenerator(seed: seed &+ 1000)
    }

    static func mac(_ number: Int) -> MACAddress { MACAddress(0x02, 0, 0x5E, 0, 0x53, 0).advanced(by: number) }

    static func router(_ number: Int, boot: UInt64 = 1) -> RouterDescription {
        RouterDescription(
            mac: mac(number), name: "router \(number)", boot: HexToken(boot),
            radios: [.init(bssid: mac(number + 0x80_0000), ssid: "Home", band: "5")])
    }

    /// The controller's own address on an interface.
    static func controller(_ interface: UInt32, isV4: Bool = true) -> IPAddress {
        isV4 ? .v4(192, 0, UInt8(interface), 200) : .v6(high: 0xFE80 << 48, low: 0xC0, scope: interface)
    }

    static func link(_ id: Int, interface: UInt32 = 2, isV4: Bool = true, fallbacks: [IPAddress] = []) -> DiscoveryLink {
        DiscoveryLink(
            id: .init(id), interface: interface, name: "eth\(interface)", isV4: isV4,
            broadcasts: isV4 ? [.v4(192, 0, UInt8(interface), 255)] : [],
            fallbacks: fallbacks)
    }

    /// Adds a machine with these routers at 192.0.`interface`.`host`, or fe80::`host`.
    mutating func add(
        _ routers: [RouterDescription], host: Int, interface: UInt32 = 2, isV4: Bool = true, ignoresGroup: Bool = false,
        announces: Bool = false,
        faults: ReplyFaults = ReplyFaults()
    ) {
        let address =
            isV4 ? IPAddress.v4(192, 0, UInt8(interface), UInt8(host)) : .v6(high: 0xFE80 << 48, low: UInt64(host), scope: interface)
        var group = ResponderGroup(ResponderConfiguration(announces: announces), generator: SeededGenerator(seed: generator.next()))
        group.setInterfaces([
            NetworkInterface(index: 1, name: "lan", addresses: [.init(address, prefixLength: isV4 ? 24 : 64)], flags: [.up, .multicast])
        ])
        for router in routers { group.add(router, faults: faults, now: now) }
        hosts.append(Host(address: address, interface: interface, group: group, ignoresGroup: ignoresGroup))
        collect()
    }

    mutating func start(_ links: [DiscoveryLink] = [link(1)]) {
        self.links = links
        core.start(links: links, now: now)
        collect()
    }

    mutating func plug(_ link: DiscoveryLink) {
        links.append(link)
        core.add(link, now: now)
        collect()
    }

    mutating func unplug(_ id: Int) {
        links.removeAll { $0.id == .init(id) }
        core.remove(.init(id), now: now)
        collect()
    }

    /// Hands a datagram to the controller as if it had come in now.
    mutating func inject(_ bytes: [UInt8], from source: Endpoint, interface: UInt32 = 2, link: Int? = 1) {
        core.received(bytes.span.bytes, from: source, interface: interface, link: link.map { .init($0) }, now: now)
        collect()
    }

    /// Changes a router on a host.
    mutating func change(_ host: Int, _ body: (inout ResponderGroup, Instant) -> Void) {
        body(&hosts[host].group, now)
        collect()
    }

    /// Lets time pass until `end`, or until the scan is over.
    mutating func run(until end: Duration) {
        let end = Instant.zero + end
        while !core.isFinished {
            let due = ([core.deadline, queue.nextDue] + hosts.map(\.group.deadline)).compactMap { $0 }.min() ?? .distantFuture
            guard due <= end else { break }
            now = max(now, due)
            while let delivery = queue.pop(now: now) { deliver(delivery) }
            for index in hosts.indices { hosts[index].group.advance(now: now) }
            core.advance(now: now)
            collect()
        }
        if !core.isFinished { now = max(now, end) }
    }

    private mutating func deliver(_ delivery: Delivery) {
        switch delivery {
        case .probe(let host, let bytes, let source): hosts[host].group.received(bytes.span.bytes, from: source, interface: 1, now: now)
        case .reply(let bytes, let source, let interface, let link):
            core.received(bytes.span.bytes, from: source, interface: interface, link: link, now: now)
        }
    }

    private mutating func collect() {
        for event in core.takeEvents() { events.append((now, event)) }
        var sent = core.takeProbes()
        while !sent.isEmpty {
            for probe in sent {
                probes.append((now, probe))
                if let reason = refuses(probe) { core.sendFailed(probe, reason: reason, now: now) } else { carry(probe) }
            }
            core.advance(now: now)
            sent = core.takeProbes()
        }
        for index in hosts.indices {
            for reply in hosts[index].group.takeDatagrams() where hosts[index].isPlugged { carry(reply, of: hosts[index]) }
        }
    }

    private mutating func put(_ delivery: Delivery) {
        let copies = generator.chance(duplicates) ? 2 : 1
        for _ in 0..<copies where !generator.chance(loss) { queue.insert(delivery, due: now + generator.duration(in: delay)) }
    }

    private mutating func carry(_ probe: OutgoingProbe) {
        guard let link = links.first(where: { $0.id == probe.link }) else { return }
        let source = Endpoint(Self.controller(link.interface, isV4: link.isV4).unscoped, port: UInt16(50_000 + link.id.rawValue))
        let destination = probe.destination.address
        for (index, host) in hosts.enumerated() {
            guard host.isPlugged, host.interface == link.interface, host.address.isV4 == link.isV4 else { continue }
            let isReached =
                destination.isMulticast ? !host.ignoresGroup : destination == host.address || link.broadcasts.contains(destination)
            if isReached { put(.probe(host: index, bytes: probe.bytes, from: source)) }
        }
    }

    private mutating func carry(_ reply: OutgoingReply, of host: Host) {
        let source = Endpoint(host.address, port: Self.port)
        switch reply.destination {
        case .group: put(.reply(bytes: reply.bytes, from: source, interface: host.interface, link: nil))
        case .source(let endpoint, _):
            let id = DiscoveryLink.ID(Int(endpoint.port) - 50_000)
            if links.contains(where: { $0.id == id }) { put(.reply(bytes: reply.bytes, from: source, interface: host.interface, link: id)) }
        }
    }

    // MARK: What tests look at

    var found: [MACAddress] { events.compactMap { if case .found(let router) = $0.event { router.router.mac } else { nil } } }
    var lost: [DiscoveryEvent.Loss] { events.compactMap { if case .lost(_, let loss) = $0.event { loss } else { nil } } }
    var changes: [DiscoveredRouter.Changes] { events.compactMap { if case .updated(_, let changes) = $0.event { changes } else { nil } } }
    var finish: (at: Instant, reason: DiscoveryEvent.Finish)? {
        for (at, event) in events { if case .finished(let reason) = event { return (at, reason) } }
        return nil
    }
    func probeTimes(to address: IPAddress) -> [Double] {
        probes.filter { $0.probe.destination.address == address }.map { ($0.at - .zero).inMilliseconds }
    }
}
