import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// Every kind of router that issue lists of mishaps know, with certificates made by the `openssl` command, shown in a real handshake.
struct VerdictTests {
    typealias Issued = CertificateWorkshop.Issued

    private static let mac = MACAddress(0x02, 0x00, 0x5E, 0x00, 0x53, 0x01)
    private static let otherName = "URI:urn:dev:org:32473-mac:02005e005302"
    private let profile = CertificateWorkshop.deviceExtensions

    /// The judgement on a router that shows `identity`, by a controller with those roots and lists.
    private func judgement(
        _ identity: TLSIdentity, roots: [TLSConfiguration.NamedBytes]? = nil, lists: [[UInt8]] = [], record: TrustRecord? = nil,
        validity: ValidityRules = ValidityRules(), at time: JudgedTime = TestCompany.now, mutual: Bool = true
    ) async throws -> Judgement {
        let company = try await TestCompany.shared
        let roots = roots ?? [company.deviceRoot.asRoot]
        let client = TLSConfiguration(
            role: .client, identity: company.operatorIdentity.identity, roots: roots,
            revocationLists: lists.map { .init(name: "list", bytes: $0) }, judge: { _ in nil })
        let pair = try EnginePair(
            client: TLSContext(client),
            server: TLSContext(company.serverConfiguration(identity: identity, requiresPeer: mutual, judge: { _ in nil })))
        pair.settle()
        let attempt: ProofAttempt
        if let evidence = pair.client.evidence {
            attempt = .evidence(evidence)
        } else {
            attempt = .failed(try #require(pair.clientError))
        }
        let judge = VerdictJudge(hasRoot: !roots.isEmpty, enterprise: TestCompany.enterprise, validity: validity)
        return judge.judge(attempt, of: Self.mac, record: record, at: time)
    }

    private func issue(
        _ extensions: [String]? = nil, names: [String] = [TestCompany.deviceName], key: CertificateWorkshop.Key = .p256,
        serial: String = "1000",
        from start: String = "20260101000000Z", to end: String = "20360101000000Z"
    ) async throws -> Issued {
        let company = try await TestCompany.shared
        return try await company.workshop.issue(
            "Router", by: company.deviceRoot, key: key, extensions: extensions ?? profile, names: names, serial: serial, from: start,
            to: end)
    }

    @Test func `a good router is the company's`() async throws {
        let judgement = try await judgement(TestCompany.shared.device.identity)
        #expect(judgement.verdict == .company, "\(judgement.detail)")
        #expect(judgement.certificate?.names().deviceAddresses == [Self.mac.bits])
        #expect(judgement.mayBeSelected(hasRoot: true))
        #expect(judgement.provenSince == WallTime(year: 2_026, month: 1, day: 1))
    }

    @Test(arguments: [CertificateWorkshop.Key.p384, .rsa(2_048)])
    func `P-384 and RSA-2048 are taken`(key: CertificateWorkshop.Key) async throws {
        #expect(try await judgement(issue(key: key).identity).verdict == .company)
    }

    @Test(arguments: [CertificateWorkshop.Key.p521, .ed25519])
    func `other kinds of keys aren't`(key: CertificateWorkshop.Key) async throws {
        #expect(try await judgement(issue(key: key).identity).verdict == .unproven(.badCertificate))
    }

    @Test func `an intermediate may stand between, or be the root itself`() async throws {
        let company = try await TestCompany.shared
        let middle = try await company.workshop.issue(
            "Plant 1", by: company.deviceRoot, extensions: CertificateWorkshop.authorityExtensions)
        let leaf = try await company.workshop.issue("Router", by: middle, extensions: profile, names: [TestCompany.deviceName])
        #expect(try await judgement(leaf.identity(with: [middle])).verdict == .company)
        #expect(try await judgement(leaf.identity(with: [middle, company.deviceRoot])).verdict == .company)
        // Sent alone: the intermediate is missing, unless it's the one configured.
        #expect(try await judgement(leaf.identity).verdict == .foreign)
        #expect(try await judgement(leaf.identity, roots: [middle.asRoot]).verdict == .company)
    }

    @Test func `strangers are foreign: another issuer, self-signed, a forged signature, a leaf that signed`() async throws {
        let company = try await TestCompany.shared
        let workshop = company.workshop
        let stranger = try await workshop.selfSigned("Stranger")
        let theirs = try await workshop.issue("Router", by: stranger, extensions: profile, names: [TestCompany.deviceName])
        #expect(try await judgement(theirs.identity).verdict == .foreign)
        let own = try await workshop.selfSigned("Router", extensions: profile + ["subjectAltName=\(TestCompany.deviceName)"])
        #expect(try await judgement(own.identity).verdict == .foreign)
        // The company's name on a root with another key.
        let namesake = try await workshop.selfSigned("Example devices")
        let forged = try await workshop.issue("Router", by: namesake, extensions: profile, names: [TestCompany.deviceName])
        let judgement = try await judgement(forged.identity)
        #expect(judgement.verdict == .foreign)
        let rogue = try await workshop.issue("Router", by: company.device, extensions: profile, names: [TestCompany.deviceName])
        #expect(try await self.judgement(rogue.identity(with: [company.device])).verdict == .foreign)
    }

    @Test func `expired and not yet valid, by a right clock`() async throws {
        let expired = try await judgement(issue(from: "20250101000000Z", to: "20260101000000Z").identity)
        #expect(expired.verdict == .unproven(.expired))
        #expect(expired.detail.contains("2026-01-01"))
        let early = try await judgement(issue(from: "20270101000000Z").identity)
        #expect(early.verdict == .unproven(.notYetValid))
        #expect(try await judgement(issue(to: "99991231235959Z").identity).verdict == .company)
    }

    @Test func `a clock of 1970 takes a good one for good and an expired one for expired`() async throws {
        let floor = ClockFloor(release: WallTime(year: 2_026, month: 11, day: 30))
        let time = floor.judge(WallTime(seconds: 100))
        #expect(time.clockIsBehind)
        #expect(try await judgement(TestCompany.shared.device.identity, at: time).verdict == .company)
        #expect(try await judgement(issue(from: "20270101000000Z").identity, at: time).verdict == .company)
        let expired = try await judgement(issue(from: "20250101000000Z", to: "20260101000000Z").identity, at: time)
        #expect(expired.verdict == .unproven(.expired))
        #expect(expired.detail.contains("clock is behind"))
    }

    @Test func `an expired intermediate is told, a root's own dates don't matter`() async throws {
        let company = try await TestCompany.shared
        let middle = try await company.workshop.issue(
            "Plant 2", by: company.deviceRoot, extensions: CertificateWorkshop.authorityExtensions, from: "20250101000000Z",
            to: "20260201000000Z")
        let leaf = try await company.workshop.issue("Router", by: middle, extensions: profile, names: [TestCompany.deviceName])
        #expect(try await judgement(leaf.identity(with: [middle])).verdict == .unproven(.expired))
        #expect(try await judgement(leaf.identity, roots: [middle.asRoot]).verdict == .company)
    }

    @Test func `a listed serial is refused by a fresh and by a stale list, and a stale list locks nobody out`() async throws {
        let company = try await TestCompany.shared
        let revoked = try await issue(serial: "2001")
        for (from, to) in [("20261101000000Z", "20261231000000Z"), ("20260201000000Z", "20260301000000Z")] {
            let list = try await company.workshop.revocationList(by: company.deviceRoot, serials: ["2001"], from: from, to: to)
            let judgement = try await judgement(revoked.identity, lists: [list])
            #expect(judgement.verdict == .unproven(.revoked))
            #expect(judgement.detail.contains("2026-02-01"))
            #expect(try await self.judgement(company.device.identity, lists: [list]).verdict == .company)
        }
        // In an older list beside a newer one: still refused.
        let older = try await company.workshop.revocationList(by: company.deviceRoot, serials: ["2001"])
        let newer = try await company.workshop.revocationList(by: company.deviceRoot, serials: [])
        #expect(try await judgement(revoked.identity, lists: [newer, older]).verdict == .unproven(.revoked))
        // By somebody else: no list of ours.
        let namesake = try await company.workshop.selfSigned("Example devices")
        let forged = try await company.workshop.revocationList(by: namesake, serials: ["2001"])
        #expect(try await judgement(revoked.identity, lists: [forged]).verdict == .company)
    }

    @Test func `where revocation data is required, none and a stale list are told`() async throws {
        let company = try await TestCompany.shared
        let strict = ValidityRules(requiresRevocationData: true)
        let stale = try await company.workshop.revocationList(
            by: company.deviceRoot, serials: [], from: "20260101000000Z", to: "20260201000000Z")
        let fresh = try await company.workshop.revocationList(by: company.deviceRoot, serials: [])
        let identity = company.device.identity
        #expect(try await judgement(identity, validity: strict).verdict == .unproven(.revocationDataMissing))
        #expect(try await judgement(identity, lists: [stale], validity: strict).verdict == .unproven(.revocationDataMissing))
        #expect(try await judgement(identity, lists: [fresh], validity: strict).verdict == .company)
    }

    @Test func `an operator's certificate makes no router, whoever issued it`() async throws {
        let company = try await TestCompany.shared
        let byDevices = try await issue(CertificateWorkshop.operatorExtensions)
        #expect(try await judgement(byDevices.identity).verdict == .unproven(.wrongPurpose))
        #expect(try await judgement(company.operatorIdentity.identity, mutual: false).verdict == .foreign)
        // No purpose said at all isn't the purpose wanted.
        #expect(try await judgement(issue(Array(profile.prefix(2))).identity).verdict == .unproven(.wrongPurpose))
        #expect(
            try await judgement(issue(profile, names: [TestCompany.deviceName, TestCompany.operatorName]).identity).verdict
                == .unproven(.badCertificate))
    }

    @Test func `another device's certificate is an impostor's`() async throws {
        let judgement = try await judgement(issue(names: [Self.otherName]).identity)
        #expect(judgement.verdict == .impostor(names: MACAddress(0x02, 0x00, 0x5E, 0x00, 0x53, 0x02)))
        #expect(judgement.detail.contains("02:00:5e:00:53:02"))
        #expect(!judgement.mayBeSelected(hasRoot: true))
    }

    @Test func `no MAC, two MACs, an unreadable MAC, nine radios, another company's name`() async throws {
        let radios = (1...9).map { "URI:urn:dev:org:32473-bssid:02005e00531\($0)" }
        let cases: [([String], String)] = [
            ([], "no MAC"), (["DNS:router.example", "URI:https://example.org"], "no MAC"),
            ([TestCompany.deviceName, Self.otherName], "2 MACs"), (["URI:urn:dev:org:32473-mac:02005e0053"], "can't be read"),
            ([TestCompany.deviceName] + radios, "9 radios"), (["URI:urn:dev:org:1-mac:02005e005301"], "no MAC"),
        ]
        for (names, words) in cases {
            let judgement = try await judgement(issue(names: names).identity)
            #expect(judgement.verdict == .unproven(.badCertificate), "\(names)")
            #expect(judgement.detail.contains(words), "\(judgement.detail)")
        }
        let good =
            [TestCompany.deviceName, "DNS:router.example", "URI:https://example.org", "URI:urn:dev:org:32473-serial:A1"] + radios.prefix(8)
        let judgement = try await judgement(issue(names: good).identity)
        #expect(judgement.verdict == .company, "\(judgement.detail)")
        #expect(judgement.certificate?.names().radioAddresses.count == 8)
    }

    @Test func `without a root nothing is proven, but a trusted key is known again`() async throws {
        let company = try await TestCompany.shared
        let first = try await judgement(company.device.identity, roots: [])
        #expect(first.verdict == .unproven(.noRoot))
        var memory = TrustMemory()
        memory.pin(try #require(first.certificate), for: Self.mac, now: TestCompany.now.now)
        #expect(try await judgement(company.device.identity, roots: [], record: memory[Self.mac]).verdict == .pinned)
        let other = try await judgement(issue().identity, roots: [], record: memory[Self.mac])
        #expect(other.verdict == .unproven(.keyChanged))
        #expect(!other.mayBeSelected(hasRoot: false))
    }
}

/// Somebody between a controller and a genuine router gains nothing.
struct RelayTests {
    private static let mac = MACAddress(0x02, 0x00, 0x5E, 0x00, 0x53, 0x01)

    @Test func `a relay that forwards a genuine router's bytes can neither read nor change them`() async throws {
        let company = try await TestCompany.shared
        let pair = try EnginePair(
            client: TLSContext(company.clientConfiguration(identity: company.operatorIdentity.identity)),
            server: TLSContext(company.serverConfiguration()))
        pair.settle()
        let secret = Array("wifi.password=correct horse".utf8)
        try pair.client.write(secret)
        var forwarded = pair.client.takePending()
        let windows = (0...(forwarded.count - secret.count)).map { Array(forwarded[$0..<($0 + secret.count)]) }
        #expect(!windows.contains(secret))
        forwarded[forwarded.count / 2] ^= 0x20
        #expect(throws: TLSError.tampered) { try pair.server.feed(forwarded.span.bytes) { _ in Issue.record("delivered") } }

        // Its own reply, with its own MAC, to which it relays the genuine router's handshake: the proof names the genuine one.
        let evidence = try #require(pair.client.evidence)
        let relay = MACAddress(0x02, 0x00, 0x5E, 0x00, 0x53, 0x77)
        let judgement = VerdictJudge(hasRoot: true).judge(.evidence(evidence), of: relay, at: TestCompany.now)
        #expect(judgement.verdict == .impostor(names: Self.mac))
    }

    @Test func `a relay that answers with the genuine certificate and another key never gets through`() async throws {
        let company = try await TestCompany.shared
        let stranger = try await company.workshop.selfSigned("Relay", extensions: CertificateWorkshop.deviceExtensions)
        // No TLS library serves a certificate with another's key; so the relay plays a recorded answer of the genuine router.
        let recorded = try EnginePair(
            client: TLSContext(company.clientConfiguration(identity: company.operatorIdentity.identity)),
            server: TLSContext(company.serverConfiguration()))
        let hello = recorded.client.takePending()
        try recorded.server.feed(hello.span.bytes) { _ in }
        let answer = recorded.server.takePending()
        let victim = try TLSEngine(TLSContext(company.clientConfiguration(identity: company.operatorIdentity.identity)))
        try victim.start()
        #expect(throws: TLSError.self) { try victim.feed(answer.span.bytes) { _ in Issue.record("delivered") } }
        #expect(victim.evidence == nil && victim.state == .ended)
        #expect(throws: TLSError.self) {
            try TLSContext(
                company.serverConfiguration(identity: TLSIdentity(certificates: company.device.certificate, key: SecretBytes(stranger.key)))
            )
        }
    }
}
