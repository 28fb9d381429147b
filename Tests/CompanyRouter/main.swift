import SocketCore
import WifiDiscovery

// A company's router that admits everybody, for tests: company-router MAC CERTIFICATE KEY. Each line of its input is a new client count;
// its end is the router's. It says when it's ready, and each time that a session's hello comes.
let mac = MACAddress(CommandLine.arguments[1]) ?? MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)
let identity = try TLSIdentity(certificateFile: CommandLine.arguments[2], keyFile: CommandLine.arguments[3])
let responder = RouterResponder(RouterResponder.Options())
var options = SimulatedRouter.Options(
    RouterDescription(mac: mac, name: "Company", radios: [.init(bssid: mac.advanced(by: 0x10), ssid: "Home")]),
    listen: Endpoint(.anyV6, port: DiscoveryDatagram.port))
options.tls = TLSConfiguration(role: .server(requiresPeer: false), identity: identity, roots: []) { _ in nil }
let router = SimulatedRouter(options, responder: responder) { if case .hello = $0 { print("greeted") } }
try await responder.open()
try await router.start()
print("ready")
while let line = readLine() { await router.change("clients", to: .integer(Int64(line) ?? 0)) }
await router.stop()
await responder.close()
