import SocketCore
import WifiDiscovery

/// What `watch` was asked for, put together for either of its faces.
struct WatchPlan: Sendable {
    let context: Context
    let discovery: RouterDiscovery
    let trust: RouterTrust
    private let session: SessionConfiguration
    let inbox: WatchInbox
    let sessions: WatchSessions
    let directory: RouterDirectory
    /// Whose session to follow from the beginning.
    let reference: String?
    var signals = WatchSignals()

    init(_ arguments: Arguments, _ context: Context) throws {
        self.context = context
        let options = try ScanOptions.discovery(arguments, context)
        discovery = try ScanOptions.naming { try RouterDiscovery(options) }
        trust = try TrustOptions.routerTrust(arguments, context)
        session = SessionTool.inquiry(arguments)
        let inbox = WatchInbox()
        self.inbox = inbox
        let manager = try SessionTool.manager(
            arguments, context, { $0.discovery = options }, onEvent: { source, event in inbox.tell(.session(source, event)) })
        sessions = WatchSessions(manager, inbox)
        directory = RouterDirectory(home: context.home)
        reference = arguments.optional(0)
    }

    /// Asks routers whose they are; findings and failures come back through the inbox.
    func verify(_ routers: [FoundRouter]) {
        guard !routers.isEmpty else { return }
        let (inbox, trust, session, context) = (inbox, trust, session, context)
        Task {
            do {
                let subjects = VerifyRun.subjects(routers, station: nil)
                for finding in try await VerifyRun.findings(subjects, trust, session, home: context.home, context.output) {
                    inbox.tell(.finding(finding))
                }
            } catch { inbox.tell(.remark("nobody can be verified: \(error)", .red)) }
        }
    }

    /// What is known of the routers, and which of them is the one: as `discover` would say it.
    func findings(
        _ routers: [FoundRouter], _ proofs: [MACAddress: RouterVerifier.Finding], link: Set<MACAddress>, unknown: WirelessUnknown?
    ) -> DiscoverFindings {
        let isAlone = routers.count { $0.discovered.isConfirmed } == 1
        let judged = routers.sorted { $0.mac < $1.mac }.map { router in
            var judged = router
            judged.evidence.onlyResponder = isAlone && router.discovered.isConfirmed
            return judged
        }
        var findings = DiscoverFindings([.native], native: nil, foreign: nil)
        findings.rows = DiscoverRow.rows(judged, [])
        (findings.native.link, findings.native.linkUnknown) = (link, unknown)
        findings.selection = Selection.choose(amongRows: findings.rows)
        if trust.hasRoot { findings.verdicts = DiscoverVerdicts(proofs, hasRoot: true) }
        return findings
    }
}
