import COpenSSL

/// What OpenSSL asks in the middle of a handshake. Each comes with the connection, which knows its engine.
extension TLSEngine {
    /// Intermediates that a ticket carries, in bytes of DER; a longer chain makes a full handshake each time.
    private static let longestTicketChain = 4_096

    private static func of(_ connection: OpaquePointer?) -> TLSEngine? {
        guard let pointer = SSL_get_ex_data(connection, 0) else { return nil }
        return Unmanaged<TLSEngine>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// The peer's certificates have come; that it has the key isn't proven yet.
    static func verifyCertificate(_ chain: OpaquePointer?) -> Int32 {
        guard let chain, let pointer = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let engine = of(OpaquePointer(pointer)), let leaf = X509_STORE_CTX_get0_cert(chain)
        else { return 0 }
        let evidence = engine.context.verifier.evidence(for: leaf, others: X509_STORE_CTX_get0_untrusted(chain), isResumed: false)
        engine.shown = evidence
        // A client judges once the peer has proven to have the key: until then it might be anybody's certificate.
        guard !engine.context.configuration.role.isClient else {
            X509_STORE_CTX_set_error(chain, X509_V_OK)
            return 1
        }
        engine.refusal = engine.context.configuration.judge(evidence)
        guard let refusal = engine.refusal else {
            X509_STORE_CTX_set_error(chain, X509_V_OK)
            return 1
        }
        X509_STORE_CTX_set_error(chain, refusal.verificationCode)
        return 0
    }

    /// A client is asked for its certificate; OpenSSL asks after it has checked the server's signature, so that the server has
    /// proven its own by now. One that isn't admitted learns nothing of us.
    static func prepareCertificate(_ connection: OpaquePointer?) -> Int32 {
        guard let engine = of(connection) else { return 0 }
        engine.isProven = true
        engine.isJudged = true
        engine.refusal = engine.shown.map(engine.context.configuration.judge) ?? .noCertificate
        if engine.refusal != nil { SSL_certs_clear(connection) }
        return 1
    }

    /// A ticket has come. One means that the reference is ours now.
    static func keepSession(_ connection: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
        guard let engine = of(connection), let session else { return 0 }
        engine.session = TLSSession(owning: session)
        return 1
    }

    /// A server puts the client's intermediates into the ticket: OpenSSL's own part has only the client's certificate, and the
    /// chain must be followed again when the ticket comes back.
    static func fillTicket(_ connection: OpaquePointer?) -> Int32 {
        guard let session = SSL_get_session(connection) else { return 0 }
        // A session taken up again hands its ticket's content on.
        if SSL_session_reused(connection) == 1 { return 1 }
        let chain = SSL_get_peer_cert_chain(connection)
        var bytes: [UInt8] = [1]
        for index in 0..<max(0, copenssl_certificates_count(chain)) {
            guard let certificate = copenssl_certificates_at(chain, index) else { continue }
            bytes += MemoryReader.encoded { i2d_X509(certificate, $0) } ?? []
        }
        if bytes.count > longestTicketChain { bytes = [0] }
        return SSL_SESSION_set1_ticket_appdata(session, bytes, bytes.count)
    }

    /// A ticket has come back. Whoever wouldn't be admitted today isn't resumed: a full handshake follows, which tells the client why.
    static func judgeTicket(_ connection: OpaquePointer?, _ session: OpaquePointer?, _ status: SSL_TICKET_STATUS) -> SSL_TICKET_RETURN {
        guard status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW else { return SSL_TICKET_RETURN_IGNORE_RENEW }
        guard let engine = of(connection), let session else { return SSL_TICKET_RETURN_IGNORE_RENEW }
        guard engine.context.configuration.role.requiresPeer else { return SSL_TICKET_RETURN_USE_RENEW }
        guard let leaf = SSL_SESSION_get0_peer(session), let others = intermediates(of: session) else {
            return SSL_TICKET_RETURN_IGNORE_RENEW
        }
        defer { copenssl_certificates_free(others) }
        let evidence = engine.context.verifier.evidence(for: leaf, others: others, isResumed: true)
        guard engine.context.configuration.judge(evidence) == nil else { return SSL_TICKET_RETURN_IGNORE_RENEW }
        engine.shown = evidence
        return SSL_TICKET_RETURN_USE_RENEW
    }

    /// A stack that the caller frees; nil when the ticket has no complete chain.
    private static func intermediates(of session: OpaquePointer) -> OpaquePointer? {
        var data: UnsafeMutableRawPointer?
        var length = 0
        guard SSL_SESSION_get0_ticket_appdata(session, &data, &length) == 1, let data, length > 0,
            data.load(as: UInt8.self) == 1, let stack = copenssl_certificates_new()
        else { return nil }
        var cursor: UnsafePointer<UInt8>? = UnsafePointer(data.assumingMemoryBound(to: UInt8.self) + 1)
        let end = UnsafePointer(data.assumingMemoryBound(to: UInt8.self) + length)
        while let at = cursor, at < end {
            guard let certificate = d2i_X509(nil, &cursor, end - at) else {
                copenssl_certificates_free(stack)
                LibraryErrors.clear()
                return nil
            }
            _ = copenssl_certificates_push(stack, certificate)
            X509_free(certificate)
        }
        return stack
    }
}

extension TLSError {
    /// The `X509_V_ERR_…` code by which OpenSSL chooses the alert that tells the peer.
    var verificationCode: Int32 {
        guard case .certificateRefused(let finding) = self else { return X509_V_ERR_CERT_REJECTED }
        if finding.code != 0 { return finding.code }
        return switch finding.problem {
        case .expired: X509_V_ERR_CERT_HAS_EXPIRED
        // OpenSSL's own code for it would make this bad_certificate; RFC 8446 (section 6.2) has one alert for both ends of a validity.
        case .notYetValid: X509_V_ERR_CERT_HAS_EXPIRED
        case .revoked: X509_V_ERR_CERT_REVOKED
        case .wrongPurpose, .maySign: X509_V_ERR_INVALID_PURPOSE
        case .unknownIssuer, .selfSigned: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        default: X509_V_ERR_CERT_REJECTED
        }
    }
}
