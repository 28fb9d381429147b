/// The rules about time and revocation (protocol.md, section 6), the same for routers and for controllers.
public struct ValidityRules: Equatable, Sendable {
    /// Refuse a certificate whose issuer has no revocation list here, or only an outdated one. Off by default: a stale list locks
    /// nobody out.
    public var requiresRevocationData: Bool

    /// Rules as given.
    public init(requiresRevocationData: Bool = false) { self.requiresRevocationData = requiresRevocationData }

    /// The first thing wrong with the chain's time and revocation at `time`, nil for none. Revocation first: it's the one that
    /// waiting doesn't mend.
    public func judge(_ evidence: PeerEvidence, at time: JudgedTime) -> ChainFinding? {
        for (depth, revocation) in evidence.revocations.enumerated() {
            if case .listed = revocation { return ChainFinding(.revoked, depth: depth) }
        }
        for (depth, certificate) in evidence.chain.prefix(evidence.judgedCount).enumerated() {
            if certificate.notAfter < time.now { return ChainFinding(.expired, depth: depth) }
            // A clock that is known to be behind can't tell a certificate from the future from one of today.
            if !time.clockIsBehind, certificate.notBefore > time.now { return ChainFinding(.notYetValid, depth: depth) }
        }
        guard requiresRevocationData else { return nil }
        for (depth, revocation) in evidence.revocations.enumerated() {
            switch revocation {
            case .noList: return ChainFinding(.revocationListMissing, depth: depth)
            case .notListed(let until):
                if let until, until < time.now { return ChainFinding(.revocationListStale, depth: depth) }
            case .listed: break
            }
        }
        return nil
    }
}
