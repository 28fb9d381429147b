import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct EvidenceTests {
    static let mac = MACAddress(0, 0, 0x5E, 0, 0x53, 1)

    private func router(_ mac: MACAddress, _ address: IPAddress, interface: UInt32 = 2, confirmed: Bool = true) -> DiscoveredRouter {
        DiscoveredRouter(router: RouterDescription(mac: mac), place: .init(address, interface: interface), isConfirmed: confirmed)
    }

    private func facts(_ gateway: IPAddress, _ entries: [(IPAddress, MACAddress)]) -> NetworkFacts {
        NetworkFacts(
            routes: [DefaultRoute(gateway: gateway, interface: 2, metric: 0)],
            neighbours: entries.map { NeighbourEntry(address: $0.0, interface: 2, mac: $0.1, state: 2) })
    }

    @Test func `the gateway and the honest neighbour`() {
        let address = IPAddress.v4(192, 0, 2, 1)
        let evidence = facts(address, [(address, Self.mac)]).judge([router(Self.mac, address)])
        #expect(evidence == [Evidence(gateway: true, neighbour: .match, onlyResponder: true)])
    }

    @Test func `the same address on another interface is another place`() {
        let address = IPAddress.v4(192, 0, 2, 1)
        let evidence = facts(address, [(address, Self.mac)]).judge([router(Self.mac, address, interface: 3)])
        #expect(evidence == [Evidence(gateway: false, neighbour: .unknown, onlyResponder: true)])
    }

    @Test func `link-local IPv6 is found with its scope`() {
        let address = IPAddress.v6(high: 0xFE80 << 48, low: 1, scope: 2)
        let evidence = facts(address, [(address, Self.mac)]).judge([router(Self.mac, address)])
        #expect(evidence[0].gateway && evidence[0].neighbour == .match)
    }

    @Test func `another address behind the source is a mismatch`() {
        let address = IPAddress.v4(192, 0, 2, 7)
        let evidence = facts(.v4(192, 0, 2, 1), [(address, MACAddress(0, 0x11, 0x22, 0x33, 0x44, 0x55))]).judge([router(Self.mac, address)])
        #expect(evidence[0].neighbour == .mismatch)
    }

    @Test func `an extender keeps the lower half or shows one address for all`() {
        let places = [IPAddress.v4(192, 0, 2, 7), .v4(192, 0, 2, 8)]
        let kept = facts(.any, [(places[0], MACAddress(bits: Self.mac.bits | 0x0200_0000_0000))]).judge([router(Self.mac, places[0])])
        #expect(kept[0].neighbour == .repeaterSuspected)
        let extender = MACAddress(0, 0x11, 0x22, 0x33, 0x44, 0x55)
        let routers = [router(Self.mac, places[0]), router(Self.mac.advanced(by: 9), places[1])]
        let shared = facts(.any, places.map { ($0, extender) }).judge(routers)
        #expect(shared.map(\.neighbour) == [.repeaterSuspected, .repeaterSuspected])
    }

    @Test func `entries that nobody answered for say nothing`() {
        let address = IPAddress.v4(192, 0, 2, 7)
        for (mac, state) in [(Self.mac, UInt16(0x20)), (Self.mac, 0x01), (Self.mac, 0x40), (.zero, 0x02)] {
            let facts = NetworkFacts(routes: [], neighbours: [NeighbourEntry(address: address, interface: 2, mac: mac, state: state)])
            #expect(facts.judge([router(Self.mac, address)])[0].neighbour == .unknown)
        }
    }

    @Test func `announced routers don't count as responders`() {
        let routers = [router(Self.mac, .v4(192, 0, 2, 7)), router(Self.mac.advanced(by: 1), .v4(192, 0, 2, 8), confirmed: false)]
        #expect(NetworkFacts().judge(routers).map(\.onlyResponder) == [true, false])
    }
}
