import SocketCore
import TestSupport

/// Routers' certificates of all kinds that a controller has to tell apart, made with the openssl command by docs/protocol.md, section 6.
struct DeviceCases: Sendable {
    /// One router: what it shows, and what has to come of it.
    struct Case: Sendable {
        let name: String
        let mac: String
        let leaf: CertificateWorkshop.Issued
        /// What it sends along.
        var others: [CertificateWorkshop.Issued] = []
        /// Offers TLS 1.2 at most.
        var isOld = false
        let verdict: JSONValue
        var reason: JSONValue = .null
        /// A part of the sentence.
        var words = ""
        /// Where the verifier's clock shows 1970: another reason, if it's another one.
        var isJudgedWithoutClock = true
        var bssids: [String] = []
    }

    let cases: [Case]
    let root: CertificateWorkshop.Issued
    let intermediate: CertificateWorkshop.Issued
    /// The company's list, current, and another one with the same serials whose time is over.
    let freshList: String
    let staleList: String

    private static let made = Task { try await DeviceCases() }
    static var shared: DeviceCases { get async throws { try await made.value } }

    /// `02:00:5e:00:54:07` for 7.
    static func mac(_ number: Int) -> String { "02:00:5e:00:54:" + (number < 16 ? "0" : "") + String(number, radix: 16) }
    static func uri(_ mac: String, _ kind: String = "mac") -> String { "URI:urn:dev:org:32473-\(kind):\(mac.filter { $0 != ":" })" }

    /// Five issuers, the last first, of which each is below the next, and one whose time is over.
    private static func issuersOfNoUse(
        _ workshop: CertificateWorkshop, _ root: CertificateWorkshop.Issued, _ between: CertificateWorkshop.Issued
    ) async throws -> (chain: [CertificateWorkshop.Issued], ended: CertificateWorkshop.Issued) {
        var chain = [between]
        for number in 2...5 {
            let issuer = try await workshop.issue(
                "Between \(number)", by: chain[0], extensions: CertificateWorkshop.authorityExtensions, serial: "077\(number)")
            chain.insert(issuer, at: 0)
        }
        let ended = try await workshop.issue(
            "Ended", by: root, extensions: CertificateWorkshop.authorityExtensions, serial: "0888", from: "20250101000000Z",
            to: "20260201000000Z")
        return (chain, ended)
    }

    private init() async throws {
        let company = try await TestCompany.shared
        let workshop = company.workshop
        let root = company.deviceRoot
        let between = try await workshop.issue("Between", by: root, extensions: CertificateWorkshop.authorityExtensions, serial: "0777")
        let stranger = try await workshop.selfSigned("Somebody else")
        var cases: [Case] = []
        func device(
            by issuer: CertificateWorkshop.Issued? = nil, key: CertificateWorkshop.Key = .p256, serial: String = "1000",
            names: [String]? = nil, extensions: [String] = CertificateWorkshop.deviceExtensions, from start: String = "20260101000000Z",
            to end: String = "20360101000000Z"
        ) async throws -> CertificateWorkshop.Issued {
            let mac = Self.mac(cases.count + 1)
            return try await workshop.issue(
                "Router \(mac.suffix(2))", by: issuer ?? root, key: key, extensions: extensions, names: names ?? [Self.uri(mac)],
                serial: serial, from: start, to: end)
        }
        func add(
            _ name: String, _ leaf: CertificateWorkshop.Issued, _ verdict: JSONValue, _ reason: JSONValue = .null, _ words: String = "",
            change: (inout Case) -> Void = { _ in }
        ) {
            var one = Case(
                name: name, mac: Self.mac(cases.count + 1), leaf: leaf, verdict: verdict, reason: reason, words: words)
            change(&one)
            cases.append(one)
        }
        add("good", try await device(), "company")
        add("behind an intermediate", try await device(by: between), "company") { $0.others = [between] }
        add("leaf only, its issuer not sent", try await device(by: between), "foreign", .null, "intermediate")
        let (chain, ended) = try await Self.issuersOfNoUse(workshop, root, between)
        add("behind five intermediates", try await device(by: chain[0]), "unproven", "badCertificate", "closer to the root") {
            $0.others = chain
        }
        add("behind one that has ended", try await device(by: ended), "unproven", "expired", "Ended expired on 2026-02-01") {
            $0.others = [ended]
        }
        add("unknown issuer", try await device(by: stranger), "foreign", .null, "no configured root")
        let own = CertificateWorkshop.deviceExtensions + ["subjectAltName=\(Self.uri(Self.mac(cases.count + 1)))"]
        add("self-signed", try await workshop.selfSigned("Itself", extensions: own), "foreign", .null, "self-signed")
        add("expired", try await device(from: "20250101000000Z", to: "20260201000000Z"), "unproven", "expired", "expired on 2026-02-01")
        add("not yet valid", try await device(from: "20330101000000Z"), "unproven", "notYetValid", "set the clock") {
            $0.isJudgedWithoutClock = false
        }
        add("revoked", try await device(serial: "2001"), "unproven", "revoked", "revoked on 2026-02-01")
        let controllers = CertificateWorkshop.operatorExtensions
        add("an operator's purpose", try await device(extensions: controllers), "unproven", "wrongPurpose", "serverAuth")
        let signing = [
            "basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature,keyCertSign", "extendedKeyUsage=serverAuth",
        ]
        add("may sign others", try await device(extensions: signing), "unproven", "wrongPurpose", "CA:FALSE")
        add("the MAC of another device", try await device(names: [Self.uri(Self.mac(1))]), "impostor", .null, Self.mac(1))
        add("no MAC", try await device(names: ["DNS:router.example"]), "unproven", "badCertificate", "names no MAC")
        let two = [Self.uri(Self.mac(cases.count + 1)), Self.uri(Self.mac(99))]
        add("two MACs", try await device(names: two), "unproven", "badCertificate", "names 2 MACs")
        let radios = ["02:00:5e:00:55:01", "02:00:5e:00:55:02"]
        let listed = [Self.uri(Self.mac(cases.count + 1))] + radios.map { Self.uri($0, "bssid") } + ["DNS:unknown.example"]
        add("with radios and a name unknown here", try await device(names: listed), "company") { $0.bssids = radios }
        add("P-384", try await device(key: .p384), "company")
        add("RSA-2048", try await device(key: .rsa(2_048)), "company")
        add("TLS 1.2 alone", try await device(), "unproven", "versionRefused", "TLS 1.3") { $0.isOld = true }
        self.cases = cases
        self.root = root
        intermediate = between
        freshList = try workshop.file(try await workshop.revocationList(by: root, serials: ["2001"]))
        staleList = try workshop.file(
            try await workshop.revocationList(by: root, serials: ["2001"], from: "20260101000000Z", to: "20260301000000Z"))
    }
}

extension DeviceCases.Case {
    /// The certificates that it sends, in one PEM file.
    func chainFile(_ workshop: CertificateWorkshop) throws -> String {
        try workshop.file(leaf.certificate + others.flatMap(\.certificate))
    }
}
