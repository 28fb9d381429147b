import SocketCore
import TestSupport

/// Controllers' certificates of all kinds that a router has to tell apart, made with the openssl command by docs/protocol.md, section 6.
struct OperatorCases: Sendable {
    /// One controller: what it shows, and a part of the router's reason for turning it away; nil where it's admitted.
    struct Case: Sendable {
        let name: String
        /// Nil shows none.
        let leaf: CertificateWorkshop.Issued?
        var others: [CertificateWorkshop.Issued] = []
        /// Speaks TLS 1.2 at most.
        var isOld = false
        let refusal: String?
        /// Where the router's clock shows 1970, it's admitted all the same.
        var isForgivenWithoutClock = false
        /// What becomes of it where no revocation list is configured.
        var isRevoked = false
    }

    let cases: [Case]
    let freshList: String
    let staleList: String

    private static let made = Task { try await OperatorCases() }
    static var shared: OperatorCases { get async throws { try await made.value } }

    private init() async throws {
        let company = try await TestCompany.shared
        let (workshop, root) = (company.workshop, company.operatorRoot)
        let between = try await workshop.issue("Between", by: root, extensions: CertificateWorkshop.authorityExtensions, serial: "0777")
        let stranger = try await workshop.selfSigned("Other operators")
        func controller(
            by issuer: CertificateWorkshop.Issued? = nil, key: CertificateWorkshop.Key = .p256, serial: String = "1000",
            names: [String] = [TestCompany.operatorName], extensions: [String] = CertificateWorkshop.operatorExtensions,
            from start: String = "20260101000000Z", to end: String = "20360101000000Z"
        ) async throws -> CertificateWorkshop.Issued {
            try await workshop.issue(
                "Operator", by: issuer ?? root, key: key, extensions: extensions, names: names, serial: serial, from: start, to: end)
        }
        let good = try await controller()
        let alone = try await controller(by: between)
        let own = CertificateWorkshop.operatorExtensions + ["subjectAltName=\(TestCompany.operatorName)"]
        let servers = CertificateWorkshop.deviceExtensions
        let signing = [
            "basicConstraints=critical,CA:TRUE", "keyUsage=critical,digitalSignature,keyCertSign", "extendedKeyUsage=clientAuth",
        ]
        cases = [
            Case(name: "good", leaf: good, refusal: nil),
            Case(name: "behind an intermediate", leaf: alone, others: [between], refusal: nil),
            Case(name: "P-384", leaf: try await controller(key: .p384), refusal: nil),
            Case(name: "RSA-2048", leaf: try await controller(key: .rsa(2_048)), refusal: nil),
            Case(name: "none", leaf: nil, refusal: "no certificate"),
            Case(name: "leaf only, its issuer not sent", leaf: alone, refusal: "no configured root"),
            Case(name: "unknown issuer", leaf: try await controller(by: stranger), refusal: "no configured root"),
            Case(name: "self-signed", leaf: try await workshop.selfSigned("Itself", extensions: own), refusal: "self-signed"),
            Case(name: "a router's certificate", leaf: company.device, refusal: "no configured root"),
            Case(
                name: "expired", leaf: try await controller(from: "20250101000000Z", to: "20260201000000Z"), refusal: "has expired"),
            Case(
                name: "not yet valid", leaf: try await controller(from: "20330101000000Z"), refusal: "isn't valid yet",
                isForgivenWithoutClock: true),
            Case(name: "revoked", leaf: try await controller(serial: "3001"), refusal: "has been revoked", isRevoked: true),
            Case(name: "a router's purpose", leaf: try await controller(extensions: servers), refusal: "clientAuth"),
            Case(name: "may sign others", leaf: try await controller(extensions: signing), refusal: "CA:FALSE"),
            Case(name: "no operator", leaf: try await controller(names: ["DNS:phone.example"]), refusal: "names 0 operators"),
            Case(
                name: "two operators", leaf: try await controller(names: [TestCompany.operatorName, TestCompany.operatorName + "-2"]),
                refusal: "names 2 operators"),
            Case(
                name: "a router's name as well", leaf: try await controller(names: [TestCompany.operatorName, TestCompany.deviceName]),
                refusal: "names a device"),
            Case(name: "TLS 1.2 alone", leaf: good, isOld: true, refusal: "TLS 1.3"),
        ]
        freshList = try workshop.file(try await workshop.revocationList(by: root, serials: ["3001"]))
        staleList = try workshop.file(
            try await workshop.revocationList(by: root, serials: ["3001"], from: "20260101000000Z", to: "20260301000000Z"))
    }
}
