import SocketCore
import TestSupport
import Testing

/// Keys trusted at sight, where there is no company root.
@Suite("Pinned keys", .timeLimit(.minutes(10)))
struct PinTests {
    private static let mac = VerifyToolTests.mac

    @Test func `a pinned key is recognised, another one is refused by name, and unpinning forgets it`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        func run(_ words: [String]) async throws -> CommandResult {
            try await BuiltTool.run(words + VerifyToolTests.on(port), home: home.path)
        }
        let talking = ["--identity", company.operatorIdentity.certificateFile, "--key", company.operatorIdentity.keyFile]
        let first = try await VerifyToolTests.router(port, Self.mac, company.device, company)
        let pinned = try await run(["trust", "pin", Self.mac, "--json"])
        let line = try JSONValue.parse(pinned.output)
        #expect(pinned.status == 0 && line["mac"] == .string(Self.mac) && line["key"]?.stringValue?.count == 64, "\(pinned.text)")
        let list = try await BuiltTool.run(["trust", "list", "--json"], home: home.path)
        #expect(list.text.contains(#""kind":"pin""#) && list.text.contains(Self.mac))
        let known = try await run(["verify", Self.mac, "--json"])
        #expect(known.text.contains(#""verdict":"pinned""#), "\(known.text)")
        #expect(try await run(["get", Self.mac, "wifi.ssid"] + talking).status == 0)
        first.signal(2)
        _ = try await first.result()

        let other = try await VerifyToolTests.device(company, "01")
        let second = try await VerifyToolTests.router(port, Self.mac, other, company)
        let changed = try await run(["verify", Self.mac, "--json"])
        #expect(changed.text.contains(#""reason":"keyChanged""#) && changed.text.contains("somebody is posing as it"), "\(changed.text)")
        for words in [["get", Self.mac, "wifi.ssid"] + talking, ["trust", "pin", Self.mac]] {
            let refused = try await run(words)
            #expect(refused.status == 2 && refused.errorText.contains("another"), "\(words[0]): \(refused.errorText)")
        }
        #expect(try await BuiltTool.run(["trust", "unpin", Self.mac], home: home.path).status == 0)
        #expect(try await BuiltTool.run(["trust", "unpin", Self.mac], home: home.path).status == 2)
        #expect(try await run(["verify", Self.mac, "--json"]).text.contains(#""reason":"noRoot""#))
        #expect(try await run(["trust", "pin", Self.mac]).status == 0)
        _ = second
    }

    @Test func `nothing is pinned that shows no key, nor where a company root is configured`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let plain = try await VerifyToolTests.router(port, Self.mac, nil, company)
        let words = ["trust", "pin", Self.mac] + VerifyToolTests.on(port)
        let keyless = try await BuiltTool.run(words, home: home.path)
        #expect(keyless.status == 2 && keyless.errorText.contains("shows no key"), "\(keyless.errorText)")
        #expect(try await BuiltTool.run(["trust", "add", company.deviceRoot.certificateFile], home: home.path).status == 0)
        let rooted = try await BuiltTool.run(words, home: home.path)
        #expect(rooted.status == 2 && rooted.errorText.contains("company root"), "\(rooted.errorText)")
        _ = plain
    }
}
