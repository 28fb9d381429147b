import SocketCore
import TestSupport
import Testing
import WifiDiscovery

/// A session looks for its router anew when the connection is lost.
@Suite(.timeLimit(.minutes(10)))
struct MovedRouterTests {
    @Test func `a clone that answers first and stalls the handshake doesn't keep a session from a router that has moved`() async throws {
        let company = try await TestCompany.shared
        let tls = company.serverConfiguration(requiresPeer: false)
        let fleet = try await TestFleet(1) { _, options in options.tls = tls }
        let manager = fleet.manager {
            $0.trust = RouterTrust(roots: [company.deviceRoot.asRoot])
            $0.trust.clock = { TestCompany.now.now }
            $0.session.timing.reconnect.base = .milliseconds(20)
        }
        _ = try await manager.connect()
        let stalling = try Speaker(nil)
        var settings = RouterResponder.Options()
        settings.interfaces = ["lo"]
        settings.address = IPAddress("127.0.0.9")
        settings.port = fleet.port
        let clone = RouterResponder(settings)
        try await clone.open()
        var description = RouterDescription(mac: fleet.macs[0], name: "Clone", tcp: stalling.endpoint.port, tls: true)
        await clone.add(description)
        // It's gone from where it was, and back elsewhere; the clone is faster with every answer.
        await fleet.routers[0].stop()
        description.name = "Moved"
        var options = SimulatedRouter.Options(description, listen: Endpoint(.loopback, port: 0))
        options.tls = tls
        options.replyFaults.delay = .milliseconds(300)
        let (hellos, heard) = AsyncStream<SessionIdentifier>.makeStream()
        let moved = SimulatedRouter(options, responder: fleet.responder) { event in
            if case .hello(let hello, _, _) = event { heard.yield(hello.session) }
        }
        try await moved.start()
        var iterator = hellos.makeAsyncIterator()
        let session = await iterator.next()
        #expect(session.map(fleet.sessions(0).contains) == true)
        await manager.close()
        await moved.stop()
        await clone.close()
        await fleet.stop()
    }
}
