/// The alerts with which a TLS peer ends a connection (RFC 8446, section 6.2), by number.
public enum TLSAlert: UInt8, CaseIterable, Sendable {
    case closeNotify = 0
    case unexpectedMessage = 10
    case badRecordMAC = 20
    case decryptionFailed = 21
    case recordOverflow = 22
    case decompressionFailure = 30
    case handshakeFailure = 40
    case noCertificate = 41
    case badCertificate = 42
    case unsupportedCertificate = 43
    case certificateRevoked = 44
    case certificateExpired = 45
    case certificateUnknown = 46
    case illegalParameter = 47
    case unknownAuthority = 48
    case accessDenied = 49
    case decodeError = 50
    case decryptError = 51
    case exportRestriction = 60
    case protocolVersion = 70
    case insufficientSecurity = 71
    case internalError = 80
    case inappropriateFallback = 86
    case userCancelled = 90
    case noRenegotiation = 100
    case missingExtension = 109
    case unsupportedExtension = 110
    case certificateUnobtainable = 111
    case unrecognizedName = 112
    case badCertificateStatus = 113
    case badCertificateHash = 114
    case unknownIdentity = 115
    case certificateRequired = 116
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
