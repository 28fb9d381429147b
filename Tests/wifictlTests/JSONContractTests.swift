import Foundation
import SocketCore
import TestSupport
import Testing

/// What every JSON line promises to scripts: strict JSON, the type first, no member twice, and the members that belong to the type.
enum JSONContract {
    /// Members by type; more may be there.
    static let members: [String: [String]] = [
        "router": [
            "mac", "name", "address", "interface", "tcp", "tls", "vendor", "model", "firmware", "boot", "radios", "dialect", "grade",
            "evidence", "conflict", "confirmed", "rttMs",
        ],
        "selected": ["mac", "why", "certainty"], "verdict": ["mac", "address", "verdict", "reason", "detail", "certificate"],
        "session": ["state", "mac", "session", "boot", "attempt"], "accepted": ["msgId", "line"],
        "outcome": ["msgId", "outcome", "sends", "ms"], "message": ["msgId", "version", "len", "body", "text"],
        "frame": ["offset", "msgId", "version", "len", "body"], "error": ["error", "offset"], "step": ["name", "ok", "detail"],
        "fuzz": ["runs", "execsPerSecond", "seed", "findings"], "finding": ["kind", "seed", "input", "file"],
        "bench": ["name", "parameters", "value", "unit", "samples"], "summary": [], "listening": [], "probe": [], "hello": [],
        "receipt": [],
        "closed": [], "property": ["name", "value"], "read": ["stream", "bytes", "file"], "switched": ["mac", "from"],
        "setting": ["name", "value", "source", "place"], "report": ["file", "routers", "bytes"], "link": ["bssids", "unknown"],
        "benchmark": ["name", "summary"], "company": ["directory", "root"], "issued": ["file", "keyFile"], "revoked": ["serial", "crl"],
        "trust": ["name", "kind"], "rule": ["id", "section", "level", "rule"],
    ]
    private static let inner: [String: [String: [String]]] = [
        "router": ["evidence": ["gateway", "neighbour", "onlyResponder"]],
        "verdict": ["certificate": ["serial", "mac", "bssids", "notAfter", "issuer"]],
    ]
    private static let words: [String: [String: Set<String>]] = [
        "selected": ["why": ["exact", "radio", "family", "gateway", "conflict", "none"]],
        "verdict": ["verdict": ["company", "foreign", "impostor", "vouched", "pinned", "unproven"]],
        "session": ["state": ["connecting", "open", "resumed", "lost", "reconnecting", "suspended", "closed"]],
        "outcome": ["outcome": ["delivered", "notSent", "unknown", "cancelled"]],
    ]

    /// Checks each line; gives the types in order.
    @discardableResult
    static func check(_ lines: [String], _ command: String) throws -> [String] {
        try lines.map { line in
            let members = try #require(try JSONValue.parse(Array(line.utf8)).objectValue, "\(command): \(line)")
            // A second reader, in case ours is lenient in the way that our writer is wrong.
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let type = try #require(members.first?.name == "type" ? members.first?.value.stringValue : nil, "\(command): \(line)")
            let names = members.map(\.name)
            #expect(Set(names).count == names.count, "\(command): a member twice: \(line)")
            let wanted = try #require(self.members[type], "\(command): a type that nobody was told of: \(line)")
            let missing = wanted.filter { !names.contains($0) }
            #expect(missing.isEmpty, "\(command): \(type) lacks \(missing): \(line)")
            let value = JSONValue.object(members)
            for (name, parts) in inner[type] ?? [:] {
                guard let object = value[name], object != .null else { continue }
                #expect(parts.allSatisfy { object[$0] != nil }, "\(command): \(type).\(name): \(line)")
            }
            for (name, allowed) in words[type] ?? [:] {
                #expect(value[name]?.stringValue.map(allowed.contains) == true, "\(command): \(type).\(name): \(line)")
            }
            return type
        }
    }
}

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
        _ = try await run(["trust", "add", fleet + "/company-root.pem"], home: home)
        #expect(try await run(["trust", "list"], home: home) == ["trust"])
    }
}
