import SocketCore
import TestSupport
import Testing

/// Which routers other commands know by name once a company root is configured.
@Suite("Routers that are kept", .timeLimit(.minutes(10)))
struct KeptRoutersTests {
    private static let (stranger, open) = ("02:00:5e:00:53:66", "02:00:5e:00:53:07")
    private let home: TemporaryDirectory
    private let port: Int

    init() throws {
        home = try TemporaryDirectory()
        port = try Loopback.freePort()
    }

    /// The company's router, a stranger's of the same name, and one that speaks in the clear.
    private func network(_ company: TestCompany) async throws -> [ChildProcess] {
        let theirs = try await VerifyToolTests.device(company, "66", by: try await company.workshop.selfSigned("Somebody else"))
        var routers: [ChildProcess] = []
        for (mac, name, identity) in [
            (VerifyToolTests.mac, "Attic", company.device), (Self.stranger, "Attic", theirs), (Self.open, "Hall", nil),
        ] {
            let tls = identity.map { VerifyToolTests.words($0, company) } ?? []
            routers.append(try await Loopback.router(port: port, ["--mac", mac, "--name", name, "--tcp", "0"] + tls).child)
        }
        return routers
    }

    private func run(_ words: [String], _ company: TestCompany) async throws -> CommandResult {
        let trusting = VerifyToolTests.trusting(company, operatorIdentity: company.operatorIdentity)
        return try await BuiltTool.run(words + VerifyToolTests.on(port) + trusting, home: home.path, within: .seconds(200))
    }

    private func known() async throws -> Set<String> {
        let lines = try jsonLines(try await BuiltTool.run(["routers", "--json"], home: home.path), "router")
        return Set(lines.compactMap { $0["mac"]?.stringValue })
    }

    @Test(arguments: ["discover", "verify"])
    func `the company's alone, so that a stranger's makes no name ambiguous; others once they're named as the exception`(
        command: String
    ) async throws {
        let company = try await TestCompany.shared
        let routers = try await network(company)
        let seen = try await run([command, "--for", "1s", "--json"], company)
        for mac in [VerifyToolTests.mac, Self.stranger, Self.open] { #expect(seen.text.contains(mac), "\(seen.text)\(seen.errorText)") }
        #expect(try await known() == [VerifyToolTests.mac])
        let got = try await run(["get", "Attic", "wifi.ssid", "--timeout", "100s"], company)
        #expect(got.status == 0, "\(got.text)\(got.errorText)")
        let refused = try await run(["get", "Hall", "wifi.ssid"], company)
        #expect(refused.status == 2 && refused.errorText.contains("doesn't prove whose it is"), "\(refused.text)\(refused.errorText)")
        #expect(try await known() == [VerifyToolTests.mac])
        let excepted = try await run(["get", "Hall", "wifi.ssid", "--unproven", "--timeout", "100s"], company)
        #expect(excepted.status == 0, "\(excepted.text)\(excepted.errorText)")
        #expect(try await known() == [VerifyToolTests.mac, Self.open])
        _ = routers
    }

    @Test func `a watch keeps whom it has seen prove it, and one that asks nobody keeps nobody`() async throws {
        let company = try await TestCompany.shared
        let routers = try await network(company)
        let blind = try await run(["discover", "--watch", "--for", "1s", "--json"], company)
        #expect(blind.text.contains(VerifyToolTests.mac), "\(blind.text)\(blind.errorText)")
        #expect(try await known().isEmpty)
        let words = ["watch", "--json"] + VerifyToolTests.on(port) + VerifyToolTests.trusting(company)
        let watch = try ChildProcess([BuiltTool.path] + words, environment: ["WIFICTL_HOME": home.path, "WIFICTL_CONFIG": "/dev/null"])
        var judged: Set<String> = []
        while judged.count < routers.count {
            let line = try await watch.line("a verdict", within: .seconds(300)) { $0.contains(#""type":"verdict""#) }
            judged.insert(try JSONValue.parse(Array(line.utf8))["mac"]?.stringValue ?? "")
        }
        watch.signal(2)
        _ = try await watch.result()
        #expect(try await known() == [VerifyToolTests.mac])
    }
}
