import SocketCore
import WifiDiscovery

/// What the routers of a scan have proven, for `discover --verify`.
struct DiscoverVerdicts {
    /// By the MAC that was claimed.
    let findings: [MACAddress: RouterVerifier.Finding]
    /// Whether a company root is configured, so that only its routers may be chosen.
    let hasRoot: Bool

    /// What is known already.
    init(_ findings: [MACAddress: RouterVerifier.Finding], hasRoot: Bool) {
        self.findings = findings
        self.hasRoot = hasRoot
    }

    /// Asks the routers of the native dialect; no other can prove anything.
    init(
        of routers: [FoundRouter], _ trust: RouterTrust, _ session: SessionConfiguration, station: MACAddress?, home: String,
        _ output: Output
    ) async throws {
        let sorted = routers.sorted { $0.plausibility < $1.plausibility }
        let findings = try await VerifyRun.findings(VerifyRun.subjects(sorted, station: station), trust, session, home: home, output)
        self.init(Dictionary(findings.map { ($0.subject.mac, $0) }) { first, _ in first }, hasRoot: trust.hasRoot)
    }

    /// Where it has proven to be the company's, or to have the key that was pinned; nil for one that hasn't.
    func place(_ mac: MACAddress) -> Endpoint? { findings[mac].flatMap { $0.judgement.isProof ? $0.endpoint : nil } }

    /// The rows as they're shown: proven ones at the place where they proved it, and graded by what is believed of them.
    func proven(_ rows: [DiscoverRow], link: Set<MACAddress>) -> [DiscoverRow] {
        var gradings: [MACAddress: Grading] = [:]
        if hasRoot { for case .native(let router, _) in admitted(rows, link: link) { gradings[router.mac] = router.grading } }
        return rows.map { row in
            guard case .native(var router, let dialects) = row, let place = place(router.mac) else { return row }
            router = router.proven(at: place)
            router.grading = gradings[router.mac] ?? router.grading
            return .native(router, also: dialects)
        }
    }

    /// Whether the row may be chosen.
    func admit(_ row: DiscoverRow) -> Bool {
        guard let mac = row.mac, case .native = row, let judgement = findings[mac]?.judgement else { return !hasRoot }
        return judgement.mayBeSelected(hasRoot: hasRoot)
    }

    /// Those rows that may be chosen, as they may be: where a root is configured, by what is proven of them.
    func admitted(_ rows: [DiscoverRow], link: Set<MACAddress>) -> [DiscoverRow] {
        let admitted = rows.filter(admit)
        guard hasRoot else { return admitted }
        let proven = admitted.compactMap { row -> (router: FoundRouter, certified: Set<MACAddress>)? in
            guard case .native(let router, _) = row else { return nil }
            return (router, findings[router.mac]?.judgement.certifiedRadios() ?? [])
        }
        return ProvenClaims.believed(proven, link: link).map { .native($0, also: []) }
    }

    /// The verdict on a row; nil for a device that can't prove anything.
    func verdict(_ row: DiscoverRow) -> Verdict? {
        guard let mac = row.mac, case .native = row else { return nil }
        return findings[mac]?.judgement.verdict
    }

    /// What the `router` line says of it.
    func members(_ row: DiscoverRow) -> [JSONValue.Member] {
        let verdict = verdict(row)
        return [.init("verdict", .text(verdict?.name)), .init("reason", .text(verdict?.reason))]
            + (row.mac.flatMap { findings[$0]?.family }.map(VerifyReport.family) ?? [])
    }
}
