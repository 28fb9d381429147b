import COpenSSL

/// Follows a peer's certificate up to the configured roots and gathers what is to be judged. Time is left out here: it's
/// judged with the revocations, in one place and by a clock that can be wrong (see `ValidityRules`).
final class ChainVerifier {
    /// Certificates between the peer's own and the root.
    static let mostIntermediates = 4
    /// Followed beyond that, so that a chain that is too long is called that, and not one without a root.
    private static let mostFollowed: Int32 = 16
    /// OpenSSL's level 2: 112 bits, RSA from 2048, no SHA-1.
    static let securityLevel: Int32 = 2
    /// Chains remembered as good: the operators or routers that come back within a day, some kilobytes each.
    private static let mostRememberedChains = 64

    private let store: OpaquePointer
    private let purpose: Int32
    private let files: [TLSConfiguration.NamedBytes]
    private let onRemark: (String) -> Void
    private var editions: [Int] = []
    private var lists: [RevocationList] = []
    private var goodChains: [[UInt8]: PeerEvidence] = [:]

    /// - Parameters:
    ///   - roots: where chains may end.
    ///   - lists: who is revoked, looked at again for each chain.
    ///   - peerIsServer: the purpose wanted of the peer's certificate.
    ///   - onRemark: told when a list has changed.
    /// - Throws: ``TLSError/libraryFailure(_:)``, ``TLSError/configuration(_:)``.
    init(
        roots: [Certificate], lists: [TLSConfiguration.NamedBytes], peerIsServer: Bool, onRemark: @escaping (String) -> Void = { _ in }
    ) throws(TLSError) {
        files = lists
        self.onRemark = onRemark
        LibraryErrors.clear()
        guard let store = X509_STORE_new() else { throw .libraryFailure(LibraryErrors.words()) }
        self.store = store
        purpose = peerIsServer ? X509_PURPOSE_SSL_SERVER : X509_PURPOSE_SSL_CLIENT
        for root in roots {
            guard X509_STORE_add_cert(store, root.handle) == 1 else { throw .libraryFailure(LibraryErrors.words()) }
        }
        for file in lists { take(try file.lists.load(file)) }
    }

    deinit { X509_STORE_free(store) }

    /// The evidence for a certificate and what came along with it.
    ///
    /// The same certificates give the same evidence as long as no list changes: roots are fixed, and time isn't part of it. So good chains
    /// are remembered, and a resumed session is judged in full at the price of a hash.
    /// - Parameter others: a stack of certificates, or nil.
    func evidence(for leaf: OpaquePointer, others: OpaquePointer?, isResumed: Bool) -> PeerEvidence {
        refreshLists()
        let key = ChainVerifier.fingerprint(leaf, others)
        if var known = goodChains[key] {
            known.isResumed = isResumed
            return known
        }
        let evidence = follow(leaf, others: others, isResumed: isResumed)
        // Bad ones aren't remembered: anybody could fill the memory with them.
        guard evidence.findings.isEmpty, !key.isEmpty else { return evidence }
        if goodChains.count >= ChainVerifier.mostRememberedChains { goodChains.removeAll() }
        goodChains[key] = evidence
        return evidence
    }

    private func refreshLists() {
        let readings = files.map { $0.lists.refresh(onRemark) }
        guard readings.map(\.edition) != editions else { return }
        (editions, lists) = ([], [])
        goodChains.removeAll()
        for reading in readings { take(reading) }
    }

    private func take(_ reading: CurrentLists.Reading) {
        editions.append(reading.edition)
        lists += reading.lists
    }

    /// Over the certificates in the order shown; each is a DER structure with its length, so that no two rows of them look alike.
    private static func fingerprint(_ leaf: OpaquePointer, _ others: OpaquePointer?) -> [UInt8] {
        var bytes: [UInt8] = []
        let stack = (0..<max(0, copenssl_certificates_count(others))).compactMap { copenssl_certificates_at(others, $0) }
        for certificate in [leaf] + stack {
            guard let der = MemoryReader.encoded({ i2d_X509(certificate, $0) }) else { return [] }
            bytes += der
        }
        return MemoryReader.sha256(bytes)
    }

    private func follow(_ leaf: OpaquePointer, others: OpaquePointer?, isResumed: Bool) -> PeerEvidence {
        let findings = Findings()
        defer { LibraryErrors.clear() }
        guard let context = X509_STORE_CTX_new(), X509_STORE_CTX_init(context, store, leaf, others) == 1 else {
            return PeerEvidence(
                chain: [CertificateFacts(reading: leaf)], findings: [ChainFinding(code: X509_V_ERR_OUT_OF_MEM, depth: 0)], revocations: [],
                judgedCount: 1, isResumed: isResumed)
        }
        defer { X509_STORE_CTX_free(context) }
        prepare(context, findings)
        let passed = withExtendedLifetime(findings) { X509_verify_cert(context) == 1 }
        if !passed, findings.found.isEmpty {
            findings.add(ChainFinding(code: X509_STORE_CTX_get_error(context), depth: Int(X509_STORE_CTX_get_error_depth(context))))
        }
        let chain = ChainVerifier.handles(X509_STORE_CTX_get0_chain(context), atLeast: leaf)
        if chain.count - 2 > ChainVerifier.mostIntermediates { findings.add(ChainFinding(.chainTooLong, depth: 0)) }
        let isAnchored = findings.found.isEmpty
        let judged = isAnchored ? max(1, min(chain.count, Int(X509_STORE_CTX_get_num_untrusted(context)))) : chain.count
        return PeerEvidence(
            chain: chain.map(CertificateFacts.init(reading:)), findings: findings.found,
            revocations: isAnchored ? revocations(of: chain, count: judged) : [], judgedCount: judged, isResumed: isResumed)
    }

    private func prepare(_ context: OpaquePointer, _ findings: Findings) {
        let parameters = X509_STORE_CTX_get0_param(context)
        // A configured intermediate ends the chain as well as a self-signed root does.
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_TRUSTED_FIRST))
        X509_VERIFY_PARAM_set_purpose(parameters, purpose)
        X509_VERIFY_PARAM_set_depth(parameters, ChainVerifier.mostFollowed)
        X509_VERIFY_PARAM_set_auth_level(parameters, ChainVerifier.securityLevel)
        X509_STORE_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(findings).toOpaque())
        X509_STORE_CTX_set_verify_cb(context) { passed, context in
            guard passed != 1 else { return 1 }
            guard let context, let pointer = X509_STORE_CTX_get_ex_data(context, 0) else { return 0 }
            let findings = Unmanaged<Findings>.fromOpaque(pointer).takeUnretainedValue()
            findings.add(ChainFinding(code: X509_STORE_CTX_get_error(context), depth: Int(X509_STORE_CTX_get_error_depth(context))))
            // Going on finds the rest. The chain counts as good only if nothing was found at all.
            return findings.isFull ? 0 : 1
        }
    }

    private static func handles(_ stack: OpaquePointer?, atLeast leaf: OpaquePointer) -> [OpaquePointer] {
        let found = (0..<max(0, copenssl_certificates_count(stack))).compactMap { copenssl_certificates_at(stack, $0) }
        return found.isEmpty ? [leaf] : found
    }

    private func revocations(of chain: [OpaquePointer], count: Int) -> [Revocation] {
        chain.prefix(count).enumerated().map { index, certificate in
            // The peer's own certificate may be configured itself; then it is its own issuer or has none here.
            revocation(of: certificate, issuer: index + 1 < chain.count ? chain[index + 1] : certificate)
        }
    }

    private func revocation(of certificate: OpaquePointer, issuer: OpaquePointer) -> Revocation {
        var until: [WallTime?] = []
        for list in lists(by: issuer) {
            if case .listed(let since) = list.answer(for: certificate) { return .listed(since: since) }
            if !list.isDelta { until.append(list.nextUpdate) }
        }
        guard !until.isEmpty else { return .noList }
        let ends = until.compactMap { $0 }
        return .notListed(until: ends.count == until.count ? ends.max() : nil)
    }

    private func lists(by issuer: OpaquePointer) -> [RevocationList] {
        guard !lists.isEmpty else { return [] }
        let fingerprint = MemoryReader.sha256(MemoryReader.encoded { i2d_X509(issuer, $0) } ?? [])
        return lists.filter { $0.isMade(by: issuer, fingerprint: fingerprint) }
    }
}

/// What OpenSSL reports while it verifies, each thing once.
private final class Findings {
    /// One certificate can break dozens of rules; those who mend it begin with the first.
    private static let most = 32
    private(set) var found: [ChainFinding] = []
    var isFull: Bool { found.count >= Findings.most }

    func add(_ finding: ChainFinding) { if !found.contains(finding) { found.append(finding) } }
}
