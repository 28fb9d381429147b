/// Whom a router admits (protocol.md, section 6): a certificate that chains to the operators' root, is meant for clients, is valid and not
/// revoked, and names exactly one operator and no device.
public struct OperatorRules: Equatable, Sendable {
    /// The company's private enterprise number; nil takes names given by any.
    public var enterprise: UInt32?
    /// Time and revocation.
    public var validity: ValidityRules

    /// Rules as given.
    public init(enterprise: UInt32? = nil, validity: ValidityRules = ValidityRules()) {
        self.enterprise = enterprise
        self.validity = validity
    }

    /// The admitted operator's id, or why nobody is admitted.
    public func judge(_ evidence: PeerEvidence, at time: JudgedTime) -> Result<String, TLSError> {
        guard let leaf = evidence.leaf else { return .failure(.noCertificate) }
        if let finding = evidence.findings.first { return .failure(.certificateRefused(finding)) }
        if let finding = validity.judge(evidence, at: time) { return .failure(.certificateRefused(finding)) }
        guard leaf.extendedKeyUsage?.contains(.client) == true, leaf.keyUsage?.contains(.digitalSignature) != false else {
            return .failure(.certificateRefused(ChainFinding(.wrongPurpose, depth: 0)))
        }
        guard !evidence.mayPeerSign else { return .failure(.certificateRefused(ChainFinding(.maySign, depth: 0))) }
        guard leaf.key.isAccepted else { return .failure(.certificateRefused(ChainFinding(.weakKey, depth: 0))) }
        let names = leaf.names(enterprise: enterprise)
        if let problem = names.problem { return .failure(.refused(problem.sentence)) }
        guard names.deviceAddresses.isEmpty else {
            return .failure(.refused("the certificate names a device: a router's certificate admits no controller"))
        }
        guard names.operators.count == 1 else {
            return .failure(
                .refused(
                    "the certificate names \(names.operators.count) operators and exactly one is wanted: "
                        + "issue it with one urn:dev:org:<PEN>-operator:<id>"))
        }
        return .success(names.operators[0])
    }
}

extension CertifiedNames.Problem {
    /// What is wrong and what to do, as one clause.
    public var sentence: String {
        switch self {
        case .malformed(let name):
            "the certificate's name \(name.prefix(80)) can't be read: issue it as urn:dev:org:<PEN>-mac:<12 hex>, -bssid:<12 hex> or "
                + "-operator:<id>"
        case .tooManyRadios(let count):
            "the certificate names \(count) radios and at most \(CertifiedNames.mostRadios) are allowed: issue it with fewer"
        case .severalEnterprises: "the certificate's names come from more than one company: issue it with one enterprise number"
        }
    }
}
