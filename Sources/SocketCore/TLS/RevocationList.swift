import COpenSSL

/// One certificate revocation list (RFC 5280, section 5) as OpenSSL holds it.
final class RevocationList {
    /// What one list says of one certificate.
    enum Answer {
        case listed(since: WallTime)
        case notListed
    }

    let handle: OpaquePointer
    /// The second after which a newer list should be there; nil when the list doesn't say.
    let nextUpdate: WallTime?
    /// Only changes to another list: it can list a certificate, but not clear one.
    let isDelta: Bool

    init(owning handle: OpaquePointer) {
        self.handle = handle
        nextUpdate = WallTime(reading: X509_CRL_get0_nextUpdate(handle))
        isDelta = X509_CRL_get_ext_by_NID(handle, NID_delta_crl, -1) >= 0
    }

    deinit { X509_CRL_free(handle) }

    /// Reads all lists of a PEM file, or the one of a DER file.
    ///
    /// - Throws: ``TLSError/configuration(_:)``.
    static func all(in bytes: [UInt8], of name: String) throws(TLSError) -> [RevocationList] {
        LibraryErrors.clear()
        let isPEM = MemoryReader.isPEM(bytes)
        let found = bytes.withUnsafeBytes { raw in
            MemoryReader.reading(raw) { source -> [RevocationList] in
                guard isPEM else { return d2i_X509_CRL_bio(source, nil).map { [RevocationList(owning: $0)] } ?? [] }
                var found: [RevocationList] = []
                while let next = PEM_read_bio_X509_CRL(source, nil, nil, nil) { found.append(RevocationList(owning: next)) }
                return found
            }
        }
        let errors = LibraryErrors.take().filter { !($0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE) }
        guard let found, !found.isEmpty, errors.isEmpty else {
            throw .configuration("\(name) holds no revocation list that can be read: it must be a PEM file with BEGIN X509 CRL, or DER")
        }
        return found
    }

    /// Whether `issuer` made this list: the name, the right to sign lists, and the signature.
    func isMade(by issuer: OpaquePointer) -> Bool {
        guard X509_NAME_cmp(X509_CRL_get_issuer(handle), X509_get_subject_name(issuer)) == 0 else { return false }
        // All ones: the issuer's certificate doesn't restrict its key.
        let usage = X509_get_key_usage(issuer)
        guard usage == .max || usage & UInt32(KU_CRL_SIGN) != 0, let key = X509_get0_pubkey(issuer) else { return false }
        return X509_CRL_verify(handle, key) == 1
    }

    /// Whether an entry has that serial, in lower-case hex without leading zeros.
    func lists(serial: String) -> Bool { entries.contains { $0.serial == serial } }

    /// All entries, in the list's order.
    var entries: [(serial: String, since: WallTime)] {
        let stack = X509_CRL_get_REVOKED(handle)
        return (0..<max(0, copenssl_revoked_count(stack))).compactMap { index in
            guard let entry = copenssl_revoked_at(stack, index) else { return nil }
            let since = WallTime(reading: X509_REVOKED_get0_revocationDate(entry)) ?? WallTime(seconds: 0)
            return (CertificateFacts.hex(X509_REVOKED_get0_serialNumber(entry)), since)
        }
    }

    func answer(for certificate: OpaquePointer) -> Answer {
        var entry: OpaquePointer?
        guard X509_CRL_get0_by_cert(handle, &entry, certificate) == 1, let entry else { return .notListed }
        return .listed(since: WallTime(reading: X509_REVOKED_get0_revocationDate(entry)) ?? WallTime(seconds: 0))
    }
}
