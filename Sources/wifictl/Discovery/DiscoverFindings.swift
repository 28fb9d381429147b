import SocketCore
import WifiDiscovery

/// What the scans of one run came to together.
struct DiscoverFindings {
    /// What the native scan says; where that wasn't wanted, an empty result with what the other one knows of interfaces and link.
    var native: ScanResult
    /// Routers and devices, each once.
    var rows: [DiscoverRow]
    /// Which one the user is connected to.
    var selection: Selection
    /// Rows by dialect, for those that were asked, in the order of their declaration.
    var counts: [(dialect: Dialect, rows: Int)]
    /// Dialects and descriptions that couldn't be used, with the reason.
    var dialectFailures: [String: String]
    /// Datagrams that were no answer in the dialect of their socket.
    var ignored: Int
    /// Whether anything was found while watching, though it may have left by now.
    var hasFound: Bool
    /// A company root is configured and nobody was asked for proof.
    var lacksProof = false
    /// What the routers have proven, where they were asked.
    var verdicts: DiscoverVerdicts? {
        didSet {
            guard let verdicts else { return }
            selection = Selection.choose(amongRows: verdicts.admitted(rows, link: native.link))
            rows = verdicts.proven(rows, link: native.link)
        }
    }

    /// The findings of both scans, as far as they were made.
    init(_ asked: Set<Dialect>, native: ScanResult?, foreign: DialectResult?) {
        self.native = native ?? DiscoverFindings.empty(foreign)
        rows = DiscoverRow.rows(self.native.routers, foreign?.devices ?? [])
        selection = Selection.choose(amongRows: rows)
        let rows = rows
        counts = Dialect.allCases.filter(asked.contains).map { dialect in (dialect, rows.count { $0.dialects.contains(dialect) }) }
        dialectFailures = foreign?.failures ?? [:]
        ignored = foreign?.ignored ?? 0
        hasFound = !rows.isEmpty
    }

    private static func empty(_ foreign: DialectResult?) -> ScanResult {
        ScanResult(
            routers: [], selection: Selection(nil, .none, .none), finish: .timeUp, failedInterfaces: foreign?.failedInterfaces ?? [:],
            interfaces: foreign?.interfaces ?? [], link: foreign?.link ?? [], linkUnknown: foreign?.linkUnknown)
    }

    /// Whether anything but the native dialect was asked.
    var isForeign: Bool { counts.contains { $0.dialect != .native } }
}
