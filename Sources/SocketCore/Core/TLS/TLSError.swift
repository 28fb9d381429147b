/// Why a TLS connection isn't, or is no more. Each case says whose doing it is and what to try.
public enum TLSError: Error, Equatable, Sendable {
    /// The peer won't speak TLS 1.3.
    case versionRefused
    /// The peer speaks something else.
    case notTLS(TLSOpening.Speech)
    /// The peer ended the connection with an alert.
    case alert(TLSAlert)
    /// The peer showed no certificate where one is required.
    case noCertificate
    /// The peer's certificate chain is refused.
    case certificateRefused(ChainFinding)
    /// The chain holds, and the peer is refused all the same; the text says why.
    case refused(String)
    /// The connection ended without the peer's goodbye.
    case connectionLost(TLSPhase)
    /// The peer's handshake is larger than is taken: bytes received or declared (nil where only the library has counted), and the limit.
    case handshakeTooLarge(bytes: Int?, limit: Int)
    /// A record was changed on its way, or made by somebody without the keys.
    case tampered
    /// The two sides have no method in common (key exchange, cipher or signature).
    case nothingInCommon(String)
    /// The peer broke the protocol's rules; the library's words say which.
    case protocolViolation(String)
    /// Our own certificate, key, root or list can't be used.
    case configuration(String)
    /// Our library failed: memory, or a method that it doesn't have; its words say which.
    case libraryFailure(String)
    /// Used after its end.
    case alreadyOver
}

/// How far a TLS connection had come.
public enum TLSPhase: Equatable, Sendable {
    /// Nothing had come from the peer.
    case silence
    /// In the middle of the handshake.
    case handshake
    /// The handshake was done.
    case established
}

extension TLSError {
    /// Whether dialling the same place again can't change it: a certificate was refused, on either side, or ours can't be used.
    public var isFinal: Bool {
        switch self {
        case .certificateRefused, .refused, .noCertificate, .configuration: true
        case .alert(let alert): alert.concernsOurCertificate
        case .versionRefused, .notTLS, .connectionLost, .handshakeTooLarge, .tampered, .nothingInCommon, .protocolViolation,
            .libraryFailure,
            .alreadyOver:
            false
        }
    }
}

extension TLSError: CustomStringConvertible {
    /// What happened and what to try, as one clause.
    public var description: String {
        switch self {
        case .versionRefused: "the peer doesn't speak TLS 1.3: update it"
        case .notTLS(let speech): "the peer doesn't speak TLS: \(speech.sentence); check the port and its configuration"
        case .alert(let alert): alert.sentence
        case .noCertificate: "the peer showed no certificate: give it one that the company has issued"
        case .certificateRefused(let finding): finding.description
        case .refused(let reason): reason
        case .connectionLost(.silence): "the connection ended before the peer said anything: it may not speak TLS, or be out of reach"
        case .connectionLost(.handshake): "the connection ended in the middle of the handshake: try again, and look into the peer's log"
        case .connectionLost(.established): "the connection ended without a goodbye: what came last may be incomplete"
        case .handshakeTooLarge(let bytes, let limit):
            "the peer's handshake has \(bytes.map { "\($0) bytes and more than \(limit)" } ?? "more bytes than the \(limit) that") "
                + "\(bytes == nil ? "are" : "aren't") taken: shorten its certificates or their chain"
        case .tampered: "a record was changed on its way: somebody, or a faulty device, sits between"
        case .nothingInCommon(let what): "the two sides have no method in common (\(what)): update the older one"
        case .protocolViolation(let what): "the peer breaks the rules of TLS (\(what)): update its TLS library"
        case .configuration(let what): what
        case .libraryFailure(let what): "the TLS library failed (\(what)): free memory, or reinstall OpenSSL 3"
        case .alreadyOver: "this TLS connection is already over: make a new one"
        }
    }
}
