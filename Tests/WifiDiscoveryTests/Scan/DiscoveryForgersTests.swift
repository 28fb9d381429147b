import SocketCore
import Testing

@testable import WifiDiscovery

/// Floods of forged replies with the right nonce, from one address or from all of the subnet, before the genuine router answers: it is kept.
@Suite struct DiscoveryForgersTests {
    /// The access point that this machine is connected to.
    private static let accessPoint = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x11)
    private static let genuine = MACAddress(0x00, 0x1A, 0x2B, 0x3C, 0x4D, 0x5E)
    private static let home = IPAddress.v4(192, 0, 2, 1)
    /// How much comes before the router's answer: no more than it takes, since without optimisation each reply takes a tenth of a millisecond.
    private enum Flood: Int {
        /// More than a scan keeps of anything.
        case overAll = 17_000
        /// More than a scan hears from one source or from one IPv6 network, and more than all routers.
        case overSource = 9_000
        /// More than all routers, and from sources of which each is still heard: what gives way is decided claim by claim.
        case overRouters = 5_000
    }
    /// What comes after the router's answer.
    private static let more = 2_500

    private var lan: SimulatedLAN
    private let nonce: HexToken
    private let msgId: UInt32

    init() throws {
        try self.init(expected: [])
    }

    private init(expected: Set<MACAddress>) throws {
        var configuration = DiscoveryConfiguration(duration: nil, link: [Self.accessPoint])
        configuration.expected = expected
        lan = SimulatedLAN(configuration)
        lan.start()
        (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
    }

    /// Says that it's the access point, as anybody can.
    private static func router(_ mac: MACAddress, port: UInt16 = 19510, claims: Bool = true) -> RouterDescription {
        RouterDescription(
            mac: mac, name: "r", tcp: port, tls: true, radios: claims ? [.init(bssid: accessPoint, ssid: "Home", band: "5")] : [])
    }

    private static func forged(_ number: Int) -> MACAddress { MACAddress(0x02, 0x66, 0, 0, 0, 0).advanced(by: number) }
    private static func host(_ number: Int) -> IPAddress { .v4(0xC000_0202 + UInt32(number)) }

    private mutating func hear(_ router: RouterDescription, from source: IPAddress) {
        let bytes = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, router)).encoded()
        lan.inject(bytes, from: Endpoint(source, port: 19510))
    }

    private mutating func floodFrom(_ sources: Int, _ flood: Flood, at source: (Int) -> IPAddress = host) {
        hear(0..<flood.rawValue, from: sources, at: source)
    }

    /// Goes on in other names.
    private mutating func floodOnFrom(_ sources: Int, at source: (Int) -> IPAddress = host) {
        hear(Flood.overAll.rawValue..<Flood.overAll.rawValue + Self.more, from: sources, at: source)
    }

    private mutating func hear(_ names: Range<Int>, from sources: Int, at source: (Int) -> IPAddress) {
        var replies = ForgedReplies(Self.router(Self.forged(0)), nonce: nonce, msgId: msgId)
        for number in names {
            lan.inject(replies.reply(Self.forged(number)), from: Endpoint(source((number - names.lowerBound) % sources), port: 19510))
        }
    }

    /// Whether a router is listed with a place at an address.
    private func kept(_ mac: MACAddress = genuine, at address: IPAddress = home) -> Bool {
        guard let router = lan.core.router(mac) else { return false }
        return ([router.place] + router.alternates).contains { $0.address.unscoped == address.unscoped }
    }

    /// As a number: a scene in a failure's text is a megabyte.
    private func expectKept(
        _ scene: DiscoveryForgersTests, _ mac: MACAddress = genuine, at address: IPAddress = home,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isKept = scene.kept(mac, at: address)
        #expect(isKept, sourceLocation: sourceLocation)
    }

    private func expectBounds() {
        let table = lan.core.table
        let (routers, claims, listed) = (table.entries.count, table.ledger.count, table.order.count)
        #expect(routers <= DiscoveryBounds.routers && claims <= DiscoveryBounds.claims && listed == routers)
        let places = table.entries.values.reduce(0) { $0 + $1.records.count }
        #expect(places == claims)
    }

    @Test(arguments: [1, 254, 2_000])
    func `however many addresses flood, a router that answers from its own is kept`(sources: Int) throws {
        var scene = self
        // One source can't use up more than its own share.
        scene.floodFrom(sources, sources == 1 ? .overSource : .overAll)
        scene.hear(Self.router(Self.genuine, claims: false), from: Self.home)
        expectKept(scene)
        scene.floodOnFrom(sources)
        expectKept(scene)
        scene.expectBounds()
        let flood = try #require(scene.lan.core.flood)
        #expect(flood.sources == sources + 1)
    }

    @Test func `what is shared evenly is churned no further`() {
        var scene = self
        scene.floodFrom(254, .overRouters)
        let before = scene.lan.core.counters.displaced
        scene.floodOnFrom(254)
        let churned = scene.lan.core.counters.displaced - before
        #expect(churned <= 254)
    }

    @Test(arguments: [true, false])
    func `a flood that comes from the router's own address too hides none that the kernel knows, or that was proven`(isKnown: Bool) throws {
        var scene = try isKnown ? DiscoveryForgersTests(expected: [Self.genuine]) : self
        if !isKnown {
            let place = NetworkFacts.Place(Self.home, interface: 2)
            scene.lan.core.setFacts(NetworkFacts(gateways: [place], neighbours: [place: Self.genuine]))
        }
        scene.floodFrom(1, .overSource) { _ in Self.home }
        scene.hear(Self.router(Self.genuine, claims: false), from: Self.home)
        expectKept(scene)
        scene.floodOnFrom(10) { $0 == 0 ? Self.home : Self.host($0) }
        expectKept(scene)
        scene.expectBounds()
    }

    @Test func `a flood from the router's own address doesn't hide that it has the access point's MAC`() {
        var scene = self
        scene.floodFrom(1, .overSource) { _ in Self.home }
        scene.hear(Self.router(Self.accessPoint), from: Self.home)
        expectKept(scene, Self.accessPoint)
    }

    @Test func `a flood in any name from the router's own address is answered by asking that address alone`() throws {
        var scene = self
        scene.floodFrom(1, .overSource) { _ in Self.home }
        scene.hear(Self.router(Self.genuine, claims: false), from: Self.home)
        let isHidden = !scene.kept()
        #expect(isHidden)
        let probe = try #require(scene.lan.probes.last { $0.probe.destination.address == Self.home })
        let datagram = try DiscoveryDatagramTests.parse(probe.probe.bytes)
        guard case .probe(let asked) = datagram.message else { return }
        let answer = DiscoveryDatagram(
            msgId: datagram.msgId, .reply(nonce: asked.nonce, Self.router(Self.genuine, claims: false)))
        scene.lan.inject(answer.encoded(), from: Endpoint(Self.home, port: 19510))
        expectKept(scene)
        scene.floodOnFrom(10) { $0 == 0 ? Self.home : Self.host($0) }
        expectKept(scene)
        scene.expectBounds()
    }

    @Test func `forging the right MAC from every address of the subnet leaves the router's own place among them`() {
        var scene = self
        for host in 0..<253 { scene.hear(Self.router(Self.genuine, port: UInt16(1_000 + host)), from: Self.host(host)) }
        scene.hear(Self.router(Self.genuine, port: 7_000), from: Self.home)
        expectKept(scene)
        for host in 0..<253 { scene.hear(Self.router(Self.genuine, port: UInt16(2_000 + host)), from: Self.host(host)) }
        expectKept(scene)
        let subject = RouterVerifier.Subject(scene.lan.foundRouter)
        let isAsked = ([subject.endpoint] + subject.alternates).contains(Endpoint(Self.home, port: 7_000))
        #expect(isAsked)
        scene.expectBounds()
    }

    @Test func `where the right MAC is forged from more addresses than are kept, the one that the kernel knows is`() {
        var scene = self
        for host in 0..<400 { scene.hear(Self.router(Self.genuine), from: .v4(0xC000_0300 | UInt32(host))) }
        let alternates = scene.lan.core.router(Self.genuine)?.alternates.count
        #expect(alternates == DiscoveryBounds.placesPerRouter - 1)
        scene.lan.core.setFacts(NetworkFacts(neighbours: [NetworkFacts.Place(Self.home, interface: 2): Self.genuine]))
        scene.hear(Self.router(Self.genuine), from: Self.home)
        let address = scene.lan.core.router(Self.genuine)?.address
        #expect(address == Self.home)
        scene.expectBounds()
    }

    @Test func `the right MAC and a flood together, from everywhere`() {
        var scene = self
        for host in 0..<253 { scene.hear(Self.router(Self.genuine), from: Self.host(host)) }
        scene.floodFrom(253, .overRouters)
        scene.hear(Self.router(Self.genuine, port: 7_000), from: Self.home)
        scene.floodOnFrom(253)
        expectKept(scene)
        scene.expectBounds()
    }

    @Test func `a host that has a whole IPv6 network hides neither IPv4 routers nor those of the same network`() {
        func member(_ number: Int) -> IPAddress { .v6(high: 0xFE80 << 48, low: UInt64(1_000 + number), scope: 2) }
        var scene = self
        scene.floodFrom(Flood.overSource.rawValue, .overSource, at: member)
        scene.hear(Self.router(Self.genuine), from: Self.home)
        expectKept(scene)
        scene = self
        scene.floodFrom(300, .overSource, at: member)
        let neighbour = IPAddress.v6(high: 0xFE80 << 48, low: 1, scope: 2)
        scene.hear(Self.router(Self.genuine), from: neighbour)
        expectKept(scene, at: neighbour)
        // Many honest ones of one network among flooders of IPv4.
        scene = self
        for number in 0..<100 { scene.hear(Self.router(SimulatedLAN.mac(number)), from: member(number)) }
        scene.floodFrom(253, .overRouters)
        scene.hear(Self.router(Self.genuine), from: neighbour)
        expectKept(scene, at: neighbour)
        let others = (0..<100).filter { scene.kept(SimulatedLAN.mac($0), at: member($0)) }
        #expect(others.count == 100)
        scene.expectBounds()
    }

    @Test func `a router keeps one place in a subnet of thousands of forgers where more speaks for it than its word`() {
        var scene = self
        scene.floodFrom(Flood.overRouters.rawValue, .overRouters) { .v4(0x0A00_0000 + UInt32($0)) }
        let listed = scene.lan.core.routers.count
        #expect(listed == DiscoveryBounds.routers)
        scene.lan.core.setFacts(NetworkFacts(neighbours: [NetworkFacts.Place(Self.home, interface: 2): Self.genuine]))
        scene.hear(Self.router(Self.genuine, claims: false), from: Self.home)
        expectKept(scene)
        scene.expectBounds()
    }

    @Test func `another access point regrades what is kept`() {
        var scene = self
        scene.floodFrom(10, .overRouters)
        scene.lan.core.setLink([Self.genuine], now: scene.lan.now)
        scene.hear(Self.router(Self.genuine), from: Self.host(3))
        expectKept(scene, at: Self.host(3))
        scene.expectBounds()
    }
}
