import SocketCore
import Testing

@testable import WifiDiscovery

/// The choice among proven routers, while somebody sends replies in their names.
struct ProvenClaimsTests {
    private static let (attic, cellar) = (MACAddress(2, 0, 0x5E, 0, 0x53, 1), MACAddress(2, 0, 0x5E, 0x40, 0x99, 2))
    private static let mine = MACAddress(2, 0, 0x5E, 0x11, 0x22, 0x33)
    private static let link: Set<MACAddress> = [mine]

    private func router(_ mac: MACAddress, radios: [MACAddress], isConflicted: Bool = false) -> FoundRouter {
        let description = RouterDescription(mac: mac, name: "R", radios: radios.map { .init(bssid: $0) })
        let found = DiscoveredRouter(
            router: description, place: .init(.v4(192, 0, 2, mac.octet(5)), interface: 1), isConflicted: isConflicted)
        return FoundRouter(discovered: found, grading: Grading.of(description, link: Self.link), evidence: Evidence(), interface: "lo")
    }

    private func choice(_ routers: [(router: FoundRouter, certified: Set<MACAddress>)]) -> Selection {
        Selection.choose(among: ProvenClaims.believed(routers, link: Self.link))
    }

    @Test func `without an attacker a radio that a proven router names decides`() {
        let (own, other) = (router(Self.attic, radios: [Self.mine]), router(Self.cellar, radios: []))
        #expect(choice([(own, []), (other, [])]) == Selection(Self.attic, .radio, .certain))
    }

    @Test func `a radio in a certificate decides against what is said in the routers' names`() {
        // The router with my radio, as somebody describes it without; and the other one, described with it.
        for isConflicted in [false, true] {
            let own = router(Self.attic, radios: [], isConflicted: isConflicted)
            let other = router(Self.cellar, radios: [Self.mine], isConflicted: isConflicted)
            #expect(choice([(own, [Self.mine]), (other, [])]) == Selection(Self.attic, .radio, .certain))
        }
    }

    @Test func `where two contradict each other in a router's name and no certificate tells, its radios count for nothing`() {
        let own = router(Self.attic, radios: [], isConflicted: true)
        let other = router(Self.cellar, radios: [Self.mine], isConflicted: true)
        #expect(choice([(own, []), (other, [])]).mac == nil)
        // A clone of the only router that is proven doesn't hide it.
        #expect(choice([(other, [])]) == Selection(Self.cellar, .radio, .certain))
    }

    @Test func `a clone that shows a proven router's MAC doesn't stand in the way of the MAC itself`() {
        let link: Set<MACAddress> = [Self.attic]
        let own = router(Self.attic, radios: [], isConflicted: true)
        let believed = ProvenClaims.believed([(own, [])], link: link)
        #expect(Selection.choose(among: believed) == Selection(Self.attic, .exact, .certain))
    }
}
