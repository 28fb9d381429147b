import COpenSSL

/// What a file of certificates holds, for showing it. Nothing here says that any of it can be trusted.
public enum CertificateInspection: Sendable {
    /// A certificate.
    case certificate(CertificateFacts)
    /// A revocation list: its issuer, when it was made and when a newer one is due, and what it lists.
    case revocationList(issuer: String, made: WallTime?, due: WallTime?, revoked: [(serial: String, since: WallTime)])
    /// A private key, of which nothing is shown.
    case privateKey

    /// All that a PEM or DER file holds, certificates first, then lists, then keys.
    ///
    /// - Throws: ``TLSError/configuration(_:)`` when the file can't be read or holds nothing of the kind.
    public static func contents(ofFile path: String) throws(TLSError) -> [CertificateInspection] {
        let bytes = try TLSFile.read(path)
        let text = String(decoding: bytes, as: UTF8.self)
        var found: [CertificateInspection] = []
        if !MemoryReader.isPEM(bytes) {
            if let certificate = try? Certificate(der: bytes, of: path) { return [.certificate(certificate.facts)] }
            if let lists = try? RevocationList.all(in: bytes, of: path) { return lists.map(CertificateInspection.init) }
        } else {
            if text.contains("BEGIN CERTIFICATE-") { found += try Certificate.all(in: bytes, of: path).map { .certificate($0.facts) } }
            if text.contains("BEGIN X509 CRL-") { found += try RevocationList.all(in: bytes, of: path).map(CertificateInspection.init) }
            if text.contains("PRIVATE KEY-") { found.append(.privateKey) }
        }
        guard !found.isEmpty else {
            throw .configuration("\(path) holds no certificate, revocation list or key that can be read: it must be PEM or DER")
        }
        return found
    }

    private init(_ list: RevocationList) {
        self = .revocationList(
            issuer: list.issuer, made: WallTime(reading: X509_CRL_get0_lastUpdate(list.handle)), due: list.nextUpdate, revoked: list.entries
        )
    }
}
