import SocketCore
import WifiDiscovery

/// What the routers of a scan have proven, for `discover --verify`.
struct DiscoverVerdicts {
    /// By the MAC that was claimed.
    let judgements: [MACAddress: Judgement]
    /// What proven routers say of the access points behind them.
    let families: [MACAddress: RouterFamily]
    /// Where those did that have proven to be the company's.
    let places: [MACAddress: Endpoint]
    /// Whether a company root is configured, so that only its routers may be chosen.
    let hasRoot: Bool

    /// What is known already.
    init(_ judgements: [MACAddress: Judgement], hasRoot: Bool) {
        self.judgements = judgements
        families = [:]
        places = [:]
        self.hasRoot = hasRoot
    }

    /// Asks the routers of the native dialect; no other can prove anything.
    init(of routers: [FoundRouter], _ trust: RouterTrust, station: MACAddress?, home: String, _ output: Output) async throws {
        let sorted = routers.sorted { $0.plausibility < $1.plausibility }
        let findings = try await VerifyRun.findings(VerifyRun.subjects(sorted, station: station), trust, home: home, output)
        let known = findings.compactMap { finding in finding.family.map { (finding.subject.mac, $0) } }
        families = Dictionary(known) { first, _ in first }
        let proven = findings.filter { $0.judgement.verdict == .company }
        places = Dictionary(proven.map { ($0.subject.mac, $0.endpoint) }) { first, _ in first }
        judgements = Dictionary(findings.map { ($0.subject.mac, $0.judgement) }) { first, _ in first }
        hasRoot = trust.hasRoot
    }

    /// Whether the row may be chosen.
    func admit(_ row: DiscoverRow) -> Bool {
        guard let mac = row.mac, case .native = row, let judgement = judgements[mac] else { return !hasRoot }
        return judgement.mayBeSelected(hasRoot: hasRoot)
    }

    /// Those rows that may be chosen, as they may be: where a root is configured, by what is proven of them.
    func admitted(_ rows: [DiscoverRow], link: Set<MACAddress>) -> [DiscoverRow] {
        let admitted = rows.filter(admit)
        guard hasRoot else { return admitted }
        let proven = admitted.compactMap { row -> (router: FoundRouter, certified: Set<MACAddress>)? in
            guard case .native(let router, _) = row else { return nil }
            return (router, judgements[router.mac]?.certifiedRadios() ?? [])
        }
        return ProvenClaims.believed(proven, link: link).map { .native($0, also: []) }
    }

    /// The verdict on a row; nil for a device that can't prove anything.
    func verdict(_ row: DiscoverRow) -> Verdict? {
        guard let mac = row.mac, case .native = row else { return nil }
        return judgements[mac]?.verdict
    }

    /// What the `router` line says of it.
    func members(_ row: DiscoverRow) -> [JSONValue.Member] {
        let verdict = verdict(row)
        return [.init("verdict", .text(verdict?.name)), .init("reason", .text(verdict?.reason))]
            + (row.mac.flatMap { families[$0] }.map(VerifyReport.family) ?? [])
    }
}
