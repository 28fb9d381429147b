import FrameCodec
import SocketCore
import WifiDiscovery

/// The routers that one `wifictl router` runs, described before any of them starts.
struct RouterFleet {
    /// All MACs of the lower 24 bits would be 16 million; sockets and memory end earlier.
    static let largestCount = 10_000
    private static let bands = ["2.4", "5", "6", "5"]

    var mac: MACAddress
    var bssids: [MACAddress] = []
    var children: [MACAddress] = []
    var ssid: String?
    var name = "Router"
    var vendor = "Example"
    var model = "Simulated"
    var count = 1
    var address: IPAddress?
    /// The first router's TCP port; nil for the standard one, or another where that is taken.
    var tcp: UInt16?
    var session = SessionConfiguration(role: .router)
    var replyFaults = ReplyFaults()
    var linkFaults = LinkFaults.Options()
    var closeAfter: Int?
    var tls: TLSConfiguration?

    /// The options of the router at `index`, 0..<count: MACs, BSSIDs, ports and seeds counted up.
    func options(_ index: Int) -> SimulatedRouter.Options {
        let radios = bssids.enumerated().map { number, bssid in
            RouterDescription.Radio(
                bssid: bssid.advanced(by: index), ssid: ssid ?? "Home", band: RouterFleet.bands[number % RouterFleet.bands.count])
        }
        let description = RouterDescription(
            mac: mac.advanced(by: index), name: count == 1 ? name : "\(name) \(index + 1)", vendor: vendor, model: model,
            firmware: CommandRegistry.toolVersion, radios: radios, children: children.map { $0.advanced(by: index) })
        var options = SimulatedRouter.Options(description, listen: Endpoint(listeningAddress, port: port(index)))
        options.ssid = ssid
        options.session = session
        options.replyFaults = replyFaults
        options.linkFaults = linkFaults
        options.linkFaults.seed = linkFaults.seed &+ UInt64(index)
        options.closeAfter = closeAfter
        options.tls = tls
        return options
    }

    /// Whether a router whose port is taken listens on any other one.
    var mayMove: Bool { tcp == nil || count > 1 }

    private var listeningAddress: IPAddress { address ?? .anyV6 }

    /// 0, the kernel's choice, beyond the last port.
    private func port(_ index: Int) -> UInt16 {
        let first = tcp ?? DiscoveryDatagram.port
        return first == 0 ? 0 : UInt16(exactly: Int(first) + index) ?? 0
    }
}
