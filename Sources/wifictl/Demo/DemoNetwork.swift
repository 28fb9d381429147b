import SocketCore
import Synchronization
import WifiDiscovery

/// The routers of the demonstration, all on this machine's loopback, and what their applications took.
final class DemoNetwork: Sendable {
    /// The share of receipts that the first router loses.
    static let loss = 0.2
    /// The radio of an access point of another brand, between the user and the first router: no router names it.
    static let childAccessPoint = MACAddress(0x00, 0x00, 0x5E, 0x00, 0x53, 0xC1)

    let port: UInt16
    let responder: RouterResponder
    let routers: [SimulatedRouter]
    let descriptions: [RouterDescription]
    /// The company's root, and who the user is.
    let trust: RouterTrust
    private let taken: TakenLog

    /// What the routers' applications took, body by body.
    final class TakenLog: Sendable {
        private let bodies = Mutex<[MACAddress: [[UInt8]]]>([:])
        let tally = Tally()

        func add(_ body: [UInt8], by mac: MACAddress) {
            bodies.withLock { $0[mac, default: []].append(body) }
            tally.add()
        }

        func bodies(of mac: MACAddress) -> [[UInt8]] { bodies.withLock { $0[mac] ?? [] } }
    }

    /// Makes `count` routers: the first two the company's, then a neighbour's of the same brand, a stranger's, and more of the
    /// company's.
    ///
    /// - Throws: what ``DemoFleets`` throws.
    init(count: Int, seed: UInt64) throws {
        var random = SystemRandomNumberGenerator()
        // Away from the standard port, so that routers of this network and other demonstrations aren't met.
        port = UInt16.random(in: 30_000...60_000, using: &random)
        var options = RouterResponder.Options()
        options.interfaces = ["lo"]
        options.address = .loopback
        options.port = port
        let responder = RouterResponder(options)
        let (taken, descriptions) = (TakenLog(), (0..<count).map(DemoNetwork.describe))
        let fleets = try DemoFleets(descriptions.enumerated().map { ($1, DemoNetwork.owner($0)) })
        trust = fleets.trust
        self.responder = responder
        self.taken = taken
        self.descriptions = descriptions
        routers = descriptions.enumerated().map { index, description in
            var options = SimulatedRouter.Options(description, listen: Endpoint(.loopback, port: 0))
            options.linkFaults.lostReceipts = index == 0 ? DemoNetwork.loss : 0
            options.linkFaults.seed = seed &+ UInt64(index)
            options.tls = fleets.servers[index]
            return SimulatedRouter(options, responder: responder) { event in
                if case .message(_, let message) = event { taken.add(message.body, by: description.mac) }
            }
        }
    }

    private static func owner(_ index: Int) -> DemoFleets.Owner {
        switch index {
        case 2: .neighbour
        case 3: .nobody
        default: .company
        }
    }

    /// What a router has to prove, told whose it is.
    func expected(_ index: Int) -> Verdict {
        switch DemoNetwork.owner(index) {
        case .company: .company
        case .neighbour: .foreign
        case .nobody: .unproven(.plaintext)
        }
    }

    private static func describe(_ index: Int) -> RouterDescription {
        let names = ["Attic", "Cellar", "Next door", "Stranger"]
        let name = index < names.count ? names[index] : "Room \(index - names.count + 1)"
        let isStranger = index == 3
        let (high, low) = (UInt8(index >> 8), UInt8(index & 0xFF))
        let mac = isStranger ? MACAddress(0x00, 0x00, 0x5E, 0x00, 0x54, 0x01) : MACAddress(0x02, 0x00, 0x5E, 0x01, high, low)
        let bssid = isStranger ? MACAddress(0x00, 0x00, 0x5E, 0x00, 0x54, 0x11) : MACAddress(0x02, 0x00, 0x5E, 0x02, high, low)
        return RouterDescription(
            mac: mac, name: name, vendor: isStranger ? "Other" : "Example", model: "AX-2", firmware: "1.4.2",
            radios: [RouterDescription.Radio(bssid: bssid, ssid: index == 2 ? "Neighbours" : "Home", band: "5")])
    }

    /// Starts all routers.
    func start() async throws {
        try await responder.open()
        for router in routers { try await router.start() }
    }

    /// Says goodbye and stops.
    func stop() async {
        for router in routers { await router.stop() }
        await responder.close()
    }

    /// How many messages all applications together took.
    var tally: Tally { taken.tally }

    /// What a router's application took, in order.
    func taken(by mac: MACAddress) -> [[UInt8]] { taken.bodies(of: mac) }

    /// How to look for these routers and no others.
    func discovery(link: MACAddress?) -> RouterDiscovery.Options {
        var options = RouterDiscovery.Options()
        options.interfaces = ["lo"]
        options.port = port
        options.link = .addresses(link.map { [$0] } ?? [])
        return options
    }
}
