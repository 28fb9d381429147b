import COpenSSL
import Glibc

extension CertificateFacts {
    /// Reads the facts through OpenSSL's functions. Names come as the structures they are, never as text with commas.
    init(reading certificate: OpaquePointer) {
        let publicKey = X509_get_X509_PUBKEY(certificate)
        self.init(
            subject: CertificateFacts.display(X509_get_subject_name(certificate)),
            issuer: CertificateFacts.display(X509_get_issuer_name(certificate)),
            serial: CertificateFacts.hex(X509_get0_serialNumber(certificate)),
            // A date that can't be read is one that no time lies within.
            notBefore: WallTime(reading: X509_get0_notBefore(certificate)) ?? .noExpiry,
            notAfter: WallTime(reading: X509_get0_notAfter(certificate)) ?? WallTime(year: 1, month: 1, day: 1),
            keyUsage: CertificateFacts.keyUsage(certificate), extendedKeyUsage: CertificateFacts.extendedKeyUsage(certificate),
            isAuthority: X509_check_ca(certificate) == 1, uris: CertificateFacts.uris(certificate),
            key: X509_get0_pubkey(certificate).map(KeyKind.init(reading:)) ?? .other(name: "unreadable", bits: 0),
            fingerprint: MemoryReader.sha256(MemoryReader.encoded { i2d_X509(certificate, $0) } ?? []),
            keyFingerprint: MemoryReader.sha256(MemoryReader.encoded { i2d_X509_PUBKEY(publicKey, $0) } ?? []))
    }

    /// A name in one line, made harmless for terminals; cut at a length that no honest name has.
    static func display(_ name: OpaquePointer?) -> String {
        let bytes = MemoryReader.written { X509_NAME_print_ex($0, name, 0, copenssl_name_flags()) >= 0 } ?? []
        return String(decoding: bytes.prefix(256), as: UTF8.self)
    }

    static func hex(_ serial: UnsafePointer<ASN1_INTEGER>?) -> String {
        guard let number = ASN1_INTEGER_to_BN(serial, nil) else { return "0" }
        defer { BN_free(number) }
        guard let text = BN_bn2hex(number) else { return "0" }
        defer { copenssl_free(text) }
        let digits = String(cString: text).lowercased().drop { $0 == "0" }
        return digits.isEmpty ? "0" : String(digits)
    }

    private static func keyUsage(_ certificate: OpaquePointer) -> KeyUsage? {
        // All ones is how the function says that the extension isn't there.
        let bits = X509_get_key_usage(certificate)
        guard bits != .max else { return nil }
        var usage: KeyUsage = []
        if bits & UInt32(KU_DIGITAL_SIGNATURE) != 0 { usage.insert(.digitalSignature) }
        if bits & UInt32(KU_KEY_CERT_SIGN) != 0 { usage.insert(.certificateSigning) }
        if bits & UInt32(KU_CRL_SIGN) != 0 { usage.insert(.listSigning) }
        if bits & ~UInt32(KU_DIGITAL_SIGNATURE | KU_KEY_CERT_SIGN | KU_CRL_SIGN) != 0 { usage.insert(.other) }
        return usage
    }

    private static func extendedKeyUsage(_ certificate: OpaquePointer) -> ExtendedKeyUsage? {
        let bits = X509_get_extended_key_usage(certificate)
        guard bits != .max else { return nil }
        var usage: ExtendedKeyUsage = []
        if bits & UInt32(XKU_SSL_SERVER) != 0 { usage.insert(.server) }
        if bits & UInt32(XKU_SSL_CLIENT) != 0 { usage.insert(.client) }
        if bits & ~UInt32(XKU_SSL_SERVER | XKU_SSL_CLIENT) != 0 { usage.insert(.other) }
        return usage
    }

    private static func uris(_ certificate: OpaquePointer) -> [String] {
        guard let found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(found)
        defer { GENERAL_NAMES_free(names) }
        return (0..<max(0, copenssl_general_names_count(names))).compactMap { index in
            guard let uri = copenssl_general_name_uri(copenssl_general_names_at(names, index)), let start = ASN1_STRING_get0_data(uri)
            else {
                return nil
            }
            // By its length: a zero byte inside must not hide what follows.
            let bytes = UnsafeBufferPointer(start: start, count: Int(ASN1_STRING_length(uri)))
            return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? String(decoding: bytes, as: UTF8.self) : nil
        }
    }
}

extension KeyKind {
    /// The kind of a public key.
    init(reading key: OpaquePointer) {
        let bits = Int(EVP_PKEY_get_bits(key))
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA: self = .rsa(bits: bits)
        case EVP_PKEY_EC: self = KeyKind.curve(of: key, bits: bits)
        default: self = .other(name: EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown kind", bits: bits)
        }
    }

    private static func curve(of key: OpaquePointer, bits: Int) -> KeyKind {
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return .other(name: "EC", bits: bits) }
        switch String(decoding: name.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self) {
        case "prime256v1", "P-256": return .p256
        case "secp384r1", "P-384": return .p384
        case let other: return .other(name: other, bits: bits)
        }
    }
}

extension WallTime {
    /// Reads an ASN.1 time; nil when it isn't one.
    init?(reading time: UnsafePointer<ASN1_TIME>?) {
        var fields = tm()
        guard let time, ASN1_TIME_to_tm(time, &fields) == 1 else { return nil }
        self.init(
            year: Int(fields.tm_year) + 1_900, month: Int(fields.tm_mon) + 1, day: Int(fields.tm_mday), hour: Int(fields.tm_hour),
            minute: Int(fields.tm_min), second: Int(fields.tm_sec))
    }

    /// The system's clock. Read for certificates, and for what people are told of other days: everything else goes by monotonic time.
    public static func systemNow() -> WallTime { WallTime(seconds: Int64(time(nil))) }
}
