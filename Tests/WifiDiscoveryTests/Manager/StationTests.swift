import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// A router behind a child access point proves itself in a session: it says that it serves this station.
@Suite(.timeLimit(.minutes(10))) struct StationTests {
    private static let station = "02:00:5e:00:53:aa"

    private func router(_ number: Int, serving stations: [String: String], _ responder: RouterResponder) async throws -> SimulatedRouter {
        var options = SimulatedRouter.Options(SimulatedLAN.router(number), listen: Endpoint(.v4(127, 0, 0, 1), port: 0))
        options.session.stations = stations
        let router = SimulatedRouter(options, responder: responder)
        try await router.start()
        return router
    }

    @Test func `what a router said in a session decides the next choice, where no address does`() async throws {
        let loop = try EventLoop(name: "stations")
        defer { loop.stop() }
        var responding = RouterResponder.Options()
        responding.interfaces = ["lo"]
        responding.port = UInt16(try FreePort.next())
        let responder = RouterResponder(responding, loop: loop)
        try await responder.open()
        let routers = [
            try await router(1, serving: [:], responder), try await router(2, serving: [Self.station: "02:00:5e:00:53:11"], responder),
            try await router(3, serving: ["02:00:5e:00:53:bb": "02:00:5e:00:53:31"], responder),
        ]
        var options = RouterManager.Options()
        options.discovery.interfaces = ["lo"]
        options.discovery.port = responding.port
        options.discovery.link = .addresses([])
        options.session.station = Self.station.uppercased()
        options.scanTime = .seconds(1)
        let manager = RouterManager(options, loop: loop)
        await #expect(throws: ManagerError.self) { try await manager.connect() }
        for number in [1, 3, 2] {
            let connection = try await manager.connect(to: "\(SimulatedLAN.mac(number))")
            let sees = try await connection.opened().router?.sees
            #expect(sees == (number == 1 ? nil : .init(station: number == 2, via: number == 2 ? "02:00:5e:00:53:11" : nil)))
            await manager.close()
        }
        #expect(try await manager.connect().mac == SimulatedLAN.mac(2))
        await manager.close()
        for router in routers { await router.stop() }
        await responder.close()
    }
}
