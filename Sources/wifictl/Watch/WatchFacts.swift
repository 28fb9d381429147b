import SocketCore
import WifiDiscovery

/// Routers, verdicts and sessions in the words of the screen.
enum WatchFacts {
    static func router(_ found: FoundRouter) -> WatchRouter {
        let row = DiscoverRow.native(found, also: [])
        let grades: [LinkGrade] = [.exact, .radio, .family, .vendor, .none, .unknown]
        return WatchRouter(
            id: "\(found.mac)", title: row.title, address: row.place, device: row.product,
            grade: row.isGraded ? found.grade.rawValue : "announced",
            gradePaint: GradeText.paint(row), rank: grades.firstIndex(of: found.grade) ?? grades.count, facts: facts(found, row))
    }

    private static func facts(_ found: FoundRouter, _ row: DiscoverRow) -> [WatchRouter.Fact] {
        let router = found.discovered.router
        let radios = router.radios.map { radio in
            [radio.bssid.description, radio.ssid.isEmpty ? "" : "\"\(radio.ssid)\"", radio.band.isEmpty ? "" : "\(radio.band) GHz"]
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
        let alternates = found.discovered.alternates.map { $0.address.text(on: found.interface) }
        let versions = router.versions.map { "\($0)" }.joined(separator: ", ")
        let facts: [(String, String)] = [
            ("MAC", "\(found.mac)"), ("address", "\(row.place) on \(found.interface)"), ("also at", alternates.joined(separator: ", ")),
            ("sessions", "TCP \(router.tcp), \(router.tls ? "TLS" : "in the clear"), version \(versions)"), ("device", row.product),
            ("firmware", router.firmware), ("radios", radios.joined(separator: "; ")),
            ("boot", router.boot.map { "\($0)" } ?? ""), ("grade", GradeText.grade(row)), ("evidence", GradeText.evidence(row)),
        ]
        return facts.filter { !$0.1.isEmpty }.map { WatchRouter.Fact($0.0, $0.1) }
    }

    static func verdict(_ judgement: Judgement) -> WatchVerdict {
        let verdict = judgement.verdict
        return WatchVerdict(
            word: verdict.name + (verdict.reason.map { " (\($0))" } ?? ""), paint: VerifyReport.paint(verdict), detail: judgement.detail)
    }

    static func session(_ state: SessionState, _ mac: MACAddress) -> WatchSession {
        let (word, attempt, remark) = SessionTool.describe(state)
        let paint: Paint? =
            switch state {
            case .open, .resumed: .green
            case .lost, .closed: .red
            case .connecting, .reconnecting, .suspended: .yellow
            }
        return WatchSession(
            router: "\(mac)", state: word + (attempt.map { $0 > 1 ? " \($0)" : "" } ?? ""), paint: paint,
            remark: remark)
    }

    /// The link in words: `access point 02:00:5e:00:53:11`.
    static func link(_ addresses: Set<MACAddress>, _ unknown: WirelessUnknown?) -> String {
        guard addresses.isEmpty else {
            return "access point \(addresses.sorted().map { "\($0)" }.joined(separator: ", "))"
        }
        return unknown.map { "no access point known: \($0)" } ?? "no access point known"
    }
}
