import SocketCore
import Testing

@testable import WifiDiscovery

/// What a scan does about each kind of answer that isn't as it should be.
@Suite struct DiscoveryTroubleTests {
    private static let place = Endpoint(.v4(192, 0, 2, 7), port: DiscoveryDatagram.port)

    private func started(_ configuration: DiscoveryConfiguration = DiscoveryConfiguration(), isV4: Bool = true) -> SimulatedLAN {
        var lan = SimulatedLAN(configuration)
        lan.start([SimulatedLAN.link(1, isV4: isV4)])
        return lan
    }

    private func reply(_ lan: SimulatedLAN, _ json: (String) -> String) throws -> [UInt8] {
        let (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
        return DiscoveryDatagram.frame(msgId: msgId, body: Array(json(nonce.description).utf8))
    }

    @Test func `a reply that names another address than it came from is reached where it came from`() throws {
        var lan = started()
        let bytes = try reply(lan) {
            #"{"reply":{"nonce":"\#($0)","mac":"02:00:5e:00:53:01","tcp":4711,"versions":[1],"address":"203.0.113.9","ip":"203.0.113.9"}}"#
        }
        lan.inject(bytes, from: Self.place)
        let router = try #require(lan.core.routers.first)
        #expect(router.sessionEndpoint == Endpoint(.v4(192, 0, 2, 7), port: 4711))
        #expect(router.alternates.isEmpty)
    }

    @Test func `IPv6 without a scope gets that of the interface it came in by, or of its socket`() throws {
        for (interface, expected) in [(2, 2), (0, 2), (3, 3)] as [(UInt32, UInt32)] {
            var lan = started(isV4: false)
            let (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
            let bytes = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, SimulatedLAN.router(1))).encoded()
            let source = Endpoint(.v6(high: 0xFE80 << 48, low: 7, scope: interface == 0 ? 2 : 0), port: 1)
            lan.inject(bytes, from: source, interface: interface)
            let router = try #require(lan.core.routers.first)
            #expect(router.sessionEndpoint.address == .v6(high: 0xFE80 << 48, low: 7, scope: expected))
            #expect(router.interface == expected)
        }
    }

    @Test("addresses that no device can have are no router", arguments: ["00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:13:33:33"])
    func placeholders(mac: String) throws {
        var lan = started()
        lan.inject(try reply(lan) { #"{"reply":{"nonce":"\#($0)","mac":"\#(mac)","tcp":1,"versions":[1]}}"# }, from: Self.place)
        lan.inject(DiscoveryDatagram.frame(msgId: 0, body: Array(#"{"bye":{"mac":"\#(mac)"}}"#.utf8)), from: Self.place, link: nil)
        #expect(lan.core.routers.isEmpty && lan.events.isEmpty)
        #expect(lan.core.counters.invalid == [.badValue: 2])
    }

    @Test func `hearing oneself, by group, by broadcast or by loop, disturbs nothing`() throws {
        var lan = started(DiscoveryConfiguration(duration: nil))
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.run(until: .seconds(1))
        let own = Endpoint(SimulatedLAN.controller(2), port: 50_001)
        for probe in lan.probes.map(\.probe.bytes) {
            lan.inject(probe, from: own)
            lan.inject(probe, from: own, link: nil)
        }
        #expect(lan.core.routers.map(\.router.mac) == [SimulatedLAN.mac(1)])
        #expect(lan.core.counters.invalid == [.unexpectedMessage: lan.probes.count])
    }

    @Test func `a router of this very machine answers from an address of its own, and is listed like any other`() throws {
        var lan = started()
        let (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
        let bytes = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, SimulatedLAN.router(1))).encoded()
        lan.inject(bytes, from: Endpoint(SimulatedLAN.controller(2), port: DiscoveryDatagram.port))
        #expect(lan.core.routers.map(\.address) == [SimulatedLAN.controller(2)])
    }

    @Test func `a datagram as long as one may be is read, and one byte more is not`() throws {
        var lan = started()
        let frame = try reply(lan) { #"{"reply":{"nonce":"\#($0)","mac":"02:00:5e:00:53:01","tcp":1,"versions":[1],"pad":""}}"# }
        let spare = DiscoveryDatagram.maximumByteCount - frame.count
        for (extra, count) in [(spare + 1, 0), (spare, 1)] {
            let bytes = try reply(lan) {
                #"{"reply":{"nonce":"\#($0)","mac":"02:00:5e:00:53:01","tcp":1,"versions":[1],"pad":"\#(String(repeating: ".", count: extra))"}}"#
            }
            lan.inject(bytes, from: Self.place)
            #expect(lan.core.routers.count == count, "\(bytes.count) bytes")
        }
    }

    @Test func `two stacks that answer one probe are one router, and reached by IPv4`() throws {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 7)
        lan.add([SimulatedLAN.router(1)], host: 7, isV4: false)
        lan.start([SimulatedLAN.link(1), SimulatedLAN.link(2, isV4: false)])
        lan.run(until: .seconds(3))
        let router = try #require(lan.core.routers.first)
        #expect(lan.core.routers.count == 1 && !router.isConflicted && lan.found.count == 1)
        #expect(router.address == .v4(192, 0, 2, 7) && router.alternates.map(\.address.isV4) == [false])
    }

    @Test func `two units with one MAC are shown as a conflict and never chosen`() throws {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1, boot: 1)], host: 7)
        lan.add([SimulatedLAN.router(1, boot: 2)], host: 8)
        lan.start()
        lan.run(until: .seconds(3))
        let router = try #require(lan.core.routers.first)
        #expect(lan.core.routers.count == 1 && router.isConflicted)
        let candidate = Selection.Candidate(
            mac: router.router.mac, grading: Grading.of(router.router, link: [router.router.mac]),
            evidence: Evidence(gateway: true, neighbour: .match), isConflicted: true)
        #expect(Selection.choose(among: [candidate]) == Selection(nil, .conflict, .none))
    }
}
