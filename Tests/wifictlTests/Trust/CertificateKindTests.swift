import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// What kinds of certificates a router may have, and the manager that finds the right router by them.
@Suite("Kinds of certificates, judged over sockets", .timeLimit(.minutes(10)))
struct CertificateKindTests {
    @Test func `keys, chains and names of all kinds get the verdict that they're due`() async throws {
        let company = try await TestCompany.shared
        let (workshop, root) = (company.workshop, company.deviceRoot)
        let extensions = CertificateWorkshop.deviceExtensions
        func name(_ last: Int) -> String { "URI:urn:dev:org:32473-mac:02005e0053\(last)" }
        func issue(
            _ last: Int, by issuer: CertificateWorkshop.Issued, key: CertificateWorkshop.Key = .p256, _ names: [String]? = nil,
            from start: String = "20260101000000Z", to end: String = "20360101000000Z"
        ) async throws -> CertificateWorkshop.Issued {
            try await workshop.issue(
                "Router", by: issuer, key: key, extensions: extensions, names: names ?? [name(last)], from: start, to: end)
        }
        let intermediate = try await workshop.issue("Factory", by: root, extensions: CertificateWorkshop.authorityExtensions)
        let behind = try await issue(11, by: intermediate)
        let kinds: [(Int, TLSIdentity, Verdict)] = [
            (11, behind.identity(with: [intermediate]), .company),
            (12, try await issue(12, by: root, key: .p384).identity, .company),
            (13, try await issue(13, by: root, key: .rsa(2_048)).identity, .company),
            (14, try await issue(14, by: root, ["URI:urn:dev:org:32473-bssid:02005e005314"]).identity, .unproven(.badCertificate)),
            (15, try await issue(15, by: root, [name(15), name(16)]).identity, .unproven(.badCertificate)),
            (17, try await issue(17, by: root, from: "20900101000000Z", to: "20950101000000Z").identity, .unproven(.notYetValid)),
            (18, try await workshop.selfSigned("Router 18", extensions: extensions + ["subjectAltName=\(name(18))"]).identity, .foreign),
            (11, behind.identity, .foreign),
        ]
        var trust = RouterTrust(roots: [root.asRoot])
        trust.clock = { TestCompany.now.now }
        for (last, identity, verdict) in kinds {
            let listener = SessionListener(SessionConfiguration(role: .router), tls: company.serverConfiguration(identity: identity)) { _ in
            }
            let endpoint = try await listener.open(Endpoint(try #require(IPAddress("127.0.0.1")), port: 0))
            let mac = try #require(MACAddress("02:00:5e:00:53:\(last)"))
            let subject = RouterVerifier.Subject(mac: mac, endpoint: endpoint, offersTLS: true)
            let judgement = await RouterVerifier(trust).verify(subject).judgement
            #expect(judgement.verdict == verdict, "\(last): \(judgement.detail)")
            if last == 17 {
                // A machine that starts in 1970 can't tell what isn't valid yet.
                var young = trust
                young.clock = { WallTime(seconds: 0) }
                #expect(await RouterVerifier(young).verify(subject).judgement.verdict == .company)
            }
            if last == 11, verdict == .foreign {
                // Sent alone, it's proven where its issuer is what is trusted.
                #expect(
                    await RouterVerifier(RouterTrust(roots: [intermediate.asRoot])).verify(subject).judgement.verdict == .company)
            }
            await listener.close()
        }
    }

    @Test func `the manager connects to the company's router though another claims the access point, and to none when none is`()
        async throws
    {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let link = try #require(MACAddress("02:00:5e:00:53:99"))
        let tls = VerifyToolTests.words(company.device, company)
        let spoofer = try await Loopback.router(port: port, ["--mac", "\(link)", "--tcp", "0"] + tls)
        var options = RouterManager.Options()
        options.discovery.interfaces = ["lo"]
        options.discovery.port = UInt16(port)
        options.discovery.link = .addresses([link])
        options.scanTime = .seconds(1)
        options.trust = RouterTrust(roots: [company.deviceRoot.asRoot], identity: company.operatorIdentity.identity)
        let manager = RouterManager(options)
        do {
            try await manager.connect()
            Issue.record("connected to an impostor")
        } catch ManagerError.noneProven(let findings) {
            #expect(findings.map(\.judgement.verdict.name) == ["impostor"])
        }
        let genuine = try await Loopback.router(port: port, ["--mac", VerifyToolTests.mac, "--bssid", "\(link)", "--tcp", "0"] + tls)
        let connection = try await manager.connect()
        #expect("\(connection.mac)" == VerifyToolTests.mac)
        #expect(try await connection.get("wifi.ssid") == "Home")
        await #expect(throws: (any Error).self) { try await manager.switch(to: "\(link)") }
        #expect(await manager.current?.mac == connection.mac)
        await manager.close()
        _ = (spoofer, genuine)
    }
}
