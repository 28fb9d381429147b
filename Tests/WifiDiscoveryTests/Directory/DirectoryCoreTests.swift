import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct DirectoryCoreTests {
    static func found(_ number: Int, name: String? = nil, address: IPAddress? = nil, confirmed: Bool = true, tls: Bool = false)
        -> DiscoveredRouter
    {
        var router = SimulatedLAN.router(number)
        if let name { router.name = name }
        router.tls = tls
        return DiscoveredRouter(
            router: router, place: .init(address ?? .v4(192, 0, 2, UInt8(number % 250)), interface: 2), isConfirmed: confirmed)
    }

    static func directory(_ numbers: ClosedRange<Int> = 1...3) -> DirectoryCore {
        var directory = DirectoryCore()
        for number in numbers { directory.merge(found(number), interface: "eth0", now: .zero) }
        return directory
    }

    @Test func `who has proven itself is kept as it says there, and what is said elsewhere in its name moves it and changes nothing else`()
    {
        var directory = DirectoryCore()
        let own = Self.found(1, name: "Attic")
        directory.merge(own, provenAt: own.sessionEndpoint, interface: "eth0", now: .zero)
        let proven = directory[own.router.mac]
        #expect(proven?.router.name == "Attic" && proven?.hasSpokenTLS == true && proven?.address == own.address)
        // Somebody nearer answers in its name; its proof came at another place.
        let forged = Self.found(1, name: "Cellar", address: .v4(192, 0, 2, 200))
        let place = Endpoint(.v4(192, 0, 2, 9), port: 4_000)
        directory.merge(forged, provenAt: place, interface: "eth0", now: .zero)
        let moved = directory[own.router.mac]
        #expect(moved?.router.name == "Attic" && moved?.address == place.address && moved?.router.tcp == place.port)
        // Of one that isn't known yet, that is all there is to know.
        directory.merge(Self.found(2, name: "Hall"), provenAt: place, interface: "eth0", now: .zero)
        #expect(directory[SimulatedLAN.mac(2)]?.router.name == "Hall" && directory[SimulatedLAN.mac(2)]?.address == place.address)
    }

    @Test func `what is written is read again`() throws {
        var directory = Self.directory()
        directory.merge(
            Self.found(4, name: "Küche \"1\"", address: .v6(high: 0xFE80 << 48, low: 1, scope: 7), tls: true), interface: "wlan0",
            now: .zero)
        directory.setCurrent(SimulatedLAN.mac(2))
        let read = try DirectoryCore(bytes: directory.json.encoded())
        #expect(read.current == SimulatedLAN.mac(2))
        #expect(read.all.map(\.presence) == [.remembered, .remembered, .remembered, .remembered])
        let forget = { (router: KnownRouter) in
            var copy = router
            copy.presence = .remembered
            return copy
        }
        #expect(read.all == directory.all.map(forget))
        #expect(read[SimulatedLAN.mac(4)]?.address == .v6(high: 0xFE80 << 48, low: 1, scope: 0))
        #expect(read[SimulatedLAN.mac(4)]?.hasSpokenTLS == true)
    }

    @Test func `a damaged entry costs only itself`() throws {
        let text =
            #"{"format":1,"current":"02:00:5e:00:53:09","routers":[{"mac":"x"},7,{"mac":"02:00:5e:00:53:01","tcp":1,"versions":[1],"address":"192.0.2.1"}]}"#
        let directory = try DirectoryCore(bytes: Array(text.utf8))
        #expect(directory.all.map(\.router.mac) == [SimulatedLAN.mac(1)])
        #expect(directory.current == nil)
    }

    @Test(
        "what is no directory is refused with its reason",
        arguments: [
            ("", DirectoryError.notJSON(.unexpected(offset: 0))), ("[]", .notADirectory), (#"{"format":1}"#, .notADirectory),
            (#"{"format":2,"routers":[]}"#, .newerFormat(2)),
        ])
    func refused(text: String, reason: DirectoryError) {
        #expect(throws: reason) { try DirectoryCore(bytes: Array(text.utf8)) }
        #expect(!reason.description.isEmpty)
    }

    @Test func `a router is found by MAC, name, address and as the current one`() {
        var directory = Self.directory()
        directory.merge(Self.found(9, name: "Router 1"), interface: "eth0", now: .zero)
        func find(_ text: String) -> DirectoryCore.Lookup { directory.find(RouterReference(parsing: text)) }
        #expect(find("current") == .unknown)
        let isSet = directory.setCurrent(SimulatedLAN.mac(2))
        #expect(isSet)
        guard case .found(let current) = find("current"), case .found(let byMAC) = find("2:0:5e:0:53:2"),
            case .found(let byAddress) = find("192.0.2.2:19510")
        else { return #expect(Bool(false)) }
        #expect([current, byMAC, byAddress].map(\.router.mac) == [SimulatedLAN.mac(2), SimulatedLAN.mac(2), SimulatedLAN.mac(2)])
        #expect(find("192.0.2.2:1") == .unknown)
        #expect(find("nobody") == .unknown)
        guard case .ambiguous(let several) = find("ROUTER 1") else { return #expect(Bool(false)) }
        #expect(several.map(\.router.mac) == [SimulatedLAN.mac(9), SimulatedLAN.mac(1)])
        #expect(directory.all.first?.router.mac == SimulatedLAN.mac(2))
    }

    static let references: [(String, RouterReference)] = [
        ("current", .current),
        ("02-00-5E-00-53-01", .mac(SimulatedLAN.mac(1))),
        ("02005e005301", .mac(SimulatedLAN.mac(1))),
        ("192.0.2.1", .address(.v4(192, 0, 2, 1), port: nil)),
        ("192.0.2.1:80", .address(.v4(192, 0, 2, 1), port: 80)),
        ("fe80::1%eth0", .address(.v6(high: 0xFE80 << 48, low: 1, scope: 5), port: nil)),
        ("[fe80::1%eth0]:80", .address(.v6(high: 0xFE80 << 48, low: 1, scope: 5), port: 80)),
        ("[fe80::1%7]", .address(.v6(high: 0xFE80 << 48, low: 1, scope: 7), port: nil)),
        ("2001:db8::1", .address(.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0), port: nil)),
        ("fe80::1%nowhere", .name("fe80::1%nowhere")),
        ("[192.0.2.1]:80", .name("[192.0.2.1]:80")),
        ("192.0.2.1:99999", .name("192.0.2.1:99999")),
        ("[fe80::1]x", .name("[fe80::1]x")),
        ("Attic", .name("Attic")),
        ("", .name("")),
    ]

    @Test("what a person writes is understood", arguments: references)
    func reference(text: String, expected: RouterReference) {
        #expect(RouterReference(parsing: text) { $0 == "eth0" ? 5 : nil } == expected)
    }

    @Test func `an announcement never changes what an answer said`() {
        var directory = Self.directory()
        directory.merge(Self.found(1, name: "forged", address: .v4(192, 0, 2, 66), confirmed: false), interface: "eth0", now: .zero)
        #expect(directory[SimulatedLAN.mac(1)]?.router.name == "router 1")
        directory.merge(Self.found(8, confirmed: false), interface: "eth0", now: .zero)
        #expect(directory[SimulatedLAN.mac(8)]?.isConfirmed == false)
        directory.merge(Self.found(8), interface: "eth0", now: .zero)
        #expect(directory[SimulatedLAN.mac(8)]?.isConfirmed == true)
    }

    @Test func `once seen with TLS is remembered`() {
        var directory = DirectoryCore()
        directory.merge(Self.found(1, tls: true), interface: "eth0", now: .zero)
        directory.merge(Self.found(1, tls: false), interface: "eth0", now: .zero)
        #expect(directory[SimulatedLAN.mac(1)]?.router.tls == false && directory[SimulatedLAN.mac(1)]?.hasSpokenTLS == true)
        directory.merge(Self.found(2), interface: "eth0", now: .zero)
        directory.heard(SimulatedLAN.mac(2), says: "Two", isProven: true, now: .zero)
        #expect(directory[SimulatedLAN.mac(2)]?.hasSpokenTLS == true)
    }

    @Test func `a name that a router has given over a proven connection is changed by no datagram`() throws {
        var directory = DirectoryCore()
        for number in 1...2 { directory.merge(Self.found(number), interface: "eth0", now: .zero) }
        let (attic, cellar) = (SimulatedLAN.mac(1), SimulatedLAN.mac(2))
        directory.heard(attic, says: "Loft", isProven: false, now: .zero)
        #expect(directory[attic]?.provenName == nil && directory[attic]?.router.name != "Loft")
        directory.heard(attic, says: "Attic", isProven: true, now: .zero)
        directory.heard(cellar, says: "Cellar\u{1b}[2J", isProven: true, now: .zero)
        // Somebody gives the one the other's name.
        directory.merge(Self.found(2, name: "Attic"), interface: "eth0", now: .zero)
        directory.merge(Self.found(2, name: "Attic"), provenAt: Endpoint(.v4(192, 0, 2, 66), port: 1), interface: "eth0", now: .zero)
        guard case .found(let found) = directory.find(.name("attic")) else { return #expect(Bool(false), "ambiguous or lost") }
        #expect(found.router.mac == attic)
        let kept = try DirectoryCore(bytes: directory.json.encoded())
        #expect(kept[attic]?.provenName == "Attic" && kept[cellar]?.router.name.hasPrefix("Cellar") == true)
        // Its own word changes it.
        directory.heard(attic, says: "Loft", isProven: true, now: .zero)
        #expect(directory.find(.name("attic")) == .unknown && directory[attic]?.router.name == "Loft")
    }

    @Test func `scans tell who is there and who left`() {
        var directory = DirectoryCore()
        let name = { (_: UInt32) in "eth0" }
        directory.apply(.found(Self.found(1)), interface: name, now: .zero)
        #expect(directory[SimulatedLAN.mac(1)]?.isPresent == true)
        #expect(directory.deadline == Instant.zero + DirectoryCore.presenceLifetime)
        directory.apply(.lost(Self.found(1), .bye), interface: name, now: .zero)
        #expect(directory[SimulatedLAN.mac(1)]?.presence == .left && directory.deadline == nil)
        directory.apply(.updated(Self.found(1, name: "new"), .description), interface: name, now: .zero + .seconds(10))
        directory.expire(now: .zero + .seconds(99))
        #expect(directory[SimulatedLAN.mac(1)]?.isPresent == true)
        directory.expire(now: .zero + .seconds(100))
        #expect(directory[SimulatedLAN.mac(1)]?.presence == .silent && directory[SimulatedLAN.mac(1)]?.router.name == "new")
    }

    @Test func `a full directory gives up the unconfirmed, then the absent, then the oldest, never the current`() {
        var directory = DirectoryCore()
        let last = DirectoryCore.capacity
        for number in 1...last { directory.merge(Self.found(number, confirmed: number != 500), interface: "eth0", now: .zero) }
        directory.setCurrent(SimulatedLAN.mac(1))
        directory.apply(.lost(Self.found(700), .expired), interface: { _ in "" }, now: .zero)
        let evicted = (last + 1...last + 4).map { directory.merge(Self.found($0), interface: "eth0", now: .zero).evicted }
        #expect(evicted == [500, 700, 2, 3].map(SimulatedLAN.mac))
        #expect(directory.all.count == DirectoryCore.capacity)
        // One that was only announced pushes nobody out.
        let announced = directory.merge(Self.found(last + 9, confirmed: false), interface: "eth0", now: .zero)
        #expect(!announced.isKnown)
    }

    @Test func `forgetting the current one leaves none`() {
        var directory = Self.directory()
        let answers = [
            directory.setCurrent(SimulatedLAN.mac(77)), directory.setCurrent(SimulatedLAN.mac(2)), directory.forget(SimulatedLAN.mac(2)),
            directory.forget(SimulatedLAN.mac(2)),
        ]
        #expect(answers == [false, true, true, false])
        #expect(directory.current == nil)
    }
}
