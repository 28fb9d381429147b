import SocketCore
import Testing

@testable import WifiDiscovery

/// Whoever asks for a router, in whichever words and however many at once: there's one session with it.
@Suite("One session a router", .timeLimit(.minutes(10)))
struct OneSessionTests {
    @Test("wishes for one router by name, MAC and address, all being looked for at once, are one switch")
    func words() async throws {
        let fleet = try await TestFleet(3)
        // However slow the machine: a switch that fails for its time makes room for a second session.
        let manager = fleet.manager {
            $0.switching.probe = .seconds(3_600)
            $0.switching.connect = .seconds(3_600)
            $0.switching.hello = .seconds(3_600)
            $0.switching.drain = .seconds(3_600)
            $0.session.timing.connect = .seconds(3_600)
            $0.session.timing.hello = .seconds(3_600)
            $0.commands.wait = .seconds(3_600)
        }
        try await manager.connect()
        let place = "127.0.0.1:\(await fleet.routers[2].description.tcp)"
        async let byName = manager.switch(to: "Room 3")
        async let byMAC = manager.switch(to: "\(fleet.macs[2])")
        async let byAddress = manager.switch(to: place)
        async let byConnecting = manager.connect(to: "\(fleet.macs[2])")
        let all = try await [byName, byMAC, byAddress, byConnecting]
        // A group command is sent over the session that is there.
        #expect(try await manager.command(.get(names: ["led"]), to: .routers([fleet.macs[2]])).isWhole)
        let current = await manager.current
        #expect(all.allSatisfy { $0 === current } && current?.mac == fleet.macs[2])
        #expect(fleet.sessions(2).count == 1)
        #expect(try await all[0].get("wifi.ssid") == "Home")
        await manager.close()
        await fleet.stop()
    }

    @Test("connecting to the router that is current and away dials it at once, and no second session is made")
    func away() async throws {
        let fleet = try await TestFleet(1)
        // Of its own it would dial again in an hour.
        let manager = fleet.manager {
            $0.session.timing.reconnect.base = .seconds(3_600)
            $0.session.timing.reconnect.ceiling = .seconds(3_600)
        }
        let router = try await manager.connect()
        await router.session.dropConnection()
        #expect(try await manager.connect() === router)
        #expect(try await router.get("wifi.ssid") == "Home")
        #expect(fleet.sessions(0).count == 1)
        await manager.close()
        await fleet.stop()
    }

    @Test("two at once, of which one is called off: the other one's switch goes on")
    func calledOff() async throws {
        let fleet = try await TestFleet(2)
        let manager = fleet.manager()
        try await manager.connect()
        let (steps, begun) = AsyncStream<Void>.makeStream()
        let first = Task { try await manager.switch(to: "\(fleet.macs[1])") { _ in begun.yield() } }
        for await _ in steps { break }
        let second = Task { try await manager.switch(to: "\(fleet.macs[1])") }
        while await manager.switching?.waiters == 1 { await Task.yield() }
        first.cancel()
        #expect(try await second.value.mac == fleet.macs[1])
        #expect(fleet.sessions(1).count == 1)
        await manager.close()
        await fleet.stop()
    }

    @Test("eight sessions are kept for a return; of a ninth, the one that was left longest ago is closed")
    func ninth() async throws {
        let fleet = try await TestFleet(RouterManager.largestParkedCount + 2)
        let manager = fleet.manager()
        var connections = [try await manager.connect()]
        for mac in fleet.macs.dropFirst() { connections.append(try await manager.switch(to: "\(mac)")) }
        let listed = try await manager.routers
        #expect(Set(listed.filter(\.hasSession).map(\.mac)) == Set(fleet.macs.dropFirst().dropLast()))
        while await !connections[0].isOver { await Task.yield() }
        // The one left longest ago of those that are kept is the same session; the one that was closed is another.
        #expect(try await manager.switch(to: "\(fleet.macs[1])") === connections[1])
        #expect(fleet.sessions(1).count == 1)
        #expect(try await manager.switch(to: "\(fleet.macs[0])") !== connections[0])
        #expect(fleet.sessions(0).count == 2)
        await manager.close()
        await fleet.stop()
    }
}
