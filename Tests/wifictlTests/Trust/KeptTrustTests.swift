import Foundation
import TestSupport
import Testing

/// What is trusted goes only when its owner says so.
@Suite(.timeLimit(.minutes(10)))
struct KeptTrustTests {
    private func fleet(_ home: TemporaryDirectory) async throws -> String {
        let fleet = home.file("fleet")
        _ = try await BuiltTool.run(["identity", "new-company", fleet], home: home.path)
        return fleet
    }

    @Test func `a revocation list doesn't take the place of a root of the same name`() async throws {
        let home = try TemporaryDirectory()
        let fleet = try await fleet(home)
        #expect(try await BuiltTool.run(["trust", "add", fleet + "/company-root.pem"], home: home.path).status == 0)
        try FileManager.default.createDirectory(atPath: home.file("lists"), withIntermediateDirectories: true)
        let list = home.file("lists") + "/company-root.pem"
        _ = try await BuiltTool.run(["identity", "issue-device", fleet, "--mac", "02:00:5e:00:53:01", "--json"], home: home.path)
        try FileManager.default.copyItem(atPath: fleet + "/company-revoked.pem", toPath: list)
        let refused = try await BuiltTool.run(["trust", "add", list], home: home.path)
        #expect(refused.status == 2 && refused.errorText.contains("as a root already"), "\(refused.errorText)")
        let kept = try await BuiltTool.run(["trust", "list", "--json"], home: home.path)
        #expect(kept.lines == [#"{"type":"trust","name":"company-root.pem","kind":"root"}"#], "\(kept.text)")
    }

    @Test func `a list that revokes nobody says so`() async throws {
        let home = try TemporaryDirectory()
        let shown = try await BuiltTool.run(["identity", "show", try await fleet(home) + "/company-revoked.pem"], home: home.path)
        #expect(shown.status == 0 && shown.lines.last == "  revoked   nothing", "\(shown.text)\(shown.errorText)")
    }

    @Test func `a list that none of the roots made is told, wherever it's given, and a key that everybody can read`() async throws {
        let home = try TemporaryDirectory()
        let fleet = try await fleet(home)
        _ = try await BuiltTool.run(["identity", "issue-operator", fleet, "--id", "me"], home: home.path)
        let own = try await BuiltTool.run(["trust", "add", fleet + "/company-root.pem", fleet + "/company-revoked.pem"], home: home.path)
        #expect(own.status == 0 && !own.errorText.contains("none of the roots"), "\(own.errorText)")
        // The operators' list lists no router.
        let other = fleet + "/operator-revoked.pem"
        let added = try await BuiltTool.run(["trust", "add", other], home: home.path)
        #expect(added.status == 0 && added.errorText.contains("operator-revoked.pem is by"), "\(added.errorText)")
        let network = ["--interface", "lo", "--port", "\(try Loopback.freePort())", "--for", "100ms"]
        let key = fleet + "/operators/me.key"
        let words = ["verify", "--identity", fleet + "/operators/me.pem", "--key", key] + network
        let quiet = try await BuiltTool.run(words, home: home.path)
        #expect(!quiet.errorText.contains("warning"), "\(quiet.errorText)")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        let told = try await BuiltTool.run(words + ["--crl", other], home: home.path)
        #expect(told.errorText.contains("none of the roots") && told.errorText.contains("chmod o= \(key)"), "\(told.errorText)")
    }

    @Test func `a root that takes another's place by its name is told`() async throws {
        let home = try TemporaryDirectory()
        let file = try await fleet(home) + "/company-root.pem"
        for _ in 1...2 {
            let added = try await BuiltTool.run(["trust", "add", file], home: home.path)
            #expect(added.status == 0 && !added.errorText.contains("took the place"), "\(added.errorText)")
        }
        let next = home.file("next")
        _ = try await BuiltTool.run(["identity", "new-company", next], home: home.path)
        let replaced = try await BuiltTool.run(["trust", "add", next + "/company-root.pem"], home: home.path)
        #expect(replaced.status == 0 && replaced.errorText.contains("took the place of another root"), "\(replaced.errorText)")
    }

    @Test(arguments: [
        ("\"kind\":\"root\"", "\"kind\":\"anchor\"", "trust.files[0]"), ("\"pem\":", "\"der\":", "trust.files[0]"),
        ("\"files\":[", "\"rest\":[", "trust.files"), ("\"routers\":[]},", "\"routers\":{}},", "trust.memory"),
    ])
    func `where what is trusted can't be read whole, no command goes on without it`(good: String, bad: String, what: String) async throws {
        let home = try TemporaryDirectory()
        _ = try await BuiltTool.run(["trust", "add", try await fleet(home) + "/company-root.pem"], home: home.path)
        let state = URL(fileURLWithPath: home.file("state.json"))
        var text = try String(contentsOf: state, encoding: .utf8)
        text = text.replacingOccurrences(of: "\"routers\":[]}}", with: "\"routers\":[]},\"later\":1}")
        let damaged = text.replacingOccurrences(of: good, with: bad)
        try #require(damaged != text, "\(text)")
        try Data(damaged.utf8).write(to: state)
        let network = ["--interface", "lo", "--port", "\(try Loopback.freePort())"]
        for words in [
            ["verify", "--for", "100ms"] + network, ["discover", "--for", "100ms"] + network, ["send", "127.0.0.1:9", "x"] + network,
            ["trust", "list"],
        ] {
            let result = try await BuiltTool.run(words, home: home.path)
            #expect(result.status == 2 && result.errorText.contains("\(what) can't be read"), "\(words): \(result.errorText)")
        }
        // And nothing was written over it.
        #expect(try Data(contentsOf: state) == Data(damaged.utf8))
    }
}
