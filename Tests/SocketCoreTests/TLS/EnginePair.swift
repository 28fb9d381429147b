import TestSupport

@testable import SocketCore

/// A client's and a server's engine that talk through memory.
final class EnginePair {
    let client: TLSEngine
    let server: TLSEngine
    private(set) var toClient: [UInt8] = []
    private(set) var toServer: [UInt8] = []
    private(set) var clientError: TLSError?
    private(set) var serverError: TLSError?
    /// At most this many bytes cross at a time.
    var piece = Int.max

    init(client: TLSContext, server: TLSContext, resuming session: TLSSession? = nil) throws(TLSError) {
        self.client = try TLSEngine(client, resuming: session)
        self.server = try TLSEngine(server)
        try self.client.start()
    }

    /// Carries bytes to and fro until nobody has more to say.
    func settle() {
        while client.pendingCount + server.pendingCount > 0 {
            carry(from: client, to: server, &toServer, &serverError)
            carry(from: server, to: client, &toClient, &clientError)
        }
    }

    private func carry(from sender: TLSEngine, to receiver: TLSEngine, _ plaintext: inout [UInt8], _ error: inout TLSError?) {
        var bytes: [UInt8] = []
        sender.drain { span in
            bytes = span.bytes
            return span.byteCount
        }
        var rest = bytes[...]
        while !rest.isEmpty, receiver.state != .ended {
            let part = Array(rest.prefix(piece))
            rest = rest.dropFirst(part.count)
            do throws(TLSError) {
                try receiver.feed(part.span.bytes) { plaintext += $0.bytes }
            } catch let failure {
                error = error ?? failure
            }
        }
    }
}

extension RawSpan {
    /// A copy.
    var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension TLSEngine {
    func write(_ bytes: [UInt8]) throws(TLSError) { try write(bytes.span.bytes) }

    /// Takes everything that waits to be sent.
    func takePending() -> [UInt8] {
        var bytes: [UInt8] = []
        drain { span in
            bytes = span.bytes
            return span.byteCount
        }
        return bytes
    }
}

extension CertificateWorkshop.Issued {
    var identity: TLSIdentity { TLSIdentity(certificates: certificate, key: SecretBytes(key)) }

    /// With certificates sent along.
    func identity(with others: [CertificateWorkshop.Issued]) -> TLSIdentity {
        TLSIdentity(certificates: certificate + others.flatMap(\.certificate), key: SecretBytes(key))
    }

    var asRoot: TLSConfiguration.NamedBytes { TLSConfiguration.NamedBytes(name: "root", bytes: certificate) }
}

/// One company's two roots, a router and an operator, made once for all tests.
struct TestCompany {
    static let enterprise: UInt32 = 32_473
    static let now = JudgedTime(now: WallTime(year: 2_026, month: 12, day: 1), clockIsBehind: false)
    static let deviceName = "URI:urn:dev:org:32473-mac:02005e005301"
    static let operatorName = "URI:urn:dev:org:32473-operator:field-7"

    let workshop: CertificateWorkshop
    let deviceRoot: CertificateWorkshop.Issued
    let operatorRoot: CertificateWorkshop.Issued
    let device: CertificateWorkshop.Issued
    let operatorIdentity: CertificateWorkshop.Issued

    private static let made = Task { try await TestCompany() }
    static var shared: TestCompany { get async throws { try await made.value } }

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
    static let acceptsChain: TLSConfiguration.Judge = { evidence in
        (evidence.findings.first ?? ValidityRules().judge(evidence, at: now)).map { .certificateRefused($0) }
    }

    static let acceptsOperators: TLSConfiguration.Judge = { evidence in
        if case .failure(let error) = OperatorRules(enterprise: enterprise).judge(evidence, at: now) { error } else { nil }
    }

    func clientConfiguration(
        identity: TLSIdentity?, lists: [[UInt8]] = [], judge: @escaping TLSConfiguration.Judge = acceptsChain
    ) -> TLSConfiguration {
        TLSConfiguration(
            role: .client, identity: identity, roots: [deviceRoot.asRoot],
            revocationLists: lists.map { TLSConfiguration.NamedBytes(name: "list", bytes: $0) }, judge: judge)
    }

    func serverConfiguration(
        identity: TLSIdentity? = nil, requiresPeer: Bool = true, lists: [[UInt8]] = [],
        judge: @escaping TLSConfiguration.Judge = acceptsOperators
    ) -> TLSConfiguration {
        TLSConfiguration(
            role: .server(requiresPeer: requiresPeer), identity: identity ?? device.identity,
            roots: requiresPeer ? [operatorRoot.asRoot] : [],
            revocationLists: lists.map { TLSConfiguration.NamedBytes(name: "list", bytes: $0) }, judge: judge)
    }
}
