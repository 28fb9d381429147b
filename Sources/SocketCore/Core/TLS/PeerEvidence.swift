/// All that a handshake tells of who the peer is. Facts only: what they mean is judged elsewhere, and a resumed session gives the
/// same facts, gathered anew.
public struct PeerEvidence: Equatable, Sendable {
    /// The certificates, the peer's own first, as far up as they could be followed; never empty.
    public var chain: [CertificateFacts]
    /// What is wrong with the chain, validity and revocation aside, in the order found. Empty: it ends at a configured root.
    public var findings: [ChainFinding]
    /// What the revocation lists say of each certificate below the root, in the chain's order.
    public var revocations: [Revocation]
    /// How many of `chain`, from its start, have to be valid now: all but the configured root that ends it, which is
    /// trusted because it's configured (RFC 5280, section 6.1).
    public var judgedCount: Int
    /// The session was taken up again by a ticket, without showing the certificates once more.
    public var isResumed: Bool

    /// Evidence as given.
    public init(chain: [CertificateFacts], findings: [ChainFinding], revocations: [Revocation], judgedCount: Int, isResumed: Bool) {
        self.chain = chain
        self.findings = findings
        self.revocations = revocations
        self.judgedCount = judgedCount
        self.isResumed = isResumed
    }

    /// The peer's own certificate.
    public var leaf: CertificateFacts? { chain.first }

    /// Whether the peer could issue certificates below the same root. One that is configured itself is whatever it was configured for.
    public var mayPeerSign: Bool { chain.count > 1 && leaf?.isAuthority == true }

    /// Whose certificate it is, for what may be taken up by its owner alone: the operators that it names, so that a renewed certificate is the
    /// same owner's, else its key.
    public var owner: String? {
        guard let leaf else { return nil }
        let operators = leaf.names().operators
        return operators.isEmpty ? "key \(HexText.bytes(leaf.keyFingerprint))" : operators.sorted().joined(separator: ", ")
    }

    /// The newest beginning of validity in the chain, the root's left out: where nothing is wrong with it, it's certainly later than that.
    public var provenSince: WallTime? { chain.prefix(judgedCount).map(\.notBefore).max() }
}

/// What the configured revocation lists say of one certificate.
public enum Revocation: Hashable, Sendable {
    /// Its serial is listed by its issuer, in a list of any age.
    case listed(since: WallTime)
    /// Its issuer's lists don't have it; the newest of them holds until then (nil: it names no end).
    case notListed(until: WallTime?)
    /// There is no list by its issuer.
    case noList
}
