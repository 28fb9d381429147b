import SocketCore
import TestSupport
import Testing

/// The company's life with the tool's own certificates: an operator leaves it while the routers run.
@Suite(.timeLimit(.minutes(5)))
struct RevokedOperatorTests {
    @Test func `a running router admits an operator no longer once its list says so`() async throws {
        let home = try TemporaryDirectory()
        let (fleet, mac) = (home.file("fleet"), "02:00:5e:00:53:79")
        for words in [
            ["new-company", fleet], ["issue-device", fleet, "--mac", mac], ["issue-operator", fleet, "--id", "leaves"],
            ["issue-operator", fleet, "--id", "stays"],
        ] {
            let made = try await BuiltTool.run(["identity"] + words)
            #expect(made.status == 0, "\(made.errorText)")
        }
        let port = try Loopback.freePort()
        let device = fleet + "/devices/02005e005379"
        let router = try await Loopback.router(
            port: port,
            [
                "--mac", mac, "--identity", device + ".pem", "--key", device + ".key", "--client-root", fleet + "/operator-root.pem",
                "--crl", fleet + "/operator-revoked.pem",
            ]
        ).child
        func send(_ text: String, as name: String) async throws -> CommandResult {
            let files = ["--identity", "\(fleet)/operators/\(name).pem", "--key", "\(fleet)/operators/\(name).key"]
            return try await BuiltTool.run(
                ["send", mac, text, "--root", fleet + "/company-root.pem"] + files + VerifyToolTests.on(port))
        }
        #expect(try await send("still here", as: "leaves").status == 0)
        let shown = try await BuiltTool.run(["identity", "show", fleet + "/operators/leaves.pem", "--json"])
        let serial = try #require(try JSONValue.parse(Array(shown.lines[0].utf8))["serial"]?.stringValue)
        #expect(try await BuiltTool.run(["identity", "revoke", fleet, serial]).status == 0)
        let refused = try await send("one more thing", as: "leaves")
        #expect(refused.status == 2 && refused.errorText.contains("revoked"), "\(refused.errorText)")
        #expect(try await send("at work", as: "stays").status == 0)
        router.signal(2)
        let log = try await router.result()
        #expect(log.errorText.contains("operator-revoked.pem has changed: certificates revoked by it now: 1"), "\(log.errorText)")
        // What to do about it fits a controller as well as a router.
        #expect(log.text.contains("has been revoked: don't trust whoever shows it"), "\(log.text)\(log.errorText)")
        #expect(log.text.contains("still here") && log.text.contains("at work") && !log.text.contains("one more"), "\(log.text)")
    }
}
