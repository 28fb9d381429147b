import SocketCore
import TestSupport
import Testing

/// The lines that README and design begin with, as they stand, on a LAN whose gateway is the company's router.
@Suite("The first lines of a user of the library", .enabled(if: TestLAN.isWanted), .serialized, .timeLimit(.minutes(3)))
struct FirstLinesLANTests {
    @Test("they find the routers, verify and connect to the right one, read a property, hear its changes, and switch to another")
    func run() async throws {
        let company = try TemporaryDirectory()
        let folder = company.path + "/fleet"
        // Another company's certificate for the same MAC.
        let other = company.path + "/other"
        let routers = [(host: "attic", mac: "02:00:5e:00:53:01"), (host: "cellar", mac: "02:00:5e:00:53:02")]
        for folder in [folder, other] {
            try await runCommand([BuiltTool.path, "identity", "new-company", folder], mustSucceed: true)
            for router in routers {
                try await runCommand([BuiltTool.path, "identity", "issue-device", folder, "--mac", router.mac], mustSucceed: true)
            }
        }
        let hosts = [
            TestLAN.Host("attic", mac: routers[0].mac, addresses: ["192.0.2.1/24"]),
            TestLAN.Host("cellar", mac: routers[1].mac, addresses: ["192.0.2.2/24"]),
            TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1"),
        ]
        try await TestLAN.with(hosts) { lan in
            func start(_ host: String, _ mac: String, of folder: String) async throws -> ChildProcess {
                let device = folder + "/devices/" + mac.filter { $0 != ":" }
                let child = try lan.start(
                    host, ["stdbuf", "-oL", BuiltTool.beside("company-router"), mac, device + ".pem", device + ".key"])
                _ = try await child.line("ready") { $0 == "ready" }
                return child
            }
            var running: [ChildProcess] = []
            for router in routers { running.append(try await start(router.host, router.mac, of: folder)) }
            let lines = try lan.start(
                "ctl", ["sh", "-c", "cd \(folder) && exec stdbuf -oL \(BuiltTool.beside("first-lines"))"])
            // In whichever order they answer.
            let macs = Set(routers.map(\.mac))
            for _ in macs { _ = try await lines.line("a router") { line in macs.contains { line.hasPrefix("Company \($0)") } } }
            _ = try await lines.line("the property", within: .seconds(60)) { $0.contains("Home") }
            _ = try await lines.line("the count now", within: .seconds(60)) { $0.contains("clients") && $0.contains("integer(0)") }
            running[0].write(Array("7\n".utf8))
            _ = try await lines.line("the change", within: .seconds(60)) { $0.contains("clients") && $0.contains("integer(7)") }
            // Changes end with the session, and a session ends for good when somebody else is in the router's place.
            running[0].closeInput()
            _ = try await running[0].result()
            let impostor = try await start(routers[0].host, routers[0].mac, of: other)
            _ = try await running[1].line("a session with the other router", within: .seconds(120)) { $0 == "greeted" }
            #expect(try await lines.result(within: .seconds(60)).status == 0)
            for child in [impostor, running[1]] { child.closeInput() }
        }
    }
}
