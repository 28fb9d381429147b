import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// A restored router is a connected one: what follows a router that was connected to follows it as well.
@Suite("Restored", .timeLimit(.minutes(10)))
struct RestoringTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func manager(_ fleet: TestFleet) -> RouterManager {
        fleet.manager {
            $0.home = home.path
            $0.commands = CommandScheduleTests.short
            $0.session.timing.reconnect.base = .milliseconds(20)
            $0.failover.policy = .propose
            $0.failover.timeouts = 2
        }
    }

    @Test("status, commands and fail-over go on with the router that was in use before")
    func takesUp() async throws {
        let fleet = try await TestFleet(2)
        let before = manager(fleet)
        try await before.connect()
        await before.close()
        let manager = manager(fleet)
        let news = manager.status([.properties, .failover], names: ["clients"])
        let router = try #require(try await manager.restore())
        #expect(await manager.current === router)
        #expect(await news.first { $0.value == .property(0) } != nil)
        await fleet.routers[0].change("clients", to: 5)
        #expect(await news.first { $0.value == .property(5) } != nil)
        #expect(try await router.get("wifi.ssid") == "Home")
        await fleet.routers[0].stop()
        for _ in 0..<2 { await #expect(throws: CommandError.timedOut(tries: 3)) { _ = try await router.get("led") } }
        let proposed = await news.first { if case .failover(.proposed) = $0.value { true } else { false } }
        guard case .failover(.proposed(let proposal))? = proposed?.value else {
            Issue.record("nothing proposed")
            return
        }
        #expect(proposal.current == fleet.macs[0] && proposal.other == fleet.macs[1])
        await manager.close()
        await fleet.stop()
    }

    @Test("a router that comes back after all commands to it have timed out still tells what was subscribed to")
    func comesLate() async throws {
        let fleet = try await TestFleet(1)
        let before = manager(fleet)
        try await before.connect()
        await before.close()
        await fleet.routers[0].stop()
        let manager = manager(fleet)
        let news = manager.status(.properties, names: ["clients"])
        let router = try #require(try await manager.restore())
        // A subscription that had been queued is over when this is.
        await #expect(throws: WifiDiscovery.CommandError.self) { _ = try await router.get("led") }
        try await fleet.routers[0].start()
        while await !router.session.isOpen { await Task.yield() }
        #expect(await news.first { $0.value == .property(0) } != nil)
        await fleet.routers[0].change("clients", to: 5)
        #expect(await news.first { $0.value == .property(5) } != nil)
        await manager.close()
        await fleet.stop()
    }

    @Test("connecting while the router is being restored is the same session; so is restoring twice at once")
    func atOnce() async throws {
        let fleet = try await TestFleet(1)
        let before = manager(fleet)
        let identifier = try await before.connect().session.identifier
        await before.close()
        let manager = manager(fleet)
        async let one = manager.restore()
        async let other = manager.restore()
        async let third = manager.connect()
        let (restored, again, connected) = try await (one, other, third)
        #expect(restored === connected && again === connected)
        #expect(connected.session.identifier == identifier && fleet.sessions(0) == [identifier])
        await manager.close()
        await fleet.stop()
    }
}
