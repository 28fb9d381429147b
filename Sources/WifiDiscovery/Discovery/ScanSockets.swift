import SocketCore

/// The sockets of a scan: one an interface and family, through which it asks, and in a watch those that hear the group.
struct ScanSockets {
    private let loop: EventLoop
    private let options: RouterDiscovery.Options
    private var asking: [DiscoveryLink.ID: UDPSocket] = [:]
    private var ids: [LinkRoster.Key: DiscoveryLink.ID] = [:]
    private var links: [ObjectIdentifier: DiscoveryLink.ID] = [:]
    /// One for all interfaces.
    private var hearingV4: UDPSocket?
    /// One each: a link-local group is another one on every interface.
    private var hearingV6: [UInt32: UDPSocket] = [:]
    private var nextID = 0

    init(_ options: RouterDiscovery.Options, on loop: EventLoop) {
        self.options = options
        self.loop = loop
    }

    /// The sockets that an interface is worth.
    func needs(_ interface: NetworkInterface) -> [LinkRoster.Need] {
        let families = [options.group?.isV4 ?? true, speaksV6(interface)]
        return zip([true, false], families).compactMap { isV4, isSpoken in isSpoken ? interface.need(isV4: isV4) : nil }
    }

    /// The group needs a link-local address; a target that was named may have any.
    private func speaksV6(_ interface: NetworkInterface) -> Bool {
        if options.group?.isV4 ?? false { return false }
        let isTargeted = options.targets.contains { !$0.address.isV4 }
        return interface.hasLinkLocalV6 || isTargeted && interface.addresses.contains { !$0.address.isV4 }
    }

    /// Opens a socket to ask through.
    mutating func open(_ need: LinkRoster.Need, fallbacks: [IPAddress], owner: any DatagramOwner) throws(SystemError) -> DiscoveryLink {
        let socket = try need.askingSocket(on: loop, owner: owner)
        let id = DiscoveryLink.ID(nextID)
        nextID += 1
        asking[id] = socket
        ids[need.key] = id
        links[ObjectIdentifier(socket)] = id
        return link(need, id, fallbacks)
    }

    /// What a socket that is there is for now.
    func renewed(_ need: LinkRoster.Need, fallbacks: [IPAddress]) -> DiscoveryLink? { ids[need.key].map { link(need, $0, fallbacks) } }

    private func link(_ need: LinkRoster.Need, _ id: DiscoveryLink.ID, _ fallbacks: [IPAddress]) -> DiscoveryLink {
        DiscoveryLink(
            id: id, interface: need.key.interface, name: need.name, isV4: need.key.isV4, broadcasts: need.broadcasts, fallbacks: fallbacks)
    }

    /// Hears announcements on an interface too. Bound to the group and not to all addresses: else the socket would take unicast
    /// probes from a router on the same machine.
    mutating func hear(_ key: LinkRoster.Key, owner: any DatagramOwner) throws(SystemError) {
        var socketOptions = UDPSocket.Options()
        socketOptions.sharesPort = true
        if key.isV4 {
            let group = options.group ?? DiscoveryDatagram.groupV4
            guard group.isV4 else { return }
            if let hearingV4 { return try hearingV4.join(group, interface: key.interface) }
            let socket = try UDPSocket(on: loop, bind: Endpoint(group, port: options.port), options: socketOptions, owner: owner)
            hearingV4 = socket
            try socket.join(group, interface: key.interface)
        } else {
            let group = (options.group ?? DiscoveryDatagram.groupV6).scoped(to: key.interface)
            guard !group.isV4, hearingV6[key.interface] == nil else { return }
            let socket = try UDPSocket(on: loop, bind: Endpoint(group, port: options.port), options: socketOptions, owner: owner)
            hearingV6[key.interface] = socket
            try socket.join(group, interface: key.interface)
        }
    }

    /// The link of a socket; nil for one that only hears the group.
    func link(of socket: ObjectIdentifier) -> DiscoveryLink.ID? { links[socket] }

    /// Sends a probe through its link.
    func send(_ probe: OutgoingProbe) throws(SystemError) { try asking[probe.link]?.send(probe.bytes.span.bytes, to: probe.destination) }

    /// Closes what an interface's family had; its link.
    mutating func close(_ key: LinkRoster.Key) -> DiscoveryLink.ID? {
        if !key.isV4 { hearingV6.removeValue(forKey: key.interface)?.close() }
        guard let id = ids.removeValue(forKey: key) else { return nil }
        if let socket = asking.removeValue(forKey: id) {
            links[ObjectIdentifier(socket)] = nil
            socket.close()
        }
        return id
    }

    /// Closes all of them.
    mutating func close() {
        for socket in Array(asking.values) + Array(hearingV6.values) + [hearingV4].compactMap({ $0 }) { socket.close() }
        self = ScanSockets(options, on: loop)
    }
}
