import SocketCore
import TestSupport
import Testing

/// Where a router has proven whose it is counts, whatever else answers in its name; and names need no session to be judged.
@Suite("Proven places", .timeLimit(.minutes(5)))
struct ProvenPlaceTests {
    private static let mac = "02:00:5e:00:53:7a"
    private static let radio = "02:00:5e:00:55:7a"

    /// A router of the company whose certificate names a radio that its replies don't, and a clone of its MAC in the clear, which comes first by
    /// address.
    private func start(_ company: TestCompany, port: Int) async throws -> [ChildProcess] {
        let names = ["02005e00537a", "02005e00557a"]
        let identity = try await company.workshop.issue(
            "Router", by: company.deviceRoot, extensions: CertificateWorkshop.deviceExtensions,
            names: ["URI:urn:dev:org:32473-mac:\(names[0])", "URI:urn:dev:org:32473-bssid:\(names[1])"])
        let common = ["--mac", Self.mac, "--name", "Loft", "--tcp", "\(port)", "--address"]
        let own = common + ["127.0.0.2"] + VerifyToolTests.words(identity, company)
        return [
            try await Loopback.router(port: port, own).child, try await Loopback.router(port: port, common + ["127.0.0.1"]).child,
        ]
    }

    @Test func `a verdict stands beside the place that has proven it, not beside a clone's`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let routers = try await start(company, port: port)
        let found = try await Loopback.discover(port: port, ["--for", "1s", "--bssid", Self.radio] + VerifyToolTests.trusting(company))
        let router = try #require(found.routers.first)
        #expect(router["verdict"] == "company" && router["address"] == "127.0.0.2" && router["tls"] == true, "\(router.text)")
        #expect(router["conflict"] == true && router["alternates"] == .array(["127.0.0.1"]), "\(router.text)")
        // Its certificate names the access point's radio; its reply doesn't.
        #expect(router["grade"] == "radio" && found.selected["why"] == "radio", "\(router.text)\(found.selected.text)")
        let verified = try await BuiltTool.run(
            ["verify", "--for", "1s", "--json"] + VerifyToolTests.on(port) + VerifyToolTests.trusting(company))
        let line = try JSONValue.parse(Array(try #require(verified.lines.first).utf8))
        #expect(line["verdict"] == "company" && line["address"] == "127.0.0.2" && line["tcp"]?.integerValue == Int64(port), "\(line.text)")
        withExtendedLifetime(routers) {}
    }

    @Test func `all that answer to a name are judged by verify, without a certificate of ours`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let routers = try await start(company, port: port)
        let stranger = try await VerifyToolTests.router(port, "02:00:5e:00:53:7b", nil, company)
        let renamed = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:7c", "--name", "loft"]).child
        let result = try await BuiltTool.run(
            ["verify", "Loft", "--for", "1s", "--json"] + VerifyToolTests.on(port) + VerifyToolTests.trusting(company))
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        let verdicts = lines.filter { $0["type"] == "verdict" }.map {
            "\($0["mac"]?.stringValue ?? "") \($0["verdict"]?.stringValue ?? "")"
        }
        #expect(verdicts.sorted() == ["\(Self.mac) company", "02:00:5e:00:53:7c unproven"], "\(result.text)\(result.errorText)")
        #expect(result.status == 1)
        withExtendedLifetime((routers, stranger, renamed)) {}
    }

    @Test func `a key is pinned by name again and again, without a certificate of ours`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let words = ["--mac", "02:00:5e:00:53:01", "--name", "Cellar"] + VerifyToolTests.words(company.device, company)
        let router = try await Loopback.router(port: port, words).child
        for _ in 1...2 {
            let pinned = try await BuiltTool.run(["trust", "pin", "cellar"] + VerifyToolTests.on(port), home: home.path)
            #expect(pinned.status == 0, "\(pinned.errorText)")
        }
        let judged = try await BuiltTool.run(["verify", "cellar", "--for", "1s"] + VerifyToolTests.on(port), home: home.path)
        #expect(judged.text.contains("pinned"), "\(judged.text)\(judged.errorText)")
        withExtendedLifetime(router) {}
    }

    @Test func `a router whose certificate will fail says so at its start`() async throws {
        let company = try await TestCompany.shared
        func remarks(_ identity: CertificateWorkshop.Issued, _ words: [String]) async throws -> String {
            let (router, _) = try await Loopback.router(port: try Loopback.freePort(), words + VerifyToolTests.words(identity, company))
            router.signal(2)
            return try await router.result().errorText
        }
        let other = try await remarks(company.device, ["--mac", "02:00:5e:00:53:02"])
        #expect(other.contains("controllers will call 02:00:5e:00:53:02 impostor"), "\(other)")
        let expired = try await VerifyToolTests.device(company, "01", to: "20260601000000Z")
        let ended = try await remarks(expired, ["--mac", VerifyToolTests.mac])
        #expect(ended.contains("unproven: the certificate expired on 2026-06-01"), "\(ended)")
        #expect(try await !remarks(company.device, ["--mac", VerifyToolTests.mac]).contains("warning"))
    }
}
