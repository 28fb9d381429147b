import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// Routers that are named, where they have to prove themselves: a name is worth what it rests on.
@Suite(.timeLimit(.minutes(10)))
struct NamedRouterTests {
    /// Two of the company's routers, and somebody on the network without a key.
    private struct Scene {
        let company: TestCompany
        let fleet: TestFleet
        let stranger: RouterResponder

        init() async throws {
            let company = try await TestCompany.shared
            var identities: [TLSIdentity] = []
            for number in 1...2 {
                let name = "URI:urn:dev:org:32473-mac:02005e00530\(number)"
                let made = try await company.workshop.issue(
                    "Router \(number)", by: company.deviceRoot, extensions: CertificateWorkshop.deviceExtensions, names: [name])
                identities.append(made.identity)
            }
            let shown = identities
            fleet = try await TestFleet(3) { index, options in
                guard index < 2 else { return }
                options.tls = company.serverConfiguration(identity: shown[index], requiresPeer: false)
            }
            self.company = company
            var settings = RouterResponder.Options()
            settings.interfaces = ["lo"]
            settings.address = IPAddress("127.0.0.9")
            settings.port = fleet.port
            stranger = RouterResponder(settings)
            try await stranger.open()
        }

        func manager(home: String? = nil, _ change: (inout RouterManager.Options) -> Void = { _ in }) -> RouterManager {
            fleet.manager {
                $0.home = home
                $0.trust = RouterTrust(roots: [company.deviceRoot.asRoot])
                $0.trust.clock = { TestCompany.now.now }
                change(&$0)
            }
        }

        func stop() async {
            await stranger.close()
            await fleet.stop()
        }
    }

    /// Of two descriptions that contradict each other the one with the smaller boot is shown.
    @Test(arguments: [(HexToken(0), true), (HexToken(.max), false)])
    func `a forged reply that gives one router another's name moves no command to it`(boot: HexToken, isShown: Bool) async throws {
        let scene = try await Scene()
        let home = try TemporaryDirectory()
        // The second router, as the stranger tells it, has the first one's name; nobody knows the true ones yet.
        await scene.fleet.routers[0].stop()
        await scene.stranger.add(RouterDescription(mac: scene.fleet.macs[1], name: "Room 1", tcp: 9, tls: true, boot: boot))
        let manager = scene.manager(home: home.path)
        await #expect { try await manager.connect(to: "Room 1") } throws: { error in
            switch error as? ManagerError {
            case .otherName("Room 1", let mac, found: "Room 2")?: isShown && mac == scene.fleet.macs[1]
            case .unknownRouter?: !isShown
            default: false
            }
        }
        #expect(scene.fleet.taken(1).isEmpty)
        // By its own name it's found, and by its MAC.
        #expect(try await manager.connect(to: "Room 2").mac == scene.fleet.macs[1])
        #expect(try RouterDirectory(home: home.path).load()[scene.fleet.macs[1]]?.provenName == "Room 2")
        await manager.close()
        await scene.stop()
    }

    @Test func `a router that forged replies call otherwise is found by the name that it gives itself`() async throws {
        let scene = try await Scene()
        await scene.stranger.add(RouterDescription(mac: scene.fleet.macs[0], name: "Room 2", tcp: 9, tls: true, boot: HexToken(0)))
        await scene.stranger.add(RouterDescription(mac: scene.fleet.macs[1], name: "Attic", tcp: 9, tls: true, boot: HexToken(0)))
        // Nobody is called Room 1 by any reply that counts; Room 2 is the first one's name by the stranger's word.
        for (index, name) in [(0, "Room 1"), (1, "Room 2")] {
            let manager = scene.manager(home: try TemporaryDirectory().path)
            #expect(try await manager.connect(to: name).mac == scene.fleet.macs[index], "\(name)")
            await manager.close()
        }
        // Who is only called that isn't found by it.
        let manager = scene.manager(home: try TemporaryDirectory().path)
        await #expect { try await manager.connect(to: "Attic") } throws: { error in
            if case .otherName("Attic", scene.fleet.macs[1], found: "Room 2")? = error as? ManagerError { true } else { false }
        }
        await manager.close()
        await scene.stop()
    }

    @Test func `of two that are proven and called the same by datagrams, the one that calls itself that is meant`() async throws {
        let scene = try await Scene()
        let home = try TemporaryDirectory()
        await scene.stranger.add(RouterDescription(mac: scene.fleet.macs[1], name: "Room 1", tcp: 9, tls: true))
        let manager = scene.manager(home: home.path)
        #expect(try await manager.connect(to: "Room 1").mac == scene.fleet.macs[0])
        await manager.close()
        // Also where the list of known routers was written by the stranger's word.
        let swapped = try TemporaryDirectory()
        for (index, name) in [(0, "Room 2"), (1, "Room 1")] {
            let description = RouterDescription(mac: scene.fleet.macs[index], name: name, tcp: 9, tls: true)
            try RouterDirectory(home: swapped.path).update {
                $0.merge(DiscoveredRouter(router: description, place: .init(.loopback, interface: 1)), interface: "lo", now: .zero)
            }
        }
        let next = scene.manager(home: swapped.path)
        #expect(try await next.connect(to: "Room 1").mac == scene.fleet.macs[0])
        await next.close()
        await scene.stop()
    }

    @Test func `names that nobody proves make no proven router's name ambiguous`() async throws {
        let scene = try await Scene()
        for number in 1...3 {
            let mac = MACAddress(0x02, 0, 0x5E, 0, 0x54, UInt8(number))
            await scene.stranger.add(RouterDescription(mac: mac, name: "Room 1", tcp: 9, tls: number != 3))
        }
        let home = try TemporaryDirectory()
        let manager = scene.manager(home: home.path)
        #expect(try await manager.connect(to: "Room 1").mac == scene.fleet.macs[0])
        await manager.close()
        // Nor later, when it's known.
        let next = scene.manager(home: home.path)
        #expect(try await next.connect(to: "room 1").mac == scene.fleet.macs[0])
        await next.close()
        await scene.stop()
    }

    @Test func `the exception is for the router that is named, and not for the one that fail-over finds`() async throws {
        let scene = try await Scene()
        let manager = scene.manager { $0.allowsUnproven = true }
        let open = scene.fleet.macs[2]
        _ = try await manager.connect(to: "\(scene.fleet.macs[0])")
        await #expect(throws: (any Error).self) { try await manager.move(to: "\(open)", unsettled: .keep, exception: false) }
        #expect(await manager.current?.mac == scene.fleet.macs[0])
        #expect(scene.fleet.taken(2).isEmpty)
        // Named, it's moved to.
        #expect(try await manager.switch(to: "\(open)").mac == open)
        await manager.close()
        await scene.stop()
    }
}
