import SocketCore

/// Whose router it is (protocol.md, section 6). Independent of the grade: a reply's own claims prove nothing.
public enum Verdict: Hashable, Sendable {
    /// Certificate of a configured company root, meant for servers, not revoked, naming the reply's MAC.
    case company
    /// Handshake done, and the certificate is of no configured root.
    case foreign
    /// Certificate of a configured company root that names another MAC than the reply claims.
    case impostor(names: MACAddress)
    /// Not itself proven, but named as its child by a proven router.
    case vouched(by: MACAddress)
    /// No company root: the same key as at an earlier visit that the user trusted.
    case pinned
    /// Nothing is proven, for that reason.
    case unproven(UnprovenReason)
}

/// Why nothing is proven. The last three refine what protocol.md lists as `protocolError` and `noRoot`.
public enum UnprovenReason: String, CaseIterable, Sendable {
    /// It offers no TLS, or speaks this protocol in the clear.
    case plaintext
    /// No company root is configured, so that nothing can be proven.
    case noRoot
    /// No connection could be made.
    case unreachable
    /// A certificate of its chain has expired.
    case expired
    /// A certificate of its chain isn't valid yet, by a clock that isn't known to be wrong.
    case notYetValid
    /// Its certificate, or its issuer's, has been revoked.
    case revoked
    /// Revocation data is required and there is none, or only an outdated list.
    case revocationDataMissing
    /// Its certificate isn't meant for servers.
    case wrongPurpose
    /// The connection ended, or stalled, in the handshake.
    case connectionLost
    /// It doesn't speak TLS 1.3.
    case versionRefused
    /// It speaks something else than TLS.
    case notTLS
    /// It breaks the rules of TLS, or the handshake failed for a technical reason.
    case protocolError
    /// Its certificate is the company's, but breaks the profile: no MAC, two MACs, a weak key, …
    case badCertificate
    /// It refused us before it showed who it is.
    case refused
    /// No company root, and another key than the one that the user trusted at an earlier visit.
    case keyChanged
}

extension Verdict {
    /// The word for tables and JSON.
    public var name: String {
        switch self {
        case .company: "company"
        case .foreign: "foreign"
        case .impostor: "impostor"
        case .vouched: "vouched"
        case .pinned: "pinned"
        case .unproven: "unproven"
        }
    }

    /// The word that says why; nil where the verdict itself says it all.
    public var reason: String? { if case .unproven(let reason) = self { reason.rawValue } else { nil } }
}

/// A verdict with what it rests on.
public struct Judgement: Hashable, Sendable {
    /// The verdict.
    public let verdict: Verdict
    /// Why, and what to do about it: one sentence without a full stop.
    public let detail: String
    /// The certificate that the router proved to have the key of; nil when it proved none.
    public let certificate: CertificateFacts?
    /// It used to speak TLS and doesn't now: somebody may be posing as it.
    public let isDowngrade: Bool
    /// The newest beginning of validity in a chain that was proven, to raise the clock's floor by; nil for every verdict but `company`.
    public let provenSince: WallTime?

    init(
        _ verdict: Verdict, _ detail: String, certificate: CertificateFacts? = nil, isDowngrade: Bool = false, provenSince: WallTime? = nil
    ) {
        self.verdict = verdict
        self.detail = detail
        self.certificate = certificate
        self.isDowngrade = isDowngrade
        self.provenSince = provenSince
    }

    /// Whether the router has shown that it's the one: to the company's root, or by the key that the user trusted.
    public var isProof: Bool { verdict == .company || verdict == .pinned }

    /// What a handshake with it ends by; nil admits it.
    public func refusal(hasRoot: Bool) -> TLSError? {
        mayBeSelected(hasRoot: hasRoot) ? nil : .refused("\(verdict.name): \(detail)")
    }

    /// Whether the router may be selected without the user naming it and the exception: with a company root only `company`; without one,
    /// everything but what looks like somebody posing as a router that was here before.
    public func mayBeSelected(hasRoot: Bool) -> Bool {
        if hasRoot { return verdict == .company }
        return !isDowngrade && verdict != .unproven(.keyChanged)
    }
}
