import SocketCore
import TestSupport
import Testing

/// `wifictl router` on one side and `wifictl verify`, `send` and `get` on the other, with certificates made by the openssl command.
@Suite("TLS between processes", .timeLimit(.minutes(10)))
struct VerifyToolTests {
    static let mac = "02:00:5e:00:53:01"

    static func words(_ identity: CertificateWorkshop.Issued, _ company: TestCompany) -> [String] {
        ["--identity", identity.certificateFile, "--key", identity.keyFile, "--client-root", company.operatorRoot.certificateFile]
    }

    static func router(
        _ port: Int, _ mac: String, _ identity: CertificateWorkshop.Issued?, _ company: TestCompany
    ) async throws -> ChildProcess {
        let tls = identity.map { words($0, company) } ?? []
        return try await Loopback.router(port: port, ["--mac", mac, "--tcp", "0"] + tls).child
    }

    static func trusting(_ company: TestCompany, operatorIdentity: CertificateWorkshop.Issued? = nil) -> [String] {
        ["--root", company.deviceRoot.certificateFile]
            + (operatorIdentity.map { ["--identity", $0.certificateFile, "--key", $0.keyFile] } ?? [])
    }

    static func on(_ port: Int) -> [String] { ["--interface", "lo", "--port", "\(port)"] }

    static func device(
        _ company: TestCompany, _ last: String, by issuer: CertificateWorkshop.Issued? = nil, serial: String = "1000",
        to end: String = "20360101000000Z", extensions: [String] = CertificateWorkshop.deviceExtensions
    ) async throws -> CertificateWorkshop.Issued {
        try await company.workshop.issue(
            "Router \(last)", by: issuer ?? company.deviceRoot, extensions: extensions,
            names: ["URI:urn:dev:org:32473-mac:02005e0053\(last)"], serial: serial, to: end)
    }

    @Test func `who has no certificate to show is told so, and not to trust blindly`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let router = try await Self.router(port, Self.mac, company.device, company)
        let switched = try await BuiltTool.run(["switch", Self.mac] + Self.on(port) + Self.trusting(company))
        #expect(switched.status == 2 && switched.errorText.contains("--identity and --key"), "\(switched.errorText)")
        #expect(!switched.errorText.contains("doesn't prove") && !switched.errorText.contains("--unproven"), "\(switched.errorText)")
        withExtendedLifetime(router) {}
        let plainPort = try Loopback.freePort()
        let plain = try await Self.router(plainPort, "02:00:5e:00:53:02", nil, company)
        let pinned = try await BuiltTool.run(["trust", "pin", "02:00:5e:00:53:02"] + Self.on(plainPort))
        #expect(pinned.status == 2 && pinned.errorText.contains("only a router that speaks TLS can be pinned"), "\(pinned.errorText)")
        withExtendedLifetime(plain) {}
    }

    @Test func `verify tells apart the company's router from all kinds that aren't`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let stranger = try await company.workshop.selfSigned("Somebody else")
        let list = try company.workshop.file(try await company.workshop.revocationList(by: company.deviceRoot, serials: ["2001"]))
        let identities: [(String, CertificateWorkshop.Issued?, verdict: JSONValue, reason: JSONValue)] = [
            ("01", company.device, "company", .null),
            ("02", try await Self.device(company, "02", by: stranger), "foreign", .null),
            ("03", try await Self.device(company, "03", to: "20260601000000Z"), "unproven", "expired"),
            ("04", try await Self.device(company, "04", serial: "2001"), "unproven", "revoked"),
            ("05", company.device, "impostor", .null),
            ("06", try await Self.device(company, "06", extensions: CertificateWorkshop.operatorExtensions), "unproven", "wrongPurpose"),
            ("07", nil, "unproven", "plaintext"),
        ]
        var routers: [ChildProcess] = []
        for (last, identity, _, _) in identities {
            routers.append(try await Self.router(port, "02:00:5e:00:53:\(last)", identity, company))
        }
        let result = try await BuiltTool.run(["verify", "--for", "2s", "--json", "--crl", list] + Self.on(port) + Self.trusting(company))
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        for (last, _, verdict, reason) in identities {
            let line = try #require(lines.first { $0["mac"] == .string("02:00:5e:00:53:\(last)") }, "\(last): \(result.text)")
            #expect(line["verdict"] == verdict && line["reason"] == reason, "\(line.text)")
        }
        let good = try #require(lines.first { $0["verdict"] == "company" })
        #expect(good["certificate"]?["mac"] == .string(Self.mac) && good["certificate"]?["serial"] == "1000", "\(good.text)")
        #expect(lines.last?["type"] == "summary" && lines.last?["routers"] == 7 && lines.last?["company"] == 1)
        #expect(result.status == 1)
        // The one alone is fine, also when it's named.
        let one = try await BuiltTool.run(["verify", Self.mac] + Self.on(port) + Self.trusting(company))
        #expect(one.status == 0, "\(one.text)\(one.errorText)")
        #expect(one.text.contains("company"))
        _ = routers
    }

    @Test func `an operator's messages are delivered; whoever is none is refused by the router, by name`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let router = try await Self.router(port, Self.mac, company.device, company)
        let good = try await BuiltTool.run(
            ["send", Self.mac, "hello", "--json"] + Self.on(port)
                + Self.trusting(company, operatorIdentity: company.operatorIdentity))
        #expect(good.status == 0 && good.text.contains(#""outcome":"delivered""#), "\(good.text)\(good.errorText)")
        _ = try await router.line("message") { $0.contains(#""text":"hello""#) }

        let nobody = try await BuiltTool.run(["send", Self.mac, "intruder"] + Self.on(port) + Self.trusting(company))
        #expect(nobody.status == 2 && nobody.errorText.contains("certificate"), "\(nobody.errorText)")
        _ = try await router.line("refused") { $0.contains(#""type":"refused""#) }

        let stranger = try await company.workshop.selfSigned("Other operators")
        let other = try await company.workshop.issue(
            "Operator", by: stranger, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName])
        let refused = try await BuiltTool.run(
            ["send", Self.mac, "intruder"] + Self.on(port) + Self.trusting(company, operatorIdentity: other))
        #expect(refused.status == 2 && refused.errorText.contains("no session"), "\(refused.errorText)")
        router.signal(2)
        let rest = try await router.result()
        #expect(!rest.text.contains("intruder"))
    }

    @Test func `a router with another device's certificate is sent nothing, unless the exception is named`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let router = try await Self.router(port, "02:00:5e:00:53:02", company.device, company)
        let words = ["02:00:5e:00:53:02", "wifi.ssid"] + Self.on(port) + Self.trusting(company, operatorIdentity: company.operatorIdentity)
        let refused = try await BuiltTool.run(["get"] + words)
        #expect(refused.status == 2 && refused.errorText.contains("impostor"), "\(refused.errorText)")
        let excepted = try await BuiltTool.run(["get", "--unproven"] + words)
        #expect(excepted.status == 0, "\(excepted.errorText)")
        _ = router
    }

    @Test func `a router once seen with TLS that offers none now isn't used, with or without a root`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let get = ["get", Self.mac, "wifi.ssid"] + Self.on(port)
        let trusting = Self.trusting(company, operatorIdentity: company.operatorIdentity)
        let secure = try await Self.router(port, Self.mac, company.device, company)
        let first = try await BuiltTool.run(get + trusting, home: home.path)
        #expect(first.status == 0, "\(first.errorText)")
        secure.signal(2)
        _ = try await secure.result()
        let plain = try await Self.router(port, Self.mac, nil, company)
        for words in [trusting, []] {
            let refused = try await BuiltTool.run(get + words, home: home.path)
            #expect(refused.status == 2 && refused.errorText.contains("though it has offered TLS"), "\(refused.errorText)")
        }
        let excepted = try await BuiltTool.run(get + ["--unproven"], home: home.path)
        #expect(excepted.status == 0, "\(excepted.errorText)")
        _ = plain
    }

    @Test func `what trust keeps is used everywhere, and only roots and lists are kept`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let router = try await Self.router(port, Self.mac, company.device, company)
        let verify = ["verify", Self.mac] + Self.on(port)
        let before = try await BuiltTool.run(verify, home: home.path)
        #expect(before.status == 1 && before.text.contains("noRoot"), "\(before.text)")
        for file in [company.device.certificateFile, company.device.keyFile] {
            let refused = try await BuiltTool.run(["trust", "add", file], home: home.path)
            #expect(refused.status == 2, "\(refused.errorText)")
        }
        let root = try TemporaryDirectory()
        try await runCommand(["cp", company.deviceRoot.certificateFile, root.file("company-root.pem")], mustSucceed: true)
        for _ in 0..<2 {
            let added = try await BuiltTool.run(["trust", "add", root.file("company-root.pem")], home: home.path)
            #expect(added.status == 0, "\(added.errorText)")
        }
        let list = try await BuiltTool.run(["trust", "list", "--json"], home: home.path)
        #expect(list.lines == [#"{"type":"trust","name":"company-root.pem","kind":"root"}"#])
        let proven = try await BuiltTool.run(verify, home: home.path)
        #expect(proven.status == 0, "\(proven.text)\(proven.errorText)")
        let removed = try await BuiltTool.run(["trust", "remove", "company-root.pem"], home: home.path)
        #expect(removed.status == 0)
        #expect(try await BuiltTool.run(["trust", "list"], home: home.path).status == 1)
        _ = router
    }

    @Test func `discover with verdicts chooses the company's router, not the one that is nearer by its own words`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let link = "02:00:5e:00:53:99"
        let tls = Self.words(company.device, company)
        let genuine = try await Loopback.router(port: port, ["--mac", Self.mac, "--bssid", link, "--tcp", "0"] + tls)
        // It claims to be the access point itself, with a certificate that it took from another one.
        let spoofer = try await Loopback.router(port: port, ["--mac", link, "--tcp", "0"] + tls)
        let words = ["--for", "1s", "--bssid", link]
        let credulous = try await Loopback.discover(port: port, words)
        #expect(credulous.selected["mac"] == .string(link))
        // A root is reason enough to ask, with or without --verify.
        let proven = try await Loopback.discover(port: port, words + Self.trusting(company))
        #expect(proven.selected["mac"] == .string(Self.mac) && proven.selected["certainty"] == "certain", "\(proven.selected.text)")
        #expect(Set(proven.routers.compactMap { $0["verdict"]?.stringValue }) == ["company", "impostor"])
        _ = (genuine, spoofer)
    }

    @Test func `of two devices with one MAC, the one that proves it is found, chosen and talked to`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        // Its own, since another test's router with this certificate would be this router.
        let mac = "02:00:5e:00:53:78"
        let genuine = try await Self.device(company, "78")
        let clone = try await Self.device(company, "78", by: try await company.workshop.selfSigned("Cloner"))
        var routers: [ChildProcess] = []
        for (address, identity) in [("127.0.0.1", clone), ("127.0.0.2", genuine)] {
            let words = ["--mac", mac, "--bssid", mac, "--address", address, "--tcp", "\(port)"]
            routers.append(try await Loopback.router(port: port, words + Self.words(identity, company)).child)
        }
        let found = try await Loopback.discover(
            port: port, ["--for", "1s", "--bssid", mac, "--verify"] + Self.trusting(company))
        let router = try #require(found.routers.first)
        #expect(router["conflict"] == true && router["verdict"] == "company", "\(router.text)")
        #expect(found.selected["mac"] == .string(mac) && found.selected["why"] == "exact", "\(found.selected.text)")
        let sent = try await BuiltTool.run(
            ["send", mac, "for the genuine one", "--json"] + Self.on(port)
                + Self.trusting(company, operatorIdentity: company.operatorIdentity))
        #expect(sent.status == 0 && sent.text.contains("\"address\":\"127.0.0.2:\(port)\""), "\(sent.text)\(sent.errorText)")
        _ = try await routers[1].line("message") { $0.contains("for the genuine one") }
    }
}
