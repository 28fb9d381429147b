/// The alerts with which a TLS peer ends a connection (RFC 8446, section 6.2), by number.
public enum TLSAlert: UInt8, CaseIterable, Sendable {
    /// The orderly end.
    case closeNotify = 0
    /// A message came where another was due.
    case unexpectedMessage = 10
    /// A record was damaged or forged.
    case badRecordMAC = 20
    /// A record couldn't be decrypted; reserved today.
    case decryptionFailed = 21
    /// A record was too long.
    case recordOverflow = 22
    /// Compressed data was broken; reserved today.
    case decompressionFailure = 30
    /// No parameters suited both sides.
    case handshakeFailure = 40
    /// There was no certificate; reserved today.
    case noCertificate = 41
    /// The certificate was broken.
    case badCertificate = 42
    /// The certificate was of an unknown kind.
    case unsupportedCertificate = 43
    /// The certificate was revoked.
    case certificateRevoked = 44
    /// The certificate had expired, or wasn't valid yet.
    case certificateExpired = 45
    /// Something else was wrong with the certificate.
    case certificateUnknown = 46
    /// A field held what it can't.
    case illegalParameter = 47
    /// The certificate's issuer isn't trusted.
    case unknownAuthority = 48
    /// The certificate was valid, and its owner isn't admitted.
    case accessDenied = 49
    /// A message couldn't be parsed.
    case decodeError = 50
    /// A signature or a proof was wrong.
    case decryptError = 51
    /// A limit of former times; reserved today.
    case exportRestriction = 60
    /// The version isn't spoken.
    case protocolVersion = 70
    /// The parameters weren't safe enough.
    case insufficientSecurity = 71
    /// The peer failed for reasons of its own.
    case internalError = 80
    /// An older version was tried without need.
    case inappropriateFallback = 86
    /// The peer changed its mind.
    case userCancelled = 90
    /// Renegotiation isn't done; reserved today.
    case noRenegotiation = 100
    /// An extension that must come didn't.
    case missingExtension = 109
    /// An extension came that nobody had offered.
    case unsupportedExtension = 110
    /// A certificate couldn't be fetched; reserved today.
    case certificateUnobtainable = 111
    /// No server has the name asked for.
    case unrecognizedName = 112
    /// The revocation answer was broken.
    case badCertificateStatus = 113
    /// A certificate's hash was wrong; reserved today.
    case badCertificateHash = 114
    /// No shared key has that name.
    case unknownIdentity = 115
    /// A certificate is wanted and none was shown.
    case certificateRequired = 116
    /// No application protocol suited both sides.
    case noApplicationProtocol = 120
}

extension TLSAlert {
    /// Whether the peer complains about our certificate, or about our having none.
    public var concernsOurCertificate: Bool {
        switch self {
        case .noCertificate, .badCertificate, .unsupportedCertificate, .certificateRevoked, .certificateExpired, .certificateUnknown,
            .unknownAuthority, .accessDenied, .certificateRequired, .certificateUnobtainable, .badCertificateStatus, .badCertificateHash:
            true
        default: false
        }
    }

    /// What the peer says with it and what to try, as one clause.
    public var sentence: String {
        switch self {
        case .closeNotify: "the peer closed the connection"
        case .unexpectedMessage: "the peer got a message out of turn: it may speak another protocol"
        case .badRecordMAC, .decryptionFailed, .decryptError:
            "the peer couldn't decrypt or check what came: the line or a middlebox changes it"
        case .recordOverflow: "the peer got a record that is too long: the line or a middlebox changes it"
        case .decompressionFailure, .exportRestriction, .inappropriateFallback, .noRenegotiation:
            "the peer speaks of a feature that TLS 1.3 doesn't have: update its TLS library"
        case .handshakeFailure:
            "the peer finds nothing that both sides can agree on, or refuses our certificate: compare both sides' settings"
        case .noCertificate, .certificateRequired: "the peer wants a certificate of ours: give one with --identity and --key"
        case .badCertificate: "the peer finds our certificate broken, or not one that it admits: issue it anew"
        case .unsupportedCertificate:
            "the peer says that our certificate isn't of the right kind: routers need serverAuth, controllers clientAuth"
        case .certificateRevoked: "the peer says that our certificate has been revoked: ask the company for a new one"
        case .certificateExpired: "the peer says that our certificate has expired (or its clock is wrong): issue a new one"
        case .certificateUnknown: "the peer doesn't accept our certificate, for a reason that it keeps to itself: look into its log"
        case .illegalParameter, .decodeError, .missingExtension, .unsupportedExtension:
            "the peer can't make sense of our side of the handshake: update the older of the two TLS libraries"
        case .unknownAuthority:
            "the peer doesn't know the issuer of our certificate: check its configured root, and that ours sends its intermediates"
        case .accessDenied: "the peer knows who we are and admits us not: ask its owner"
        case .protocolVersion: "the peer doesn't speak TLS 1.3: update it"
        case .insufficientSecurity: "the peer asks for stronger methods than we offer: update this side"
        case .internalError: "the peer failed for a reason of its own: look into its log"
        case .userCancelled: "the peer gave up the handshake"
        case .certificateUnobtainable, .badCertificateStatus, .badCertificateHash:
            "the peer can't get or check a record about our certificate"
        case .unrecognizedName: "the peer doesn't go by the name that was asked for"
        case .unknownIdentity: "the peer doesn't know the session that was to be resumed: try again without"
        case .noApplicationProtocol: "the peer offers another application protocol: it's no router of ours"
        }
    }
}
