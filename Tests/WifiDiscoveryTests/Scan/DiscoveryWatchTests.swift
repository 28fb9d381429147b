import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct DiscoveryWatchTests {
    static func watch(seed: UInt64 = 1) -> SimulatedLAN { SimulatedLAN(DiscoveryConfiguration(duration: nil), seed: seed) }

    @Test func `a quiet watch of two hours prints nothing but what it found`() {
        var lan = Self.watch()
        lan.loss = 0.1
        for number in 1...5 { lan.add([SimulatedLAN.router(number)], host: number) }
        lan.start()
        lan.run(until: .seconds(7200))
        #expect(lan.events.count == 5 && lan.found.count == 5)
        #expect(lan.probeTimes(to: DiscoveryDatagram.groupV4).count < 1000)
    }

    @Test("half of all datagrams lost don't make a router come and go", arguments: 0..<4 as Range<UInt64>)
    func lossy(seed: UInt64) {
        var lan = Self.watch(seed: seed)
        lan.loss = 0.5
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        lan.run(until: .seconds(3600))
        #expect(lan.lost.isEmpty, "seed \(seed)")
    }

    @Test func `a router that is switched off is lost, and found when it comes back`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        lan.run(until: .seconds(100))
        lan.hosts[0].isPlugged = false
        lan.run(until: .seconds(160))
        #expect(lan.lost == [.expired])
        #expect(lan.core.routers.isEmpty)
        lan.hosts[0].isPlugged = true
        lan.run(until: .seconds(180))
        #expect(lan.found == [SimulatedLAN.mac(1), SimulatedLAN.mac(1)])
    }

    @Test func `a goodbye is believed within a second`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 1, announces: true)
        lan.start()
        lan.run(until: .seconds(30))
        lan.change(0) { group, now in group.remove(SimulatedLAN.mac(1), now: now) }
        lan.run(until: .milliseconds(31_100))
        #expect(lan.lost == [.bye])
    }

    @Test func `a forged goodbye is disproved`() throws {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        lan.run(until: .seconds(30))
        let bye = DiscoveryDatagram(msgId: 0, .bye(mac: SimulatedLAN.mac(1), boot: HexToken(1))).encoded()
        lan.inject(bye, from: Endpoint(.v4(192, 0, 2, 66), port: 19510), link: nil)
        lan.run(until: .seconds(60))
        #expect(lan.lost.isEmpty)
        // One of an earlier boot isn't even worth a probe.
        let before = lan.core.counters.probes
        lan.inject(
            DiscoveryDatagram(msgId: 0, .bye(mac: SimulatedLAN.mac(1), boot: HexToken(9))).encoded(),
            from: Endpoint(.v4(192, 0, 2, 66), port: 1), link: nil)
        #expect(lan.core.counters.probes == before)
    }

    @Test func `an announced router is unconfirmed until it answers`() {
        var lan = Self.watch()
        lan.start()
        lan.run(until: .seconds(1))
        let announcement = DiscoveryDatagram(msgId: 0, .announce(SimulatedLAN.router(1))).encoded()
        lan.inject(announcement, from: Endpoint(.v4(192, 0, 2, 1), port: 19510), link: nil)
        #expect(lan.core.routers.map(\.isConfirmed) == [false])
        #expect(lan.probeTimes(to: .v4(192, 0, 2, 1)) == [1000])
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.inject(announcement, from: Endpoint(.v4(192, 0, 2, 1), port: 19510), link: nil)
        lan.run(until: .seconds(2))
        #expect(lan.core.routers.map(\.isConfirmed) == [true])
        #expect(lan.changes == [.confirmed])
    }

    @Test func `a router that comes announces itself and is confirmed at once`() throws {
        var lan = Self.watch()
        lan.start()
        lan.run(until: .seconds(20))
        lan.add([SimulatedLAN.router(1)], host: 1, announces: true)
        lan.run(until: .milliseconds(20_100))
        #expect(lan.core.routers.map(\.isConfirmed) == [true])
        #expect(lan.found == [SimulatedLAN.mac(1)] && lan.changes == [.confirmed])
    }

    @Test func `an announcement doesn't change a router that answered, but has it asked`() throws {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        lan.run(until: .seconds(30))
        var lie = SimulatedLAN.router(1)
        lie.name = "forged"
        lan.inject(DiscoveryDatagram(msgId: 0, .announce(lie)).encoded(), from: Endpoint(.v4(192, 0, 2, 66), port: 1), link: nil)
        lan.run(until: .seconds(40))
        #expect(lan.changes.isEmpty)
        #expect(lan.core.routers[0].router.name == "router 1")
        #expect(lan.probeTimes(to: .v4(192, 0, 2, 66)).count == 1)
    }

    @Test func `another boot is a reboot, whatever its order`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1, boot: 9)], host: 1)
        lan.start()
        for (index, boot) in [UInt64(4), 7].enumerated() {
            lan.run(until: .seconds(30 * (index + 1)))
            lan.change(0) { group, now in group.update(SimulatedLAN.router(1, boot: boot), now: now) }
        }
        lan.run(until: .seconds(90))
        #expect(lan.changes == [.rebooted, .rebooted])
        #expect(lan.core.routers[0].router.boot == HexToken(7) && !lan.core.routers[0].isConflicted)
    }

    @Test func `a new name is news and a new uptime isn't`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        lan.run(until: .seconds(60))
        #expect(lan.changes.isEmpty)
        lan.change(0) { group, now in
            var router = SimulatedLAN.router(1)
            router.name = "Cellar"
            group.update(router, now: now)
        }
        lan.run(until: .seconds(80))
        #expect(lan.changes == [.description])
    }

    @Test func `a changed address is followed`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        lan.run(until: .seconds(30))
        lan.hosts[0].isPlugged = false
        lan.add([SimulatedLAN.router(1)], host: 99)
        lan.run(until: .seconds(100))
        #expect(lan.core.routers[0].address == .v4(192, 0, 2, 99))
        #expect(lan.core.routers[0].alternates.isEmpty && !lan.core.routers[0].isConflicted)
        #expect(lan.lost.isEmpty)
        #expect(lan.changes.contains(.address))
    }

    @Test func `one router on two stacks is one row with an alternate, IPv4 first`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 8, isV4: false)
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.start([SimulatedLAN.link(1, isV4: false), SimulatedLAN.link(2)])
        lan.run(until: .seconds(600))
        #expect(lan.found.count == 1)
        #expect(lan.core.routers[0].address == .v4(192, 0, 2, 7))
        #expect(lan.core.routers[0].alternates.map(\.address) == [.v6(high: 0xFE80 << 48, low: 8, scope: 2)])
        #expect(lan.changes.count <= 1)
    }

    @Test("two devices of one MAC are a conflict, whoever answers first", arguments: [false, true])
    func conflict(swapped: Bool) {
        var lan = Self.watch()
        let boots: [UInt64] = swapped ? [5, 4] : [4, 5]
        lan.add([SimulatedLAN.router(1, boot: boots[0])], host: 1)
        lan.add([SimulatedLAN.router(1, boot: boots[1])], host: 2)
        lan.start()
        lan.run(until: .seconds(60))
        #expect(lan.core.routers.count == 1)
        #expect(lan.core.routers[0].isConflicted)
        #expect(lan.core.routers[0].router.boot == HexToken(4))
        #expect(lan.changes.filter { $0.contains(.conflict) }.count == 1 && !lan.changes.contains { $0.contains(.rebooted) })
    }

    @Test func `a conflict is over when one of the two is gone`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1, boot: 4)], host: 1)
        lan.add([SimulatedLAN.router(1, boot: 5)], host: 2)
        lan.start()
        lan.run(until: .seconds(30))
        lan.hosts[1].isPlugged = false
        lan.run(until: .seconds(100))
        #expect(lan.core.routers.map(\.isConflicted) == [false])
        #expect(lan.core.routers[0].address == .v4(192, 0, 2, 1) && lan.core.routers[0].router.boot == HexToken(4))
    }

    @Test func `the same conflict on two interfaces is one too`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1, boot: 4)], host: 1)
        lan.add([SimulatedLAN.router(1, boot: 5)], host: 1, interface: 3)
        lan.start([SimulatedLAN.link(1), SimulatedLAN.link(2, interface: 3)])
        lan.run(until: .seconds(60))
        #expect(lan.core.routers.map(\.isConflicted) == [true])
    }

    @Test func `an interface that goes takes its routers, one that comes brings them`() {
        var lan = Self.watch()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.add([SimulatedLAN.router(2)], host: 1, interface: 3)
        lan.add([SimulatedLAN.router(1)], host: 9, interface: 3)
        lan.start([SimulatedLAN.link(1), SimulatedLAN.link(2, interface: 3)])
        lan.run(until: .seconds(20))
        lan.unplug(2)
        #expect(lan.lost == [.interfaceGone])
        #expect(lan.core.routers.map(\.router.mac) == [SimulatedLAN.mac(1)])
        #expect(lan.core.routers[0].address == .v4(192, 0, 2, 1) && lan.core.routers[0].alternates.isEmpty)
        lan.plug(SimulatedLAN.link(3, interface: 3))
        lan.run(until: .seconds(21))
        #expect(lan.core.routers.count == 2)
    }

    @Test func `a roam has everybody asked again`() {
        var lan = Self.watch()
        lan.start()
        lan.run(until: .seconds(65))
        let before = lan.probes.count
        lan.core.setLink([SimulatedLAN.mac(5)], now: lan.now)
        lan.run(until: .milliseconds(65_500))
        #expect(lan.probes.count >= before + 2)
    }

    @Test func `a stopped watch says so once`() {
        var lan = Self.watch()
        lan.start()
        lan.core.stop(now: lan.now)
        lan.core.stop(now: lan.now)
        #expect(lan.core.takeEvents() == [.finished(.stopped)])
        #expect(lan.core.deadline == nil)
    }

    @Test func `what a seed gave it gives again`() {
        func trace() -> [String] {
            var lan = Self.watch(seed: 77)
            lan.loss = 0.3
            lan.duplicates = 0.2
            for number in 1...20 { lan.add([SimulatedLAN.router(number)], host: number, announces: true) }
            lan.start()
            lan.run(until: .seconds(40))
            lan.hosts[3].isPlugged = false
            lan.hosts[5].isPlugged = false
            lan.run(until: .seconds(200))
            return lan.events.map { "\($0)" } + lan.probes.map { "\($0.at) \($0.probe.destination)" }
        }
        #expect(trace() == trace())
    }
}
