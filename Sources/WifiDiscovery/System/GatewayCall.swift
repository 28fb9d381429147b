import SocketCore

/// Makes the kernel look for the default gateways: whether one answers is known only once somebody has sent it something.
actor GatewayCall: DatagramOwner {
    /// The kernel asks three times, a second apart, until it gives a neighbour up.
    private static let patience = Duration.milliseconds(3_500)
    private static let pause = Duration.milliseconds(20)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private init(loop: EventLoop) { self.loop = loop }

    /// Sends one datagram to each gateway and waits until the kernel knows whether it answers, or has been asked for long enough. What can't be
    /// sent shows as a gateway that the neighbour table doesn't know.
    ///
    /// - Parameters:
    ///   - port: the discovery port, where a router drops what is no frame.
    ///   - neighbours: reads the neighbour table.
    static func make(
        _ gateways: [DefaultRoute], port: UInt16, loop: EventLoop = .shared,
        neighbours: @escaping @Sendable () throws -> [NeighbourEntry]
    ) async {
        await GatewayCall(loop: loop).call(gateways.filter(\.gateway.isV4), port, neighbours)
    }

    private func call(_ gateways: [DefaultRoute], _ port: UInt16, _ neighbours: @Sendable () throws -> [NeighbourEntry]) async {
        var open: [UDPSocket] = []
        defer { for socket in open { socket.close() } }
        var waiting: [DefaultRoute] = []
        for route in gateways {
            var options = UDPSocket.Options()
            options.interface = route.interface
            guard let socket = try? UDPSocket(on: loop, bind: Endpoint(.any, port: 0), options: options, owner: self) else { continue }
            open.append(socket)
            let bytes = Array("wifictl doctor".utf8)
            if (try? socket.send(bytes.span.bytes, to: Endpoint(route.gateway, port: port))) != nil { waiting.append(route) }
        }
        let end = SystemCalls.monotonicNow() + GatewayCall.patience
        while !waiting.isEmpty, SystemCalls.monotonicNow() < end, !Task.isCancelled {
            // A table that can't be read is told by who reads it for the findings.
            guard let entries = try? neighbours() else { return }
            waiting.removeAll { route in
                entries.contains { $0.address == route.gateway && $0.interface == route.interface && $0.isSettled }
            }
            // Cancelled: the loop's condition ends it.
            if !waiting.isEmpty { try? await Task.sleep(for: GatewayCall.pause) }
        }
    }

    nonisolated func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool) {}

    nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {}
}

extension NeighbourEntry {
    /// The kernel knows whether it answers (NUD_FAILED says no; NUD_INCOMPLETE is still asking).
    fileprivate var isSettled: Bool { isUsable || state & 0x20 != 0 }
}
