import SocketCore
import Synchronization
import TestSupport
import WifiDiscovery

/// Simulated routers on this machine's loopback, with what their applications took.
final class TestFleet: Sendable {
    let port: UInt16
    let responder: RouterResponder
    let routers: [SimulatedRouter]
    let macs: [MACAddress]
    private let taken: Taken

    private final class Taken: Sendable {
        let bodies = Mutex<[MACAddress: [String]]>([:])
        let sessions = Mutex<[MACAddress: Set<SessionIdentifier>]>([:])
    }

    init(_ count: Int, _ change: (Int, inout SimulatedRouter.Options) -> Void = { _, _ in }) async throws {
        port = UInt16(try FreePort.next())
        var settings = RouterResponder.Options()
        settings.interfaces = ["lo"]
        settings.address = .loopback
        settings.port = port
        let (responder, taken) = (RouterResponder(settings), Taken())
        self.responder = responder
        self.taken = taken
        macs = (0..<count).map { MACAddress(0x02, 0, 0x5E, 0, 0x53, UInt8(1 + $0)) }
        routers = macs.enumerated().map { index, mac in
            let description = RouterDescription(
                mac: mac, name: "Room \(index + 1)", firmware: "1.4.2", radios: [.init(bssid: mac.advanced(by: 0x100), ssid: "Home")])
            var options = SimulatedRouter.Options(description, listen: Endpoint(.loopback, port: 0))
            change(index, &options)
            return SimulatedRouter(options, responder: responder) { event in
                switch event {
                case .message(_, let message):
                    let text = String(decoding: message.body, as: UTF8.self)
                    taken.bodies.withLock { $0[mac, default: []].append(text) }
                case .hello(let hello, _, _): taken.sessions.withLock { _ = $0[mac, default: []].insert(hello.session) }
                default: break
                }
            }
        }
        try await responder.open()
        for router in routers { try await router.start() }
    }

    /// What a router's application took.
    func taken(_ index: Int) -> [String] { taken.bodies.withLock { $0[macs[index]] ?? [] } }

    /// The sessions that said hello to a router.
    func sessions(_ index: Int) -> Set<SessionIdentifier> { taken.sessions.withLock { $0[macs[index]] ?? [] } }

    /// How often it took an operation.
    func count(_ operation: String, _ index: Int) -> Int { taken(index).count { $0.contains("\"op\":\"\(operation)\"") } }

    /// A manager that sees these routers alone, connected to the first.
    func manager(_ change: (inout RouterManager.Options) -> Void = { _ in }) -> RouterManager {
        var options = RouterManager.Options()
        options.discovery.interfaces = ["lo"]
        options.discovery.port = port
        options.discovery.link = .addresses([macs[0]])
        options.scanTime = .seconds(1)
        options.failover.policy = .never
        change(&options)
        return RouterManager(options)
    }

    func stop() async {
        for router in routers { await router.stop() }
        await responder.close()
    }
}

extension StatusUpdates {
    /// Reads on until something is told that fits.
    func first(_ fits: (StatusItem) -> Bool) async -> StatusItem? {
        for await batch in self { if let item = batch.items.first(where: fits) { return item } }
        return nil
    }
}
