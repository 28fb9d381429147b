import SocketCore

extension CertificateWorkshop.Issued {
    /// The identity alone, nothing sent along.
    public var identity: TLSIdentity { TLSIdentity(certificates: certificate, key: SecretBytes(key)) }

    /// With certificates sent along.
    public func identity(with others: [CertificateWorkshop.Issued]) -> TLSIdentity {
        TLSIdentity(certificates: certificate + others.flatMap(\.certificate), key: SecretBytes(key))
    }

    /// As a root to judge by.
    public var asRoot: TLSConfiguration.NamedBytes { TLSConfiguration.NamedBytes(name: "root", bytes: certificate) }
}

/// One company's two roots, a router and an operator, made once for all tests.
public struct TestCompany: Sendable {
    /// RFC 5612's number for examples.
    public static let enterprise: UInt32 = 32_473
    /// When the tests' certificates are judged.
    public static let now = JudgedTime(now: WallTime(year: 2_026, month: 12, day: 1), clockIsBehind: false)
    /// The router's name, as openssl writes it.
    public static let deviceName = "URI:urn:dev:org:32473-mac:02005e005301"
    /// The operator's name, as openssl writes it.
    public static let operatorName = "URI:urn:dev:org:32473-operator:field-7"

    /// Makes more certificates.
    public let workshop: CertificateWorkshop
    /// Judges routers.
    public let deviceRoot: CertificateWorkshop.Issued
    /// Judges controllers.
    public let operatorRoot: CertificateWorkshop.Issued
    /// A router's.
    public let device: CertificateWorkshop.Issued
    /// A controller's.
    public let operatorIdentity: CertificateWorkshop.Issued

    private static let made = Task { try await TestCompany() }
    /// The company, made at the first use.
    public static var shared: TestCompany { get async throws { try await made.value } }

    private init() async throws {
        workshop = try CertificateWorkshop()
        deviceRoot = try await workshop.selfSigned("Example devices")
        operatorRoot = try await workshop.selfSigned("Example operators")
        device = try await workshop.issue(
            "Router 1", by: deviceRoot, extensions: CertificateWorkshop.deviceExtensions, names: [TestCompany.deviceName])
        operatorIdentity = try await workshop.issue(
            "Operator", by: operatorRoot, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName])
    }

    /// What a controller makes of a router: nothing wrong with chain, time and revocation.
    public static let acceptsChain: TLSConfiguration.Judge = { evidence in
        (evidence.findings.first ?? ValidityRules().judge(evidence, at: now)).map { .certificateRefused($0) }
    }

    /// A router's judge: operators of the company.
    public static let acceptsOperators: TLSConfiguration.Judge = { evidence in
        if case .failure(let error) = OperatorRules(enterprise: enterprise).judge(evidence, at: now) { error } else { nil }
    }

    /// A controller's settings.
    public func clientConfiguration(
        identity: TLSIdentity?, lists: [[UInt8]] = [], judge: @escaping TLSConfiguration.Judge = acceptsChain
    ) -> TLSConfiguration {
        TLSConfiguration(
            role: .client, identity: identity, roots: [deviceRoot.asRoot],
            revocationLists: lists.map { TLSConfiguration.NamedBytes(name: "list", bytes: $0) }, judge: judge)
    }

    /// A router's settings.
    public func serverConfiguration(
        identity: TLSIdentity? = nil, requiresPeer: Bool = true, lists: [[UInt8]] = [],
        judge: @escaping TLSConfiguration.Judge = acceptsOperators
    ) -> TLSConfiguration {
        TLSConfiguration(
            role: .server(requiresPeer: requiresPeer), identity: identity ?? device.identity,
            roots: requiresPeer ? [operatorRoot.asRoot] : [],
            revocationLists: lists.map { TLSConfiguration.NamedBytes(name: "list", bytes: $0) }, judge: judge)
    }
}
