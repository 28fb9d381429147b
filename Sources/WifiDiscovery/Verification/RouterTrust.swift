import SocketCore

/// What routers are judged by, and what they're shown of us (protocol.md, section 6). A value; files are read when it's made.
public struct RouterTrust: Sendable {
    /// The company's roots, or issuers below them. None: nothing can be proven.
    public var roots: [TLSConfiguration.NamedBytes]
    /// Revocation lists of the routers' issuers.
    public var revocationLists: [TLSConfiguration.NamedBytes]
    /// Our operator certificate; shown only to routers that are admitted.
    public var identity: TLSIdentity?
    /// The company's private enterprise number; nil takes names given by any company whose root is configured.
    public var enterprise: UInt32?
    /// Time and revocation.
    public var validity = ValidityRules()
    /// The system's civil time.
    public var clock: @Sendable () -> WallTime = { .systemNow() }
    /// Told when the file of a revocation list has changed: see `TLSConfiguration`.
    public var onRemark: @Sendable (String) -> Void = { _ in }

    /// Trust as given; by default nobody is trusted and nothing shown.
    public init(
        roots: [TLSConfiguration.NamedBytes] = [], revocationLists: [TLSConfiguration.NamedBytes] = [], identity: TLSIdentity? = nil
    ) {
        self.roots = roots
        self.revocationLists = revocationLists
        self.identity = identity
    }

    /// Trust in the company whose roots lie in those files (PEM or DER).
    ///
    /// - Throws: `TLSError.configuration(_:)` when one can't be read.
    public static func company(root files: String...) throws(TLSError) -> RouterTrust {
        var trust = RouterTrust()
        for file in files { trust.roots.append(try TLSConfiguration.NamedBytes(file: file)) }
        return trust
    }

    /// A company root is configured: from now on only `company` is good enough.
    public var hasRoot: Bool { !roots.isEmpty }

    /// The rules for routers.
    public var judge: VerdictJudge { VerdictJudge(hasRoot: hasRoot, enterprise: enterprise, validity: validity) }

    /// The settings of a connection to the router that claims `mac`.
    ///
    /// - Parameters:
    ///   - mac: whom it has to be.
    ///   - record: what is remembered of it.
    ///   - floor: how late it is at least.
    ///   - admitsAnybody: judgements are told and nobody is refused.
    ///   - onJudgement: told each judgement made on the connection, in the middle of its handshake.
    public func configuration(
        for mac: MACAddress, record: TrustRecord? = nil, floor: ClockFloor = ClockFloor(), admitsAnybody: Bool = false,
        onJudgement: @escaping @Sendable (Judgement) -> Void
    ) -> TLSConfiguration {
        let (judge, clock) = (judge, clock)
        var configuration = TLSConfiguration(role: .client, identity: identity, roots: roots, revocationLists: revocationLists) {
            evidence in
            let judgement = judge.judge(.evidence(evidence), of: mac, record: record, at: floor.judge(clock()))
            onJudgement(judgement)
            return admitsAnybody ? nil : judgement.refusal(hasRoot: judge.hasRoot)
        }
        configuration.onRemark = onRemark
        return configuration
    }

    /// Reads all certificates, lists and keys once, so that what is wrong with them is told before any router is asked.
    ///
    /// - Throws: `TLSError.configuration(_:)`.
    public func check() throws(TLSError) {
        _ = try TLSContext(
            TLSConfiguration(role: .client, identity: identity, roots: roots, revocationLists: revocationLists) { _ in nil })
    }
}
