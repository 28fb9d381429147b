import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// Every command's JSON lines, as cli scripts would read them.
@Suite(.timeLimit(.minutes(10)))
struct JSONContractTests {
    private func run(_ words: [String], home: TemporaryDirectory, input: String = "", worst: Int32 = 1) async throws -> [String] {
        let result = try await BuiltTool.run(words + ["--json"], input: Array(input.utf8), home: home.path)
        #expect(result.status <= worst, "\(words): \(result.errorText)")
        return try JSONContract.check(result.lines, words.joined(separator: " "))
    }

    @Test func `commands that talk to routers`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(
            port: port, ["--mac", "02:00:5e:00:53:01", "--bssid", "02:00:5e:00:53:11", "--name", "Attic", "--tcp", "0"], count: 2)
        let (home, mac) = (try TemporaryDirectory(), "02:00:5e:00:53:01")
        let network = ["--interface", "lo", "--port", "\(port)"]
        let look = ["--for", "500ms"] + network
        let found = try await run(["discover", "--bssid", "02:00:5e:00:53:11"] + look, home: home)
        #expect(found == ["router", "router", "selected", "summary"])
        #expect(try await run(["discover", "--verify", "--bssid", "none"] + look, home: home).last == "summary")
        #expect(try await run(["verify"] + look, home: home) == ["verdict", "verdict", "summary"])
        #expect(try await run(["routers"], home: home) == ["router", "router"])
        let sent = try await run(
            ["send", mac, "{\"op\":\"capabilities\"}", "opaque", "--expect-reply", "--timeout", "5s"] + network, home: home)
        #expect(sent.contains("session") && sent.count { $0 == "accepted" } == 2 && sent.contains("message") && sent.last == "summary")
        #expect(try await run(["get", mac, "wifi.ssid"] + network, home: home).contains("property"))
        #expect(try await run(["set", mac, "led=false"] + network, home: home).contains("property"))
        #expect(try await run(["read", mac, "log", "--output", home.file("log")] + network, home: home).contains("read"))
        #expect(try await run(["switch", "02:00:5e:00:53:02"] + look, home: home).contains("switched"))
        let page = try await run(["report", home.file("lan.html"), "--probes", "1", "--bssid", "none"] + look, home: home)
        #expect(page == ["report"])
        child.signal(SIGINT)
        let types = try JSONContract.check(try await child.result().lines, "router")
        #expect(Set(types).isSuperset(of: ["listening", "probe", "hello", "message", "summary"]), "\(types)")
    }

    @Test func `commands that work on this machine alone`() async throws {
        let home = try TemporaryDirectory()
        let frames = try await run(["frames", "--hex"], home: home, input: "00000007 0001 00000001 41  00000008 0001 ffffffff", worst: 2)
        #expect(frames == ["frame", "error"])
        #expect(try await run(["fuzz", "--runs", "200", "--seed", "1", "--artifacts", home.file("a")], home: home).last == "fuzz")
        #expect(try await run(["bench", "--list"], home: home).allSatisfy { $0 == "benchmark" })
        #expect(try await run(["bench", "encode", "--for", "1ms"], home: home).allSatisfy { $0 == "bench" })
        #expect(try await run(["conform", "--list"], home: home).allSatisfy { $0 == "rule" })
        #expect(try await run(["config"], home: home).allSatisfy { $0 == "setting" })
        let fleet = home.file("fleet")
        #expect(try await run(["identity", "new-company", fleet], home: home) == ["company"])
        #expect(try await run(["identity", "issue-device", fleet, "--mac", "02:00:5e:00:53:01"], home: home) == ["issued"])
        #expect(try await run(["identity", "issue-operator", fleet, "--id", "field-7"], home: home) == ["issued"])
        #expect(try await run(["trust", "add", fleet + "/company-root.pem"], home: home) == ["trust"])
        #expect(try await run(["trust", "list"], home: home) == ["trust"])
        #expect(try await run(["trust", "remove", "company-root.pem"], home: home) == ["trust"])
        let device = fleet + "/devices/02005e005301.pem"
        let shown = try await BuiltTool.run(["identity", "show", device, "--json"], home: home.path)
        let several = try await BuiltTool.run(["identity", "show", device, device], home: home.path)
        #expect(several.lines.count { $0 == "\(device):" } == 2, "\(several.text)")
        let line = try #require(shown.lines.first)
        let serial = try #require(try JSONValue.parse(Array(line.utf8))["serial"]?.stringValue)
        #expect(try await run(["identity", "revoke", fleet, serial], home: home) == ["revoked"])
        let files = [device, fleet + "/company-revoked.pem", fleet + "/company-root.key"]
        #expect(try await run(["identity", "show"] + files, home: home) == ["certificate", "revocationList", "privateKey"])
    }
    @Test func `captures and findings`() async throws {
        let home = try TemporaryDirectory()
        for name in ["loopback.pcap", "cooked.pcapng"] {
            let types = try await run(["frames", Repository.path("Fixtures/captures/\(name)")], home: home)
            #expect(Set(types).isSuperset(of: ["frame", "datagram", "stream", "summary"]) && types.last == "summary", "\(types)")
        }
        let router = try ChildProcess(["python3", Repository.path("Tests/Fuzz/broken-router.py"), "wrong-receipt"])
        let target = ["--target", "127.0.0.1:\(try await router.line("port"))", "--runs", "200", "--rate", "1000", "--seed", "21"]
        let found = try await run(
            ["fuzz"] + target + ["--findings", "1", "--patience", "2s", "--artifacts", home.file("findings")], home: home)
        #expect(found == ["finding", "fuzz"])
    }

    @Test func `doctor, and what an agent and a watch print`() async throws {
        let port = try Loopback.freePort()
        let (router, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let home = try TemporaryDirectory()
        let network = ["--interface", "lo", "--port", "\(port)"]
        let checks = try await run(["doctor", "--for", "0s"] + network, home: home)
        #expect(checks.contains("check") && checks.last == "summary", "\(checks)")

        let watch = try ChildProcess([BuiltTool.path, "watch", "Attic", "--json", "--bssid", "none", "--home", home.path] + network)
        _ = try await watch.line("a property") { $0.contains(#""type":"property""#) }
        watch.signal(SIGINT)
        let seen = try JSONContract.check(try await watch.result().lines, "watch")
        #expect(Set(seen).isSuperset(of: ["router", "session", "property"]), "\(seen)")

        #expect(try await run(["agent", "status"], home: home) == ["agent"])
        let agent = try ChildProcess([BuiltTool.path, "agent", "run", "--json", "--home", home.path])
        _ = try await agent.line("listening") { $0.contains(#""type":"listening""#) }
        #expect(try await run(["get", "Attic", "wifi.ssid"] + network, home: home).contains("property"))
        #expect(try await run(["agent", "status"], home: home) == ["agent", "held"])
        #expect(try await run(["agent", "stop"], home: home) == ["agent"])
        #expect(try JSONContract.check(try await agent.result().lines, "agent run") == ["listening"])
        router.signal(SIGINT)
        _ = try await router.result()
    }

    @Test func `rules that a router was held against`() async throws {
        let port = try Loopback.freePort()
        let (router, tcp) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--tcp", "0"])
        let rules = ["--only", "receipt", "--only", "hello-answer", "--only", "discovery-reply"]
        let types = try await run(["conform", "127.0.0.1:\(tcp)", "--port", "\(port)"] + rules, home: try TemporaryDirectory())
        #expect(types == ["rule", "rule", "rule", "summary"])
        router.signal(SIGINT)
        _ = try await router.result()
    }

    @Test func `every type that the tool can print is documented, and no other`() throws {
        var printed: Set<String> = []
        let sources = Repository.root.appending(path: "Sources/wifictl")
        for case let file as URL in try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)) {
            guard file.pathExtension == "swift" else { continue }
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: /json\(\s*"([A-Za-z]+)"/) {
                printed.insert(String(match.1))
            }
        }
        #expect(printed.count > 30 && printed == Set(JSONContract.members.keys))
    }
}
