import SocketCore

/// Sends datagrams through one interface to this machine itself: what is swallowed on the way is swallowed here.
///
/// The kernel gives members of a group on the sending interface a copy that passes the packet filter's output and, as arriving
/// from that interface, its input. So one machine alone can tell whether its own filter stands in the way.
actor SelfProbe: DatagramOwner {
    /// The copy comes within microseconds; a busy machine is given a thousand times that.
    private static let patience = Duration.milliseconds(250)
    private static let attempts = 2

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let interface: NetworkInterface
    private let port: UInt16
    private let group: IPAddress
    private let mark: [UInt8]
    private var arrived: Set<UInt16> = []

    private init(_ interface: NetworkInterface, port: UInt16, group: IPAddress, loop: EventLoop) {
        self.interface = interface
        self.port = port
        self.group = group.scoped(to: interface.index)
        self.loop = loop
        // No frame: a router that hears it drops it as malformed.
        mark = Array("wifictl self-probe \(UInt64.random(in: .min ... .max))".utf8)
    }

    /// How the datagrams fared; nil for an interface without an address of the group's family, which for IPv6 is a link-local one.
    static func run(
        _ interface: NetworkInterface, port: UInt16 = DiscoveryDatagram.port, group: IPAddress = DiscoveryDatagram.groupV4,
        loop: EventLoop = .shared
    ) async -> DoctorFacts.Probes? {
        guard own(interface, isV4: group.isV4) != nil else { return nil }
        return await SelfProbe(interface, port: port, group: group, loop: loop).run()
    }

    private static func own(_ interface: NetworkInterface, isV4: Bool) -> IPAddress? {
        let fitting = interface.addresses.lazy.map(\.address).first { $0.isV4 == isV4 && (isV4 || $0.isLinkLocal) }
        return fitting?.scoped(to: interface.index)
    }

    private func run() async -> DoctorFacts.Probes {
        DoctorFacts.Probes(group: await probe(port), reply: await probe(0), unicast: await unicast())
    }

    /// Sends to the interface's own address; the kernel carries that over loopback, so that rules for the interface itself don't show.
    private func unicast() async -> DoctorFacts.Probe {
        guard let own = SelfProbe.own(interface, isV4: group.isV4) else { return .arrived }
        do throws(SystemError) {
            let receiver = try UDPSocket(on: loop, bind: Endpoint(own, port: 0), owner: self)
            defer { receiver.close() }
            let sender = try UDPSocket(on: loop, bind: Endpoint(own, port: 0), owner: self)
            defer { sender.close() }
            return try await send(by: sender, to: receiver.local)
        } catch {
            return .refused("\(error)")
        }
    }

    /// Listens to the group on a port (0: one of the kernel's choice) and sends to it.
    private func probe(_ port: UInt16) async -> DoctorFacts.Probe {
        var listening = UDPSocket.Options()
        listening.sharesPort = true
        var sending = UDPSocket.Options()
        sending.interface = interface.index
        let source = group.isV4 ? interface.bindAddressV4 ?? .any : .anyV6
        do throws(SystemError) {
            let receiver = try UDPSocket(on: loop, bind: Endpoint(group, port: port), options: listening, owner: self)
            defer { receiver.close() }
            try receiver.join(group, interface: interface.index)
            let sender = try UDPSocket(on: loop, bind: Endpoint(source, port: 0), options: sending, owner: self)
            defer { sender.close() }
            return try await send(by: sender, to: Endpoint(group, port: receiver.local.port))
        } catch {
            return .refused("\(error)")
        }
    }

    /// Sends until it comes, or has been waited for long enough.
    private func send(by sender: UDPSocket, to target: Endpoint) async throws(SystemError) -> DoctorFacts.Probe {
        for _ in 0..<SelfProbe.attempts {
            let bytes = mark
            try sender.send(bytes.span.bytes, to: target)
            let end = SystemCalls.monotonicNow() + SelfProbe.patience
            while !arrived.contains(target.port), SystemCalls.monotonicNow() < end, !Task.isCancelled {
                // Cancelled: the loop's condition ends it.
                try? await Task.sleep(for: .milliseconds(5))
            }
            if arrived.contains(target.port) { return .arrived }
        }
        return .lost
    }

    nonisolated func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool) {
        let (port, isUnicast) = (socket.local.port, !socket.local.address.isMulticast)
        let datagram = bytes.withUnsafeBytes { Array($0) }
        assumeIsolated { probe in
            // Unicast to oneself comes by loopback.
            if datagram == probe.mark, isUnicast || interface == probe.interface.index { probe.arrived.insert(port) }
        }
    }

    nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {}
}
