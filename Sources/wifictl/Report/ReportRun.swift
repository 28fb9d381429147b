import SocketCore
import WifiDiscovery

/// One run of `report`: a scan with its times, proofs, round trips, and the page that comes of it.
struct ReportRun {
    /// Routers whose round trips are measured: more would take longer than anybody waits.
    static let mostProbed = 64
    /// Asked in one go, one after the other, before the next look at whether somebody ends it.
    private static let probedAtOnce = 8

    let discovery: RouterDiscovery.Options
    let trust: RouterTrust
    let session: SessionConfiguration
    /// This machine's own MAC; nil takes the interface's.
    let station: MACAddress?
    let span: Duration
    /// Probes to each router.
    let probes: Int
    let context: Context

    private var output: Output { context.output }

    /// Looks, asks and measures.
    func report() async throws -> LANReport {
        let start = ContinuousClock.now
        var foundAt: [MACAddress: Duration] = [:]
        var finished: ScanResult?
        output.progress("asking on the network...")
        do {
            for try await event in try RouterDiscovery(discovery).events(for: span) {
                switch event {
                case .found(let router):
                    foundAt[router.mac] = start.duration(to: .now)
                    output.progress(counted(foundAt.count, "router") + "...")
                case .finished(let result): finished = result
                case .updated, .lost, .graded: break
                }
            }
        } catch DiscoveryError.nothingToScan(let reasons) {
            finished = ScanResult(routers: [], selection: Selection(nil, .none, .none), finish: .noInterface, failedInterfaces: reasons)
        }
        guard let result = finished else { throw CancellationError() }
        var findings = DiscoverFindings([.native], native: result, foreign: nil)
        let verdicts = try await DiscoverVerdicts(of: result.routers, trust, session, station: station, home: context.home, output)
        findings.verdicts = verdicts
        RouterDirectory(home: context.home).keep(findings, output)
        let trips = try await measure(result.routers.filter(\.discovered.isConfirmed))
        output.clearProgress()
        return page(findings, verdicts, foundAt, trips, start.duration(to: .now))
    }

    /// Several probes to each router, the routers in turns.
    private func measure(_ routers: [FoundRouter]) async throws -> [MACAddress: [Double?]] {
        let sampler = RoundTripSampler(discovery)
        var trips: [MACAddress: [Double?]] = [:]
        let probed = routers.prefix(ReportRun.mostProbed)
        for round in 1...max(1, probes) {
            for first in stride(from: 0, to: probed.count, by: ReportRun.probedAtOnce) {
                try context.cancellation.check()
                output.progress("round trips: \(round) of \(probes), \(first) of \(probed.count) routers")
                let group = Array(probed.dropFirst(first).prefix(ReportRun.probedAtOnce))
                for trip in await sampler.sample(group) { trips[trip.mac, default: []].append(trip.roundTrip?.inMilliseconds) }
            }
        }
        return trips
    }

    private func page(
        _ findings: DiscoverFindings, _ verdicts: DiscoverVerdicts, _ foundAt: [MACAddress: Duration], _ trips: [MACAddress: [Double?]],
        _ elapsed: Duration
    ) -> LANReport {
        let chosen = findings.selection.mac
        let rows = findings.rows.sorted { left, right in
            (left.mac == chosen ? 0 : 1, left.grading.grade, NaturalOrder(left.title))
                < (right.mac == chosen ? 0 : 1, right.grading.grade, NaturalOrder(right.title))
        }
        let counters = findings.native.counters
        let counts: [(String, Int)] = [
            ("routers", rows.count), ("probes sent", counters.probes), ("replies", counters.replies), ("duplicates", counters.duplicates),
            ("announcements", counters.announcements), ("invalid datagrams", counters.invalidCount), ("not asked for", counters.stale),
            ("over a limit", counters.rateLimited), ("probes not sent", counters.sendFailures),
        ]
        let failed = findings.native.failedInterfaces.sorted { $0.key < $1.key }.map { LANReport.Count(name: $0.key, value: $0.value) }
        return LANReport(
            made: "\(WallTime.systemNow())", tool: "\(CommandRegistry.toolName) \(CommandRegistry.toolVersion)",
            interfaces: findings.native.interfaces, accessPoint: findings.native.link.sorted().map { "\($0)" }, link: link(findings.native),
            chosen: chosen.map { "\($0)" }, sentence: (chosen == nil ? "" : "Connected to ") + GradeText.sentence(findings),
            routers: rows.compactMap { router($0, verdicts, foundAt, trips) } + silentChildren(rows, verdicts),
            duration: elapsed.inMilliseconds,
            counts: counts.map { LANReport.Count(name: $0.0, value: "\($0.1)") } + failed)
    }

    /// The network and its signal, where the kernel knows it.
    private func link(_ result: ScanResult) -> String {
        if let unknown = result.linkUnknown { return "\(unknown)" }
        guard discovery.link == .automatic else { return result.link.isEmpty ? "not asked for" : "as given by --bssid" }
        guard let linked = WirelessLink.read().interfaces.compactMap(\.linked).first else { return "" }
        return [linked.ssid.map { "\"\($0)\"" }, linked.band.map { "\($0) GHz" }, linked.signal.map { "\(Int($0.rounded())) dBm" }]
            .compactMap { $0 }.joined(separator: ", ")
    }

    private func router(
        _ row: DiscoverRow, _ verdicts: DiscoverVerdicts, _ foundAt: [MACAddress: Duration], _ trips: [MACAddress: [Double?]]
    ) -> LANReport.Router? {
        guard case .native(let found, _) = row else { return nil }
        let judgement = verdicts.findings[found.mac]?.judgement
        let verdict = judgement?.verdict
        var parent = verdicts.findings.first { $0.value.family?.children.contains(found.mac) == true }.map { "\($0.key)" }
        if case .vouched(let by)? = verdict { parent = "\(by)" }
        let radios = row.radios.map { radio in
            [radio.bssid.description, radio.ssid.isEmpty ? "" : "\"\(radio.ssid)\"", radio.band.isEmpty ? "" : "\(radio.band) GHz"]
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
        return LANReport.Router(
            mac: "\(found.mac)", name: row.name, address: row.place, interface: row.interface, device: row.product,
            firmware: found.discovered.router.firmware, grade: GradeText.grade(row), isOnLink: found.grade <= .radio,
            isGuess: found.grade == .family, evidence: GradeText.evidence(row),
            verdict: verdict.map { $0.name + ($0.reason.map { " (\($0))" } ?? "") } ?? "not asked", tone: tone(verdict),
            reason: judgement?.detail ?? "", radios: radios, parent: parent,
            foundAt: foundAt[found.mac].flatMap { found.discovered.isConfirmed ? $0.inMilliseconds : nil }, trips: trips[found.mac] ?? [])
    }

    /// Children that a proven router named and that gave no answer of their own.
    private func silentChildren(_ rows: [DiscoverRow], _ verdicts: DiscoverVerdicts) -> [LANReport.Router] {
        let heard = Set(rows.compactMap(\.mac))
        return verdicts.findings.sorted { $0.key < $1.key }.flatMap { parent, finding in
            (finding.family?.children ?? []).subtracting(heard).sorted().map { child in
                LANReport.Router(
                    mac: "\(child)", name: "", address: "", interface: "", device: "", firmware: "", grade: "", isOnLink: false,
                    isGuess: false, evidence: "", verdict: "vouched", tone: .fair,
                    reason: "named as its child by \(parent); it gave no answer",
                    radios: [], parent: "\(parent)", foundAt: nil, trips: [])
            }
        }
    }

    private func tone(_ verdict: Verdict?) -> LANReport.Tone {
        switch verdict {
        case .company: .good
        case .pinned, .vouched: .fair
        case .foreign, .impostor: .bad
        case .unproven, nil: .open
        }
    }
}
