import Glibc
import SocketCore

/// Answers probes for any number of routers on this machine, behind one UDP port (protocol.md, section 4: the router's side).
public actor RouterResponder: DatagramOwner, LoopTimerOwner {
    /// Where it listens.
    public struct Options: Sendable {
        /// Interfaces by name; empty means every usable one, and this machine alone where there's none. Sessions, too, are opened over
        /// these alone.
        public var interfaces: [String] = []
        /// Speak from this address, and only on its interface; nil for all.
        public var address: IPAddress?
        /// The group; nil for both of the protocol's.
        public var group: IPAddress?
        /// The discovery port.
        public var port = DiscoveryDatagram.port
        /// Where the dice of waits and faults start; nil for the system's own.
        public var seed: UInt64?
        /// How the routers behave.
        public var behaviour = ResponderConfiguration()

        /// Everything by default.
        public init() {}
    }

    /// A group joined.
    private struct Membership: Hashable {
        var interface: UInt32
        var isV4: Bool
    }

    /// The loop that it runs on.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private nonisolated let options: Options
    private let onProbe: @Sendable (Endpoint, ProbeOutcome) -> Void
    private var group: ResponderGroup
    private var sockets: [UDPSocket] = []
    private var interfaces: [NetworkInterface] = []
    private var memberships: Set<Membership> = []
    private var timer: LoopTimer?
    private var follower: Task<Void, Never>?
    /// Interfaces on which the group couldn't be joined, with the reason.
    public private(set) var failedInterfaces: [String: String] = [:]
    /// Whether another program of this machine answers on the port, too: a probe to one address reaches one of the two, a probe to the
    /// group both.
    public private(set) var sharesPort = false
    /// The interfaces that it answers on.
    public var interfaceNames: [String] { interfaces.map(\.name).filter { failedInterfaces[$0] == nil } }
    /// Datagrams that the system refused to send.
    public private(set) var sendFailures = 0

    /// A responder that isn't open yet.
    ///
    /// - Parameters:
    ///   - options: port, groups, interfaces and faults.
    ///   - loop: where it runs.
    ///   - onProbe: told what became of each datagram; called on the loop's thread.
    public init(
        _ options: Options = Options(), loop: EventLoop = .shared,
        onProbe: @escaping @Sendable (Endpoint, ProbeOutcome) -> Void = { _, _ in }
    ) {
        self.options = options
        self.loop = loop
        self.onProbe = onProbe
        if let seed = options.seed {
            group = ResponderGroup(options.behaviour, generator: SeededGenerator(seed: seed))
        } else {
            group = ResponderGroup(options.behaviour, generator: SystemRandomNumberGenerator())
        }
    }

    /// Opens the sockets and joins the groups; an interface that can't be joined spoils nothing while another one can.
    ///
    /// Interfaces and addresses that come later are taken up as they come.
    ///
    /// - Throws: ``ResponderError`` when the port can't be bound, or no interface is left.
    public func open() throws {
        try use(chooseInterfaces())
        guard !memberships.isEmpty else { throw ResponderError.noInterface(failedInterfaces) }
        timer = LoopTimer(on: loop, owner: self)
        let loop = loop
        follower = Task(executorPreference: loop) { [weak self] in
            for await _ in NetworkChanges.stream(on: loop) { await self?.interfacesChanged() }
        }
    }

    private func use(_ chosen: ScanInterfaces) throws {
        interfaces = chosen.usable
        failedInterfaces = chosen.unusable
        group.setInterfaces(interfaces)
        let present = Set(interfaces.map(\.index))
        memberships = memberships.filter { present.contains($0.interface) }
        for family in families { try join(family) }
    }

    /// Whether an address is there that wasn't is all that controllers need to hear of.
    private func interfacesChanged() {
        // A list that can't be read now will be at the next change.
        guard timer != nil, var chosen = try? chooseInterfaces(inMidRun: true) else { return }
        // A router that began on this machine alone goes on there, too.
        chosen.usable += interfaces.filter { $0.flags.contains(.loopback) && !chosen.usable.contains($0) }
        let before = places
        // A family that comes only now and can't be bound is no reason to end what works: it's counted as a failure to send.
        do { try use(chosen) } catch { sendFailures += 1 }
        if !places.isSubset(of: before) { group.moved(now: loop.currentInstant) }
        settle()
    }

    private var places: Set<DiscoveredRouter.Place> {
        Set(interfaces.flatMap { interface in interface.addresses.map { .init($0.address, interface: interface.index) } })
    }

    private func chooseInterfaces(inMidRun: Bool = false) throws(DiscoveryError) -> ScanInterfaces {
        guard let address = options.address, options.interfaces.isEmpty else {
            return try ScanInterfaces.choose(options.interfaces, inMidWatch: inMidRun)
        }
        let all: [NetworkInterface]
        do throws(SystemError) { all = try NetworkInterfaces.current() } catch { throw .system(error) }
        let holders = all.filter { interface in interface.addresses.contains { $0.address.unscoped == address.unscoped } }
        return ScanInterfaces(usable: holders, unusable: holders.isEmpty ? ["\(address)": "is no address of this machine"] : [:])
    }

    /// IPv4, IPv6, or both.
    private var families: [IPAddress] {
        if let group = options.group { return [group.unscoped] }
        if let address = options.address { return [address.isV4 ? DiscoveryDatagram.groupV4 : DiscoveryDatagram.groupV6] }
        return [DiscoveryDatagram.groupV4, DiscoveryDatagram.groupV6]
    }

    private func join(_ family: IPAddress) throws {
        let fitting = interfaces.filter { family.isV4 ? $0.bindAddressV4 != nil : $0.hasLinkLocalV6 }
        guard !fitting.isEmpty else { return }
        let socket = try socket(family)
        for interface in fitting {
            let membership = Membership(interface: interface.index, isV4: family.isV4)
            guard !memberships.contains(membership) else { continue }
            do throws(SystemError) {
                try socket.join(family, interface: interface.index)
                memberships.insert(membership)
            } catch  where error.code == EADDRINUSE {
                // It was away, and the kernel has kept the membership.
                memberships.insert(membership)
            } catch {
                failedInterfaces[interface.name] = "\(error)"
            }
        }
    }

    private func socket(_ family: IPAddress) throws(ResponderError) -> UDPSocket {
        if let open = sockets.first(where: { $0.local.address.isV4 == family.isV4 }) { return open }
        sharesPort = sharesPort || isTaken(family)
        var socketOptions = UDPSocket.Options()
        socketOptions.sharesPort = true
        let all = Endpoint(family.isV4 ? .any : .anyV6, port: options.port)
        do throws(SystemError) {
            let socket = try UDPSocket(on: loop, bind: all, options: socketOptions, owner: self)
            sockets.append(socket)
            return socket
        } catch { throw ResponderError.cannotBind(all, error) }
    }

    /// Whether somebody answers on the port already. Who only listens to the group (a watch) is bound to that, and no obstacle.
    private func isTaken(_ family: IPAddress) -> Bool {
        let alone = Endpoint(family.isV4 ? .loopback : .v6(high: 0, low: 1, scope: 0), port: options.port)
        do throws(SystemError) {
            try UDPSocket(on: loop, bind: alone, owner: self).close()
            return false
        } catch { return error.code == EADDRINUSE }
    }

    /// Whether a router of this responder takes a connection: where interfaces are named, only over these. To be asked on its loop.
    nonisolated var admission: (@Sendable (StreamArrival) -> Bool)? {
        guard !options.interfaces.isEmpty else { return nil }
        // By what is known of them already: asking the system would take a descriptor, of which a listener may have run out.
        return { [weak self] arrival in
            self?.assumeIsolated { ServedInterfaces(interfaces: $0.interfaces).admits(arrival) } ?? false
        }
    }

    // MARK: Routers

    /// A router starts.
    public func add(_ router: RouterDescription, faults: ReplyFaults = ReplyFaults()) {
        group.add(router, faults: faults, now: loop.currentInstant)
        settle()
    }

    /// A router says something else about itself.
    public func update(_ router: RouterDescription) {
        group.update(router, now: loop.currentInstant)
        settle()
    }

    /// A router shuts down, with a goodbye.
    public func remove(_ mac: MACAddress) {
        group.remove(mac, now: loop.currentInstant)
        settle()
    }

    /// What was counted.
    public var counters: ResponderCounters { group.counters }

    /// Says goodbye for every router and closes.
    public func close() {
        for router in group.routers { group.remove(router.mac, now: loop.currentInstant) }
        settle()
        timer?.cancel()
        timer = nil
        follower?.cancel()
        memberships = []
        for socket in sockets { socket.close() }
        sockets = []
    }

    // MARK: Called by the loop

    /// See SocketCore's `DatagramOwner`.
    public nonisolated func datagramArrived(
        _ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool
    ) {
        assumeIsolated { responder in
            guard !isOversize else { return responder.group.receivedOversize() }
            let outcome = responder.group.received(bytes, from: source, interface: interface, now: responder.loop.currentInstant)
            responder.onProbe(source, outcome)
            responder.settle()
        }
    }

    /// See SocketCore's `DatagramOwner`. An ICMP answer to an earlier reply: whoever asked has gone.
    public nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {
        assumeIsolated { $0.sendFailures += 1 }
    }

    /// See SocketCore's `LoopTimerOwner`.
    public nonisolated func timerFired(at now: Instant) {
        assumeIsolated { responder in
            responder.group.advance(now: now)
            responder.settle()
        }
    }

    private func settle() {
        for datagram in group.takeDatagrams() { send(datagram) }
        timer?.set(to: group.deadline ?? .distantFuture)
    }

    private func send(_ datagram: OutgoingReply) {
        switch datagram.destination {
        case .source(let endpoint, let interface):
            guard let socket = sockets.first(where: { $0.local.address.isV4 == endpoint.address.isV4 }) else { return }
            send(datagram.bytes, by: socket, to: endpoint, interface: interface)
        case .group:
            for socket in sockets {
                let isV4 = socket.local.address.isV4
                let address = options.group ?? (isV4 ? DiscoveryDatagram.groupV4 : DiscoveryDatagram.groupV6)
                for interface in interfaces where isV4 ? interface.bindAddressV4 != nil : interface.hasLinkLocalV6 {
                    send(
                        datagram.bytes, by: socket, to: Endpoint(address.scoped(to: interface.index), port: options.port),
                        interface: interface.index)
                }
            }
        }
    }

    private func send(_ bytes: [UInt8], by socket: UDPSocket, to endpoint: Endpoint, interface: UInt32) {
        do throws(SystemError) {
            try socket.send(bytes.span.bytes, to: endpoint, interface: interface, source: source(on: interface, for: endpoint))
        } catch {
            // Lost datagrams are the protocol's daily bread: the prober asks again.
            sendFailures += 1
        }
    }

    /// The address that a reply comes from: the one that was asked for, and on loopback the one that the group was asked on.
    private func source(on index: UInt32, for endpoint: Endpoint) -> IPAddress? {
        guard endpoint.address.isV4 else { return nil }
        if let address = options.address { return address }
        guard let interface = interfaces.first(where: { $0.index == index }), interface.flags.contains(.loopback) else { return nil }
        return interface.bindAddressV4
    }
}

/// Why a responder can't open.
public enum ResponderError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The port can't be had.
    case cannotBind(Endpoint, SystemError)
    /// No interface can join the group; the reasons.
    case noInterface([String: String])

    /// A sentence for people, with what to try.
    public var description: String {
        switch self {
        case .cannotBind(let endpoint, let error):
            return
                "cannot bind UDP \(endpoint.port) on \(endpoint.address): \(error.reason) (another program that doesn't share it? see --port)"
        case .noInterface(let reasons):
            let list = reasons.sorted { $0.key < $1.key }.map(ResponderError.clause).joined(separator: "; ")
            return "no interface to answer probes on (\(list.isEmpty ? "none has an address" : list))"
        }
    }

    /// What is wrong with an interface, as a clause: "eth0 is down", but "eth0: joining the group: no such device".
    ///
    /// - Parameters:
    ///   - name: the interface's, or an address.
    ///   - reason: a predicate, or an error's description.
    /// - Returns: both together.
    public static func clause(_ name: String, _ reason: String) -> String {
        let isPredicate = ["is", "has", "carries", "leads"].contains(reason.prefix { $0 != " " })
        return "\(name)\(isPredicate ? " " : ": ")\(reason)"
    }
}
