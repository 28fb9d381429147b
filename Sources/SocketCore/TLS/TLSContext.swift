import COpenSSL

/// What all connections of one configuration share: the parsed certificates, OpenSSL's settings, ticket keys. Confined to one thread
/// (its loop's); making one costs a millisecond, so make it once.
public final class TLSContext {
    /// The methods offered, best first. AES with 128 bits is what a router's processor has the most of.
    private static let ciphers = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    private static let groups = "X25519:P-256:P-384"
    /// The largest chain taken from a peer; honest ones have up to 8,000 bytes.
    static let longestChain = 32_768
    /// How long a ticket is good for, in seconds: a phone that comes home in the evening makes a full handshake.
    private static let ticketLifetime = 3_600
    let handle: OpaquePointer
    let configuration: TLSConfiguration
    let verifier: ChainVerifier
    /// Where plaintext lies while it's lent: shared by all connections of the context, overwritten at the end.
    let plaintext = PlaintextBuffer()

    /// Parses and checks everything in the configuration.
    ///
    /// - Throws: ``TLSError/configuration(_:)`` or ``TLSError/libraryFailure(_:)``.
    public init(_ configuration: TLSConfiguration) throws(TLSError) {
        self.configuration = configuration
        var roots: [Certificate] = []
        for root in configuration.roots { roots += try Certificate.all(in: root.bytes, of: root.name) }
        verifier = try ChainVerifier(
            roots: roots, lists: configuration.revocationLists, peerIsServer: configuration.role.isClient, onRemark: configuration.onRemark)
        LibraryErrors.clear()
        guard let handle = SSL_CTX_new(configuration.role.isClient ? TLS_client_method() : TLS_server_method()) else {
            throw .libraryFailure(LibraryErrors.words())
        }
        self.handle = handle
        try applySettings()
        try applyIdentity(roots: roots)
        try applyRole(roots: roots)
    }

    deinit { SSL_CTX_free(handle) }

    private func applySettings() throws(TLSError) {
        copenssl_context_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS))
        copenssl_context_set_read_ahead(handle, 0)
        copenssl_context_set_max_cert_list(handle, TLSContext.longestChain)
        copenssl_context_forbid_old_features(handle)
        SSL_CTX_set_security_level(handle, ChainVerifier.securityLevel)
        let isSet =
            copenssl_context_set_versions(handle, TLS1_3_VERSION) == 1 && SSL_CTX_set_ciphersuites(handle, TLSContext.ciphers) == 1
            && copenssl_context_set_groups(handle, TLSContext.groups) == 1
            // No early data: it can be replayed, and comes before the peer has been judged.
            && SSL_CTX_set_max_early_data(handle, 0) == 1 && SSL_CTX_set_recv_max_early_data(handle, 0) == 1
        guard isSet else { throw .libraryFailure(LibraryErrors.words()) }
    }

    private func applyIdentity(roots: [Certificate]) throws(TLSError) {
        guard let identity = configuration.identity else {
            if configuration.role.isClient { return }
            throw .configuration("a router needs a certificate and a key to speak TLS: give --identity and --key")
        }
        let chain = try Certificate.all(in: identity.certificates, of: identity.names.certificates)
        let key = try PrivateKey(pem: identity.key, of: identity.names.key)
        guard key.belongs(to: chain[0]) else {
            throw .configuration("\(identity.names.key) isn't the key of the first certificate in \(identity.names.certificates)")
        }
        var isUsed = SSL_CTX_use_certificate(handle, chain[0].handle) == 1 && SSL_CTX_use_PrivateKey(handle, key.handle) == 1
        for certificate in chain.dropFirst() {
            isUsed = isUsed && copenssl_context_add_chain_certificate(handle, certificate.handle) == 1
        }
        guard isUsed else {
            throw .configuration("\(identity.names.certificates) can't be used: have it issued anew (OpenSSL: \(LibraryErrors.words()))")
        }
        try refuseSharedIssuer(chain, identity)
    }

    /// A router whose own certificate would pass at the operators' root would make every stolen router key an operator's, and the other way
    /// round (protocol.md, section 6).
    private func refuseSharedIssuer(_ chain: [Certificate], _ identity: TLSIdentity) throws(TLSError) {
        let others = copenssl_certificates_new()
        defer { copenssl_certificates_free(others) }
        for certificate in chain.dropFirst() { _ = copenssl_certificates_push(others, certificate.handle) }
        let evidence = verifier.evidence(for: chain[0].handle, others: others, isResumed: false)
        guard !evidence.findings.contains(where: \.problem.meansForeign), evidence.findings.allSatisfy({ $0.problem == .wrongPurpose })
        else { return }
        throw .configuration(
            "\(identity.names.certificates) comes from the same root that the peers are judged by: devices and operators need two issuers")
    }

    private func applyRole(roots: [Certificate]) throws(TLSError) {
        SSL_CTX_set_cert_verify_callback(handle, { context, _ in TLSEngine.verifyCertificate(context) }, nil)
        switch configuration.role {
        case .client: applyClientRole()
        case .server(let requiresPeer): try applyServerRole(requiresPeer: requiresPeer, roots: roots)
        }
    }

    private func applyClientRole() {
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_cb(handle, { connection, _ in TLSEngine.prepareCertificate(connection) }, nil)
        copenssl_context_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        SSL_CTX_sess_set_new_cb(handle) { connection, session in TLSEngine.keepSession(connection, session) }
    }

    private func applyServerRole(requiresPeer: Bool, roots: [Certificate]) throws(TLSError) {
        SSL_CTX_set_verify(handle, requiresPeer ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE, nil)
        // Clients with several certificates choose by the names of the roots.
        for root in roots where requiresPeer { _ = SSL_CTX_add_client_CA(handle, root.handle) }
        // Tickets hold all that a session needs: no memory here for clients that never come back.
        copenssl_context_set_session_cache_mode(handle, Int(SSL_SESS_CACHE_OFF))
        SSL_CTX_set_timeout(handle, TLSContext.ticketLifetime)
        let purpose = Array("router sessions".utf8)
        let isSet =
            SSL_CTX_set_num_tickets(handle, 1) == 1 && SSL_CTX_set_session_id_context(handle, purpose, UInt32(purpose.count)) == 1
            && SSL_CTX_set_session_ticket_cb(
                handle, { connection, _ in TLSEngine.fillTicket(connection) },
                { connection, session, _, _, status, _ in TLSEngine.judgeTicket(connection, session, status) }, nil) == 1
        guard isSet else { throw .libraryFailure(LibraryErrors.words()) }
    }
}

/// Room for one record's plaintext, overwritten when it goes.
final class PlaintextBuffer {
    /// OpenSSL gives plaintext out by the record.
    static let largestRecord = 16_384

    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: PlaintextBuffer.largestRecord, alignment: 64)

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, bytes.count)
        bytes.deallocate()
    }
}

extension TLSConfiguration.Role {
    /// The controller's side.
    public var isClient: Bool { if case .client = self { true } else { false } }
    /// Whether the peer must show a certificate.
    var requiresPeer: Bool {
        switch self {
        case .client: true
        case .server(let requiresPeer): requiresPeer
        }
    }
}
