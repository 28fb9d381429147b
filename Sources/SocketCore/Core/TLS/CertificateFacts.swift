/// What a certificate says, read once and free of the library that read it.
public struct CertificateFacts: Hashable, Sendable {
    /// The subject, for display only: nothing is ever decided by it.
    public var subject: String
    /// The issuer, for display only.
    public var issuer: String
    /// The serial number in lower-case hex digits without leading zeros ("0" for none).
    public var serial: String
    /// First second of validity.
    public var notBefore: WallTime
    /// Last second of validity.
    public var notAfter: WallTime
    /// What the key may be used for; nil when the certificate doesn't say.
    public var keyUsage: KeyUsage?
    /// What the certificate may be used for; nil when it doesn't say.
    public var extendedKeyUsage: ExtendedKeyUsage?
    /// Whether it may sign other certificates.
    public var isAuthority: Bool
    /// The URIs of its subjectAltName, in order; those with other characters than ASCII are left out.
    public var uris: [String]
    /// The public key's kind and size.
    public var key: KeyKind
    /// SHA-256 of the whole certificate (DER).
    public var fingerprint: [UInt8]
    /// SHA-256 of the public key (DER of SubjectPublicKeyInfo): what a pin remembers, since it outlives renewal.
    public var keyFingerprint: [UInt8]

    /// Facts as given.
    public init(
        subject: String, issuer: String, serial: String, notBefore: WallTime, notAfter: WallTime, keyUsage: KeyUsage?,
        extendedKeyUsage: ExtendedKeyUsage?, isAuthority: Bool, uris: [String], key: KeyKind, fingerprint: [UInt8], keyFingerprint: [UInt8]
    ) {
        self.subject = subject
        self.issuer = issuer
        self.serial = serial
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.keyUsage = keyUsage
        self.extendedKeyUsage = extendedKeyUsage
        self.isAuthority = isAuthority
        self.uris = uris
        self.key = key
        self.fingerprint = fingerprint
        self.keyFingerprint = keyFingerprint
    }

    /// The names that mean something to us; those of other companies than `enterprise` are ignored when it's given.
    public func names(enterprise: UInt32? = nil) -> CertifiedNames { CertifiedNames(uris: uris, enterprise: enterprise) }
}

/// What a key may be used for (RFC 5280, section 4.2.1.3): those that matter here.
public struct KeyUsage: OptionSet, Hashable, Sendable {
    /// Bit set.
    public let rawValue: UInt8
    /// The usages in `rawValue`.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Signing a handshake.
    public static let digitalSignature = KeyUsage(rawValue: 1)
    /// Signing certificates.
    public static let certificateSigning = KeyUsage(rawValue: 2)
    /// Signing revocation lists.
    public static let listSigning = KeyUsage(rawValue: 4)
    /// Anything else.
    public static let other = KeyUsage(rawValue: 8)
}

/// What a certificate may be used for (RFC 5280, section 4.2.1.12): those that matter here.
public struct ExtendedKeyUsage: OptionSet, Hashable, Sendable {
    /// Bit set.
    public let rawValue: UInt8
    /// The usages in `rawValue`.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// A TLS server: a router.
    public static let server = ExtendedKeyUsage(rawValue: 1)
    /// A TLS client: a controller.
    public static let client = ExtendedKeyUsage(rawValue: 2)
    /// Anything else, `anyExtendedKeyUsage` included: it admits nobody here.
    public static let other = ExtendedKeyUsage(rawValue: 4)
}

/// A public key's kind.
public enum KeyKind: Hashable, Sendable {
    /// ECDSA on NIST's curve P-256.
    case p256
    /// ECDSA on NIST's curve P-384.
    case p384
    /// RSA with that many bits.
    case rsa(bits: Int)
    /// Another kind, with its name and size in bits.
    case other(name: String, bits: Int)

    /// Accepted: P-256, P-384, RSA from 2048 bits.
    public var isAccepted: Bool {
        switch self {
        case .p256, .p384: true
        case .rsa(let bits): bits >= 2_048
        case .other: false
        }
    }
}

extension KeyKind: CustomStringConvertible {
    /// `P-256`, `RSA-2048`, …
    public var description: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        case .rsa(let bits): "RSA-\(bits)"
        case .other(let name, let bits): "\(name)-\(bits)"
        }
    }
}
