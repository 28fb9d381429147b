import SocketCore

/// The sockets of a scan of foreign dialects: one a dialect and an interface's family, through which it asks, so that an answer's
/// dialect is known by where it came to; and one a dialect and family that hears what is said to everybody.
struct DialectSockets {
    /// What belongs to one socket.
    struct Port {
        var socket: UDPSocket
        var dialect: any DiscoveryDialect
        /// nil for a socket that only listens, for all interfaces.
        var need: LinkRoster.Need?
    }

    private let loop: EventLoop
    private let dialects: [any DiscoveryDialect]
    private var ports: [ObjectIdentifier: Port] = [:]
    /// What couldn't be opened, with the reason.
    private(set) var failures: [String: String] = [:]

    init(_ dialects: [any DiscoveryDialect], on loop: EventLoop) {
        self.dialects = dialects
        self.loop = loop
    }

    var isEmpty: Bool { ports.isEmpty }

    subscript(socket: ObjectIdentifier) -> Port? { ports[socket] }

    /// Those to ask through.
    var asking: [Port] { ports.values.filter { $0.need != nil } }

    /// Opens what an interface's family is worth; a dialect that can't be spoken there is noted.
    mutating func open(_ need: LinkRoster.Need, owner: any DatagramOwner) {
        for dialect in dialects where !dialect.probes(isV4: need.key.isV4).isEmpty {
            add(dialect, need) { loop throws(SystemError) in try need.askingSocket(on: loop, owner: owner) }
            listen(dialect, isV4: need.key.isV4, owner)
        }
    }

    /// What a family of an interface is for now.
    mutating func renew(_ need: LinkRoster.Need) {
        for (id, port) in ports where port.need?.key == need.key { ports[id]?.need = need }
    }

    private mutating func listen(_ dialect: any DiscoveryDialect, isV4: Bool, _ owner: any DatagramOwner) {
        let isOpen = ports.values.contains {
            $0.need == nil && $0.dialect.dialect == dialect.dialect && $0.socket.local.address.isV4 == isV4
        }
        guard let port = dialect.listening, !isOpen else { return }
        var options = UDPSocket.Options()
        options.sharesPort = true
        options.allowsBroadcast = true
        add(dialect, nil) { [options] loop throws(SystemError) in
            try UDPSocket(on: loop, bind: Endpoint(isV4 ? .any : .anyV6, port: port), options: options, owner: owner)
        }
    }

    private mutating func add(
        _ dialect: any DiscoveryDialect, _ need: LinkRoster.Need?, _ open: (EventLoop) throws(SystemError) -> UDPSocket
    ) {
        do throws(SystemError) {
            let socket = try open(loop)
            ports[ObjectIdentifier(socket)] = Port(socket: socket, dialect: dialect, need: need)
        } catch {
            failures["\(dialect.dialect.rawValue) on \(need?.name ?? "port \(dialect.listening ?? 0)")"] = "\(error)"
        }
    }

    /// Asks through a socket: everybody, or the targets alone.
    mutating func ask(_ port: Port, targets: [IPAddress]) {
        guard let need = port.need else { return }
        for probe in port.dialect.probes(isV4: need.key.isV4) {
            guard targets.isEmpty else {
                for target in targets where target.isV4 == need.key.isV4 { send(probe.redirected(to: target), port, need) }
                continue
            }
            send(probe, port, need)
            guard probe.isBroadcast else { continue }
            for broadcast in need.broadcasts { send(probe.redirected(to: broadcast), port, need) }
        }
    }

    private mutating func send(_ probe: DialectProbe, _ port: Port, _ need: LinkRoster.Need) {
        let destination = Endpoint(probe.destination.address.scoped(to: need.key.interface), port: probe.destination.port)
        do throws(SystemError) { try port.socket.send(probe.bytes.span.bytes, to: destination) } catch {
            failures["\(port.dialect.dialect.rawValue) on \(need.name)"] = "\(error)"
        }
    }

    /// Closes what an interface's family had.
    mutating func close(_ key: LinkRoster.Key) {
        for (id, port) in ports where port.need?.key == key {
            port.socket.close()
            ports[id] = nil
        }
    }

    /// Closes all of them.
    mutating func close() {
        for port in ports.values { port.socket.close() }
        ports = [:]
    }
}
