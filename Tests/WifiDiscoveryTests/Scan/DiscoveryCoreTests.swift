import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct DiscoveryCoreTests {
    static let group = DiscoveryDatagram.groupV4
    static let broadcast = IPAddress.v4(192, 0, 2, 255)

    @Test func `one router is found at once and the scan ends on time`() throws {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.start()
        lan.run(until: .seconds(10))
        #expect(lan.found == [SimulatedLAN.mac(1)])
        #expect(lan.finish?.reason == .timeUp)
        #expect(lan.finish?.at == .zero + .seconds(3))
        let router = try #require(lan.core.routers.first)
        #expect(router.isConfirmed && !router.isConflicted && router.address == .v4(192, 0, 2, 7) && router.interface == 2)
        #expect(router.sessionEndpoint == Endpoint(.v4(192, 0, 2, 7), port: 19510))
        #expect(router.roundTrip == nil, "the answer's time is a wait that the probe asked for")
        #expect(lan.changes.isEmpty && lan.core.counters.stale == 0 && lan.core.counters.invalidCount == 0)
    }

    @Test func `a probe that asks for no wait tells the round trip`() throws {
        var lan = SimulatedLAN(DiscoveryConfiguration(maxWaitMilliseconds: 0))
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.start()
        lan.run(until: .seconds(1))
        #expect(try #require(lan.core.routers.first?.roundTrip) < .milliseconds(20))
    }

    @Test("rounds come at about 0, 0.25, 0.75, 1.75 s and go on every 10 s while watching", arguments: 0..<20 as Range<UInt64>)
    func schedule(seed: UInt64) {
        var lan = SimulatedLAN(DiscoveryConfiguration(duration: nil), seed: seed)
        lan.start()
        lan.run(until: .seconds(60))
        let times = lan.probeTimes(to: Self.group)
        let plain = [0.0, 250, 750, 1750, 3750, 7750, 15_750]
        for (index, expected) in plain.enumerated() { #expect(abs(times[index] - expected) <= expected * 0.1, "seed \(seed), \(times)") }
        for (before, after) in zip(times.dropFirst(6), times.dropFirst(7)) { #expect(after - before >= 9000 && after - before <= 11_000) }
    }

    @Test func `a silent group is helped by broadcast, then by unicast`() {
        var lan = SimulatedLAN(DiscoveryConfiguration(duration: .seconds(5)))
        let gateway = IPAddress.v4(192, 0, 2, 1)
        lan.start([SimulatedLAN.link(1, fallbacks: [gateway])])
        lan.run(until: .seconds(5))
        let (group, broadcast, unicast) = (lan.probeTimes(to: Self.group), lan.probeTimes(to: Self.broadcast), lan.probeTimes(to: gateway))
        #expect(broadcast == Array(group.dropFirst(2)))
        #expect(unicast == Array(group.dropFirst(3)))
    }

    @Test func `a router that multicast doesn't reach is found by broadcast`() {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 7, ignoresGroup: true)
        lan.start()
        lan.run(until: .seconds(3))
        #expect(lan.found == [SimulatedLAN.mac(1)])
    }

    @Test func `one that broadcast doesn't reach either is found by unicast`() {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 7, ignoresGroup: true)
        lan.refuses = { $0.destination.address == Self.broadcast ? "network unreachable" : nil }
        lan.start([SimulatedLAN.link(1, fallbacks: [.v4(192, 0, 2, 7)])])
        lan.run(until: .seconds(3))
        #expect(lan.found == [SimulatedLAN.mac(1)])
    }

    @Test func `the group's refusal brings the broadcast at once`() {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.refuses = { $0.destination.address.isMulticast ? "network unreachable" : nil }
        lan.start()
        #expect(lan.probeTimes(to: Self.broadcast) == [0])
        #expect(lan.core.failedInterfaces == ["eth2": "network unreachable"])
        lan.run(until: .seconds(1))
        #expect(lan.found == [SimulatedLAN.mac(1)])
        #expect(lan.core.failedInterfaces.isEmpty)
    }

    @Test func `asked to, a match by BSSID ends the wait at once`() {
        for link in [SimulatedLAN.mac(2), SimulatedLAN.mac(2 + 0x80_0000)] {
            var lan = SimulatedLAN(DiscoveryConfiguration(link: [link], endsAtMatch: true))
            lan.delay = .milliseconds(1) ... .milliseconds(1)
            lan.add([1, 2, 3].map { SimulatedLAN.router($0) }, host: 7)
            lan.start()
            lan.run(until: .seconds(3))
            #expect(lan.finish?.reason == .matched(SimulatedLAN.mac(2)))
            // One round trip: the owner of the BSSID doesn't spread its reply.
            #expect(lan.finish?.at == .zero + .milliseconds(2))
            #expect(lan.core.deadline == nil && lan.core.takeProbes().isEmpty)
        }
    }

    @Test func `a family doesn't end the wait`() {
        var lan = SimulatedLAN(DiscoveryConfiguration(link: [SimulatedLAN.mac(4)], endsAtMatch: true))
        lan.add([SimulatedLAN.router(2)], host: 7)
        lan.start()
        lan.run(until: .seconds(3))
        #expect(lan.finish?.reason == .timeUp)
    }

    @Test func `asked for one router, only that one answers, and ends the scan`() {
        var lan = SimulatedLAN(
            DiscoveryConfiguration(endsAtMatch: true, mac: SimulatedLAN.mac(2), targets: [Endpoint(.v4(192, 0, 2, 7), port: 19510)]))
        lan.add([1, 2, 3].map { SimulatedLAN.router($0) }, host: 7)
        lan.start()
        lan.run(until: .seconds(3))
        #expect(lan.found == [SimulatedLAN.mac(2)])
        #expect(lan.finish?.reason == .matched(SimulatedLAN.mac(2)))
        #expect(lan.probes.allSatisfy { $0.probe.destination == Endpoint(.v4(192, 0, 2, 7), port: 19510) })
        #expect(lan.hosts[0].group.counters.replies == 1)
    }

    @Test func `targets are asked in place of the group, each by its own family and interface`() {
        let targets = [Endpoint(.v4(192, 0, 2, 9), port: 1), Endpoint(.v6(high: 0xFE80 << 48, low: 9, scope: 3), port: 2)]
        var lan = SimulatedLAN(DiscoveryConfiguration(targets: targets))
        lan.start([
            SimulatedLAN.link(1), SimulatedLAN.link(2, isV4: false), SimulatedLAN.link(3, interface: 3),
            SimulatedLAN.link(4, interface: 3, isV4: false),
        ])
        let asked = lan.probes.map { [$0.probe.link.rawValue, Int($0.probe.destination.port)] }
        #expect(asked == [[1, 1], [3, 1], [4, 2]])
    }

    @Test func `interfaces are scanned side by side and IPv6 keeps its scope`() {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.add([SimulatedLAN.router(2)], host: 7, interface: 3)
        lan.add([SimulatedLAN.router(3)], host: 8, interface: 3, isV4: false)
        lan.start([SimulatedLAN.link(1), SimulatedLAN.link(2, interface: 3), SimulatedLAN.link(3, interface: 3, isV4: false)])
        lan.run(until: .seconds(3))
        #expect(lan.core.routers.map(\.interface) == [2, 3, 3])
        #expect(lan.core.routers[2].address == .v6(high: 0xFE80 << 48, low: 8, scope: 3))
        let groupV6 = DiscoveryDatagram.groupV6.scoped(to: 3)
        #expect(lan.probes.contains { $0.probe.destination.address == groupV6 && $0.probe.link == .init(3) })
    }

    @Test func `without an interface the scan is over at once, and says which failed`() {
        var core = DiscoveryCore(DiscoveryConfiguration(), generator: SeededGenerator(seed: 1))
        core.interfaceFailed("wlan0", reason: "down")
        core.start(links: [], now: .zero)
        #expect(core.takeEvents() == [.finished(.noInterface)])
        #expect(core.failedInterfaces == ["wlan0": "down"])
    }

    @Test func `a failing interface doesn't spoil the others`() {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.refuses = { $0.link == .init(2) ? "no such device" : nil }
        lan.start([SimulatedLAN.link(1), SimulatedLAN.link(2, interface: 3)])
        lan.run(until: .seconds(3))
        #expect(lan.found == [SimulatedLAN.mac(1)])
        #expect(lan.core.failedInterfaces == ["eth3": "no such device"])
        #expect(lan.finish?.at == .zero + .seconds(3))
        // A device that always fails isn't asked in a frenzy.
        #expect(lan.core.counters.sendFailures < 20)
    }

    @Test("1,000 routers are all listed and none twice", arguments: zip([0.0, 0.2], [1, 2] as [UInt64]))
    func thousand(loss: Double, seed: UInt64) {
        var lan = SimulatedLAN(seed: seed)
        lan.loss = loss
        lan.duplicates = 0.05
        lan.add((1...1000).map { SimulatedLAN.router($0) }, host: 7)
        lan.start()
        lan.run(until: .seconds(3))
        #expect(lan.found.count == 1000, "seed \(seed), loss \(loss)")
        #expect(Set(lan.found).count == lan.found.count)
        #expect(lan.core.routers.map(\.router.mac) == (1...1000).map(SimulatedLAN.mac))
        #expect(lan.changes.isEmpty)
        if loss == 0 { #expect(lan.probeTimes(to: Self.group).count <= 5) }
    }

    @Test func `three routers are found through 50 % loss in at least 95 of 100 scans`() {
        var complete = 0
        for seed in 0..<100 as Range<UInt64> {
            var lan = SimulatedLAN(seed: seed)
            lan.loss = 0.5
            for number in 1...3 { lan.add([SimulatedLAN.router(number)], host: number) }
            lan.start()
            lan.run(until: .seconds(3))
            if lan.core.routers.count == 3 { complete += 1 }
        }
        #expect(complete >= 95, "seeds 0 to 99")
    }

    @Test func `routers that answered twice are asked to be silent`() throws {
        var lan = SimulatedLAN()
        lan.add([1, 2].map { SimulatedLAN.router($0) }, host: 7)
        lan.start()
        lan.run(until: .seconds(3))
        #expect(lan.hosts[0].group.counters.replies == 4)
        let last = try #require(lan.probes.last)
        guard case .probe(let probe) = try DiscoveryDatagram.parse(last.probe.bytes.span.bytes).message else { return #expect(Bool(false)) }
        #expect(Set(probe.known) == [SimulatedLAN.mac(1), SimulatedLAN.mac(2)])
    }
}
