import COpenSSL

/// What a certificate that is made here is to say.
struct CertificateTemplate {
    /// What it's for.
    enum Purpose {
        case authority, device, operators

        fileprivate var extensions: [(number: Int32, value: String)] {
            switch self {
            case .authority: [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")]
            case .device: Purpose.leaf + [(NID_ext_key_usage, "serverAuth")]
            case .operators: Purpose.leaf + [(NID_ext_key_usage, "clientAuth")]
            }
        }

        private static let leaf = [(NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature")]
    }

    var commonName: String
    var purpose: Purpose
    /// URIs of the subjectAltName, in order.
    var names: [String] = []
    var notBefore: WallTime
    var notAfter: WallTime
}

/// Makes certificates. Names go in as structures, never as text that somebody would have to take apart again.
enum CertificateBuilder {
    /// Bytes of a serial number: random, so that it can't be foreseen (RFC 5280 allows 20).
    static let serialLength = 16
    /// X.520's bound on a common name.
    private static let longestName = 64

    /// A certificate for `key`, signed by the issuer, or by itself when there is none.
    ///
    /// - Throws: ``TLSError/libraryFailure(_:)``.
    static func make(
        _ template: CertificateTemplate, for key: PrivateKey, issuer: (certificate: Certificate, key: PrivateKey)?
    ) throws(TLSError) -> Certificate {
        LibraryErrors.clear()
        guard let handle = X509_new() else { throw .libraryFailure(LibraryErrors.words()) }
        let certificate = Certificate(owning: handle)
        let signer = issuer?.key ?? key
        let isFilled =
            X509_set_version(handle, 2) == 1 && setSerial(of: handle) && setName(template.commonName, of: handle)
            && X509_set_issuer_name(handle, X509_get_subject_name(issuer?.certificate.handle ?? handle)) == 1
            && set(X509_getm_notBefore(handle), to: template.notBefore) && set(X509_getm_notAfter(handle), to: template.notAfter)
            && X509_set_pubkey(handle, key.handle) == 1
        guard isFilled, addExtensions(template, to: handle, issuer: issuer?.certificate.handle ?? handle),
            X509_sign(handle, signer.handle, EVP_sha256()) > 0
        else { throw .libraryFailure(LibraryErrors.words()) }
        return certificate
    }

    private static func setSerial(of certificate: OpaquePointer) -> Bool {
        var bytes = [UInt8](repeating: 0, count: serialLength)
        guard RAND_bytes(&bytes, Int32(bytes.count)) == 1 else { return false }
        // Positive, and the same length for all: easier for people to compare.
        bytes[0] = bytes[0] & 0x7F | 0x40
        guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
        defer { BN_free(number) }
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
    }

    private static func setName(_ name: String, of certificate: OpaquePointer) -> Bool {
        let bytes = Array(String(name.prefix(longestName)).utf8)
        return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
    }

    /// Writes a time in the form that RFC 5280 wants for its year.
    static func set(_ field: UnsafeMutablePointer<ASN1_TIME>?, to time: WallTime) -> Bool {
        ASN1_TIME_set_string_X509(field, time.description.filter { $0.isNumber || $0 == "Z" }) == 1
    }

    private static func addExtensions(_ template: CertificateTemplate, to certificate: OpaquePointer, issuer: OpaquePointer) -> Bool {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        // The subject's key identifier first: a self-signed certificate's issuer refers to it.
        let values = template.purpose.extensions + [(NID_subject_key_identifier, "hash"), (NID_authority_key_identifier, "keyid")]
        for (number, value) in values {
            guard let made = X509V3_EXT_nconf_nid(nil, &context, number, value) else { return false }
            defer { X509_EXTENSION_free(made) }
            guard X509_add_ext(certificate, made, -1) == 1 else { return false }
        }
        return template.names.isEmpty || addNames(template.names, to: certificate)
    }

    private static func addNames(_ uris: [String], to certificate: OpaquePointer) -> Bool {
        guard let names = copenssl_general_names_new() else { return false }
        defer { GENERAL_NAMES_free(names) }
        for uri in uris {
            let bytes = Array(uri.utf8)
            guard copenssl_general_names_push_uri(names, bytes, Int32(bytes.count)) == 1 else { return false }
        }
        return X509_add1_ext_i2d(certificate, NID_subject_alt_name, UnsafeMutableRawPointer(names), 0, UInt(X509V3_ADD_APPEND)) == 1
    }
}

/// Makes revocation lists.
enum RevocationListBuilder {
    /// A list that has what `old` has and, in addition, `serial` (hex). Each list's number is one higher than that of the one before.
    ///
    /// - Throws: ``TLSError/libraryFailure(_:)``.
    static func make(
        from old: RevocationList?, adding serial: String?, issuer: (certificate: Certificate, key: PrivateKey), now: WallTime,
        until: WallTime
    ) throws(TLSError) -> [UInt8] {
        LibraryErrors.clear()
        guard let handle = old.map({ X509_CRL_dup($0.handle) }) ?? X509_CRL_new() else { throw .libraryFailure(LibraryErrors.words()) }
        defer { X509_CRL_free(handle) }
        let isFilled =
            X509_CRL_set_version(handle, 1) == 1
            && X509_CRL_set_issuer_name(handle, X509_get_subject_name(issuer.certificate.handle)) == 1
            && withTime(now) { X509_CRL_set1_lastUpdate(handle, $0) == 1 } && withTime(until) { X509_CRL_set1_nextUpdate(handle, $0) == 1 }
            && (serial.map { add($0, to: handle, now: now) } ?? true) && countUp(handle) && nameIssuer(of: handle, issuer.certificate)
        guard isFilled, X509_CRL_sort(handle) == 1, X509_CRL_sign(handle, issuer.key.handle, EVP_sha256()) > 0,
            let pem = MemoryReader.written({ PEM_write_bio_X509_CRL($0, handle) == 1 })
        else { throw .libraryFailure(LibraryErrors.words()) }
        return pem
    }

    private static func withTime(_ time: WallTime, _ body: (UnsafeMutablePointer<ASN1_TIME>) -> Bool) -> Bool {
        guard let field = ASN1_TIME_new() else { return false }
        defer { ASN1_TIME_free(field) }
        return CertificateBuilder.set(field, to: time) && body(field)
    }

    private static func withInteger(_ hex: String, _ body: (UnsafeMutablePointer<ASN1_INTEGER>) -> Bool) -> Bool {
        var number: OpaquePointer?
        guard BN_hex2bn(&number, hex) > 0, let number else { return false }
        defer { BN_free(number) }
        guard let integer = BN_to_ASN1_INTEGER(number, nil) else { return false }
        defer { ASN1_INTEGER_free(integer) }
        return body(integer)
    }

    private static func add(_ serial: String, to list: OpaquePointer, now: WallTime) -> Bool {
        guard let entry = X509_REVOKED_new() else { return false }
        let isFilled =
            withInteger(serial) { X509_REVOKED_set_serialNumber(entry, $0) == 1 }
            && withTime(now) { X509_REVOKED_set_revocationDate(entry, $0) == 1 }
        // The list takes the entry over, unless that fails.
        guard isFilled, X509_CRL_add0_revoked(list, entry) == 1 else {
            X509_REVOKED_free(entry)
            return false
        }
        return true
    }

    private static func countUp(_ list: OpaquePointer) -> Bool {
        var last: Int64 = 0
        if let found = X509_CRL_get_ext_d2i(list, NID_crl_number, nil, nil) {
            let number = found.assumingMemoryBound(to: ASN1_INTEGER.self)
            _ = ASN1_INTEGER_get_int64(&last, number)
            ASN1_INTEGER_free(number)
        }
        return withInteger(String(last &+ 1, radix: 16)) {
            X509_CRL_add1_ext_i2d(list, NID_crl_number, UnsafeMutableRawPointer($0), 0, UInt(X509V3_ADD_REPLACE)) == 1
        }
    }

    private static func nameIssuer(of list: OpaquePointer, _ issuer: Certificate) -> Bool {
        if X509_CRL_get_ext_by_NID(list, NID_authority_key_identifier, -1) >= 0 { return true }
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer.handle, nil, nil, list, 0)
        guard let made = X509V3_EXT_nconf_nid(nil, &context, NID_authority_key_identifier, "keyid") else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_CRL_add_ext(list, made, -1) == 1
    }
}
