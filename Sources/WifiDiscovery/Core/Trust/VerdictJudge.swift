import SocketCore

/// What came of asking a router to prove itself.
public enum ProofAttempt: Equatable, Sendable {
    /// It has proven to have the key of this certificate.
    case evidence(PeerEvidence)
    /// The handshake failed.
    case failed(TLSError)
    /// It took the connection and then said nothing, or not enough, for that long.
    case stalled(after: Duration)
    /// No connection came about; the text says why ("connection refused").
    case unreachable(String)
    /// Its reply says that it has no TLS.
    case offersNoTLS
}

/// Judges routers. Pure: facts, memory and time come in, a judgement comes out.
public struct VerdictJudge: Equatable, Sendable {
    /// A company root is configured.
    public var hasRoot: Bool
    /// The company's private enterprise number; nil takes names given by any company whose root is configured.
    public var enterprise: UInt32?
    /// Time and revocation.
    public var validity: ValidityRules

    /// A judge by these rules.
    public init(hasRoot: Bool, enterprise: UInt32? = nil, validity: ValidityRules = ValidityRules()) {
        self.hasRoot = hasRoot
        self.enterprise = enterprise
        self.validity = validity
    }

    /// The judgement on the router whose reply claimed `claimed`.
    ///
    /// - Parameters:
    ///   - attempt: how far the attempt to have it proven came.
    ///   - claimed: the MAC that the reply names.
    ///   - record: what is remembered of that MAC, nil for nothing.
    ///   - time: when, by a clock that was held against its floor.
    public func judge(_ attempt: ProofAttempt, of claimed: MACAddress, record: TrustRecord? = nil, at time: JudgedTime) -> Judgement {
        switch attempt {
        case .evidence(let evidence): judge(evidence, of: claimed, record: record, at: time)
        case .failed(let error): judge(error, record: record)
        case .stalled(let span):
            Judgement(
                .unproven(.connectionLost),
                "it accepted the connection and didn't finish the handshake within \(Int(span.inMilliseconds)) ms: try again, or restart it"
            )
        case .unreachable(let why): Judgement(.unproven(.unreachable), "no connection: \(why); check that its TCP port is open")
        case .offersNoTLS: plaintext("it offers no TLS", record)
        }
    }

    // MARK: A proven key

    private func judge(_ evidence: PeerEvidence, of claimed: MACAddress, record: TrustRecord?, at time: JudgedTime) -> Judgement {
        guard let leaf = evidence.leaf else { return judge(.noCertificate, record: record) }
        guard hasRoot else { return judgeByPin(leaf, record) }
        if let finding = evidence.findings.first(where: \.problem.meansForeign) {
            return Judgement(.foreign, "it isn't the company's: \(finding.description)", certificate: leaf)
        }
        if let finding = evidence.findings.first ?? validity.judge(evidence, at: time) ?? profileFinding(leaf, evidence) {
            return Judgement(.unproven(VerdictJudge.reason(finding.problem)), sentence(finding, evidence, time), certificate: leaf)
        }
        return judgeByName(leaf, evidence, claimed)
    }

    private func profileFinding(_ leaf: CertificateFacts, _ evidence: PeerEvidence) -> ChainFinding? {
        guard leaf.extendedKeyUsage?.contains(.server) == true, leaf.keyUsage?.contains(.digitalSignature) == true else {
            return ChainFinding(.wrongPurpose, depth: 0)
        }
        if evidence.mayPeerSign { return ChainFinding(.maySign, depth: 0) }
        return leaf.key.isAccepted ? nil : ChainFinding(.weakKey, depth: 0)
    }

    private func judgeByName(_ leaf: CertificateFacts, _ evidence: PeerEvidence, _ claimed: MACAddress) -> Judgement {
        let names = leaf.names(enterprise: enterprise)
        func bad(_ why: String) -> Judgement { Judgement(.unproven(.badCertificate), why, certificate: leaf) }
        if let problem = names.problem { return bad(problem.sentence) }
        guard names.operators.isEmpty else { return bad("the certificate names an operator: a controller's certificate proves no router") }
        guard let named = names.deviceAddresses.first.map(MACAddress.init(bits:)) else {
            return bad("the certificate names no MAC: issue it with one urn:dev:org:<PEN>-mac:<12 hex>")
        }
        guard names.deviceAddresses.count == 1 else {
            return bad("the certificate names \(names.deviceAddresses.count) MACs and exactly one is wanted: issue one for each router")
        }
        guard named == claimed else {
            return Judgement(
                .impostor(names: named),
                "it claims to be \(claimed), and its certificate is that of \(named): don't use it, and look for the device \(named)",
                certificate: leaf)
        }
        return Judgement(
            .company, "the company's certificate for \(named), signed by \(leaf.issuer)", certificate: leaf,
            provenSince: evidence.provenSince)
    }

    private func judgeByPin(_ leaf: CertificateFacts, _ record: TrustRecord?) -> Judgement {
        guard let pin = record?.pin else {
            return Judgement(
                .unproven(.noRoot),
                "no company root is configured: name one with --root, or trust this router's key once (wifictl trust pin)",
                certificate: leaf)
        }
        guard pin == leaf.keyFingerprint else {
            return Judgement(
                .unproven(.keyChanged),
                "its key is another one than the one trusted before: if nobody has reset it, somebody is posing as it",
                certificate: leaf)
        }
        return Judgement(.pinned, "the same key as the one trusted before", certificate: leaf)
    }

    private func sentence(_ finding: ChainFinding, _ evidence: PeerEvidence, _ time: JudgedTime) -> String {
        let certificate = evidence.chain.indices.contains(finding.depth) ? evidence.chain[finding.depth] : nil
        let which = finding.depth == 0 ? "the certificate" : "the issuing certificate \(certificate?.subject ?? "")"
        switch finding.problem {
        case .expired:
            let clock = time.clockIsBehind ? " (this machine's clock is behind; judged at \(time.now.day))" : ""
            return "\(which) expired on \(certificate?.notAfter.day ?? "an unknown day")\(clock): issue a new one"
        case .notYetValid:
            return
                "\(which) is valid from \(certificate?.notBefore.description ?? "an unknown day") and the clock shows \(time.now): "
                + "set the clock, or issue it anew"
        case .revoked:
            guard evidence.revocations.indices.contains(finding.depth), case .listed(let since) = evidence.revocations[finding.depth] else {
                return finding.description
            }
            return "\(which) was revoked on \(since.day): don't use the router until the company has given it a new one"
        default: return finding.description
        }
    }

    static func reason(_ problem: ChainProblem) -> UnprovenReason {
        switch problem {
        case .expired: .expired
        case .notYetValid: .notYetValid
        case .revoked: .revoked
        case .revocationListMissing, .revocationListStale, .revocationListBroken: .revocationDataMissing
        case .wrongPurpose, .maySign: .wrongPurpose
        case .notJudged: .protocolError
        default: .badCertificate
        }
    }

    // MARK: No proven key

    private func judge(_ error: TLSError, record: TrustRecord?) -> Judgement {
        switch error {
        case .notTLS(.frames): plaintext("it speaks this protocol in the clear where TLS is due", record)
        case .notTLS: Judgement(.unproven(.notTLS), error.description)
        case .versionRefused: Judgement(.unproven(.versionRefused), error.description)
        // Before it showed who it is, this is how servers answer that know no method of TLS 1.3.
        case .alert(.handshakeFailure):
            Judgement(
                .unproven(.versionRefused), "it finds nothing in common with TLS 1.3: most likely it speaks TLS 1.2 alone; update it")
        case .connectionLost: Judgement(.unproven(.connectionLost), error.description)
        case .alert(let alert) where alert.concernsOurCertificate: Judgement(.unproven(.refused), error.description)
        case .certificateRefused(let finding):
            finding.problem.meansForeign
                ? Judgement(.foreign, "it isn't the company's: \(finding.description)")
                : Judgement(.unproven(VerdictJudge.reason(finding.problem)), finding.description)
        case .alert, .noCertificate, .refused, .handshakeTooLarge, .tampered, .nothingInCommon, .protocolViolation, .configuration,
            .libraryFailure, .alreadyOver:
            Judgement(.unproven(.protocolError), error.description)
        }
    }

    private func plaintext(_ what: String, _ record: TrustRecord?) -> Judgement {
        guard record?.hasSpokenTLS == true else {
            return Judgement(
                .unproven(.plaintext), "\(what), so that nothing about it can be proven: only a certificate could")
        }
        return Judgement(
            .unproven(.plaintext), "\(what), though it has offered TLS: somebody may be posing as it",
            isDowngrade: true)
    }
}
