import COpenSSL

/// OpenSSL's queue of errors, one a thread. Cleared before a call that can fail and read after it, so that nothing is blamed for what
/// another call left behind.
enum LibraryErrors {
    /// One entry: the library, its reason, and its words for it.
    struct Entry: Equatable {
        let library: Int32
        let reason: Int32
        let text: String
    }

    /// Stands before every first call of OpenSSL's, so that it also sees to what such a call must find in place.
    static func clear() {
        _ = ClearedMemory.isOn
        ERR_clear_error()
    }

    /// All entries, the oldest (the cause) first; the queue is empty afterwards.
    static func take() -> [Entry] {
        var entries: [Entry] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return entries }
            let words = ERR_reason_error_string(code).map { String(cString: $0) }
            entries.append(Entry(library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code), text: words ?? "code \(code)"))
        }
    }

    /// The words of all entries, for an error of our own configuration; never empty.
    static func words() -> String {
        let texts = take().map(\.text)
        return texts.isEmpty ? "no reason given" : texts.joined(separator: ", ")
    }
}

extension TLSError {
    /// What a failed call on a connection means. `phase` is how far it had come.
    static func named(_ entries: [LibraryErrors.Entry], phase: TLSPhase) -> TLSError {
        guard let entry = entries.first(where: { $0.library == ERR_LIB_SSL }) ?? entries.first else { return .connectionLost(phase) }
        guard entry.library == ERR_LIB_SSL else { return .libraryFailure(entry.text) }
        if entry.reason >= SSL_AD_REASON_OFFSET {
            return alert(UInt8(clamping: entry.reason - SSL_AD_REASON_OFFSET), words: entry.text)
        }
        return named(reason: entry.reason, words: entry.text, phase: phase)
    }

    private static func alert(_ number: UInt8, words: String) -> TLSError {
        guard let alert = TLSAlert(rawValue: number) else { return .protocolViolation("alert \(number), \(words)") }
        return alert == .protocolVersion ? .versionRefused : .alert(alert)
    }

    /// The meaning of an `SSL_R_…` reason that is no alert.
    static func named(reason: Int32, words: String, phase: TLSPhase) -> TLSError {
        switch reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW, SSL_R_UNKNOWN_SSL_VERSION,
            SSL_R_UNSUPPORTED_SSL_VERSION, SSL_R_BAD_PROTOCOL_VERSION_NUMBER, SSL_R_UNKNOWN_PROTOCOL, SSL_R_BAD_LEGACY_VERSION,
            SSL_R_INAPPROPRIATE_FALLBACK:
            .versionRefused
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST: .notTLS(.http)
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_BAD_RECORD_TYPE, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_RECORD_LENGTH_MISMATCH:
            phase == .established ? .protocolViolation(words) : .notTLS(.bytes)
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, SSL_R_NO_CERTIFICATES_RETURNED: .noCertificate
        case SSL_R_CERTIFICATE_VERIFY_FAILED: .certificateRefused(ChainFinding(.notJudged, depth: 0))
        case SSL_R_CA_KEY_TOO_SMALL, SSL_R_EE_KEY_TOO_SMALL, SSL_R_WRONG_CURVE, SSL_R_BAD_ECC_CERT, SSL_R_UNKNOWN_CERTIFICATE_TYPE,
            SSL_R_ECC_CERT_NOT_FOR_SIGNING, SSL_R_UNABLE_TO_FIND_PUBLIC_KEY_PARAMETERS, SSL_R_WRONG_CERTIFICATE_TYPE:
            .certificateRefused(ChainFinding(.weakKey, depth: 0))
        case SSL_R_CA_MD_TOO_WEAK: .certificateRefused(ChainFinding(.weakSignature, depth: 1))
        case SSL_R_SIGNATURE_FOR_NON_SIGNING_CERTIFICATE: .certificateRefused(ChainFinding(.wrongPurpose, depth: 0))
        case SSL_R_EXCESSIVE_MESSAGE_SIZE: .handshakeTooLarge(bytes: nil, limit: TLSContext.longestChain)
        case SSL_R_DATA_LENGTH_TOO_LONG, SSL_R_ENCRYPTED_LENGTH_TOO_LONG, SSL_R_LENGTH_TOO_LONG:
            .protocolViolation(words)
        case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SSL_R_DECRYPTION_FAILED, SSL_R_DIGEST_CHECK_FAILED, SSL_R_BAD_SIGNATURE,
            SSL_R_BINDER_DOES_NOT_VERIFY:
            .tampered
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, SSL_R_NO_SUITABLE_KEY_SHARE,
            SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SUITABLE_GROUPS, SSL_R_NO_CIPHERS_AVAILABLE, SSL_R_INSUFFICIENT_SECURITY,
            SSL_R_MISSING_SIGALGS_EXTENSION, SSL_R_MISSING_SUPPORTED_GROUPS_EXTENSION, SSL_R_WRONG_SIGNATURE_TYPE,
            SSL_R_UNSUPPORTED_ELLIPTIC_CURVE, SSL_R_LEGACY_SIGALG_DISALLOWED_OR_UNSUPPORTED:
            .nothingInCommon(words)
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: .connectionLost(phase)
        default: TLSError.isOurs(reason) ? .libraryFailure(words) : .protocolViolation(words)
        }
    }

    /// Reasons that speak of this side's library or settings, not of the peer.
    private static func isOurs(_ reason: Int32) -> Bool {
        switch reason {
        case SSL_R_BN_LIB, SSL_R_X509_LIB, SSL_R_LIBRARY_BUG, SSL_R_LIBRARY_HAS_NO_CIPHERS, SSL_R_SSL_LIBRARY_HAS_NO_CIPHERS,
            SSL_R_NO_CERTIFICATE_ASSIGNED, SSL_R_NO_PRIVATE_KEY_ASSIGNED, SSL_R_PRIVATE_KEY_MISMATCH, SSL_R_NO_PROTOCOLS_AVAILABLE,
            SSL_R_X509_VERIFICATION_SETUP_PROBLEMS, SSL_R_CERT_CB_ERROR, SSL_R_CALLBACK_FAILED, SSL_R_UNINITIALIZED, SSL_R_BIO_NOT_SET,
            SSL_R_READ_BIO_NOT_SET, SSL_R_PROTOCOL_IS_SHUTDOWN, SSL_R_BAD_WRITE_RETRY, SSL_R_BAD_LENGTH, SSL_R_INVALID_CONTEXT,
            SSL_R_SESSION_ID_CONTEXT_UNINITIALIZED, SSL_R_CONNECTION_TYPE_NOT_SET, SSL_R_NULL_SSL_CTX, SSL_R_MISSING_FATAL:
            true
        default: false
        }
    }
}
