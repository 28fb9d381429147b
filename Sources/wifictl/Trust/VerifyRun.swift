import SocketCore
import WifiDiscovery

/// One run of `verify`: whom to ask, the handshakes, what is shown of them and what is kept.
struct VerifyRun {
    /// A router with the address that people are shown.
    struct Router {
        let subject: RouterVerifier.Subject
        let address: String
    }

    private let trust: RouterTrust
    private let discovery: RouterDiscovery.Options
    private let span: Duration
    private let home: String
    private let output: Output
    private let start = ContinuousClock.now

    init(_ trust: RouterTrust, _ discovery: RouterDiscovery.Options, _ span: Duration, _ context: Context) {
        self.trust = trust
        self.discovery = discovery
        self.span = span
        home = context.home
        output = context.output
    }

    // MARK: Whom to ask

    /// All routers that answer.
    func everybody() async throws -> [Router] {
        output.progress("asking on the network...")
        let result: ScanResult
        do { result = try await RouterDiscovery(discovery).scan(for: span) } catch DiscoveryError.nothingToScan { return [] }
        output.clearProgress()
        try RouterDirectory(home: home).merge(result.routers, now: SystemCalls.monotonicNow())
        return result.routers.map { Router(subject: RouterVerifier.Subject($0), address: $0.discovered.address.text(on: $0.interface)) }
    }

    /// Those that are named. One that is known and doesn't answer is asked where it was last heard.
    func named(_ references: [String]) async throws -> [Router] {
        var options = RouterManager.Options()
        options.home = home
        options.discovery = discovery
        options.scanTime = span
        options.trust = trust
        let manager = RouterManager(options)
        var routers: [Router] = []
        for reference in references {
            do {
                let target = try await manager.locate(reference)
                routers.append(router(target.mac, target.session, target.offersTLS))
            } catch ManagerError.unknownRouter(let text) {
                guard case .found(let known) = try RouterDirectory(home: home).load().find(RouterReference(reference)) else {
                    throw ManagerError.unknownRouter(text)
                }
                routers.append(router(known.router.mac, Endpoint(known.address, port: known.router.tcp), known.hasSpokenTLS))
            }
        }
        return routers
    }

    private func router(_ mac: MACAddress, _ endpoint: Endpoint, _ offersTLS: Bool) -> Router {
        Router(
            subject: RouterVerifier.Subject(mac: mac, endpoint: endpoint, offersTLS: offersTLS), address: endpoint.address.text)
    }

    // MARK: Judging

    /// Asks them and shows what came of it.
    func judge(_ routers: [Router]) async throws -> ExitStatus {
        let findings = try await VerifyRun.findings(routers.map(\.subject), trust, home: home, output)
        show(Array(zip(routers, findings)))
        summarise(findings)
        return !findings.isEmpty && findings.allSatisfy { $0.judgement.verdict == .company } ? .success : .negative
    }

    /// The judgements on routers, in their order; what they prove is remembered.
    static func findings(
        _ subjects: [RouterVerifier.Subject], _ trust: RouterTrust, home: String, _ output: Output
    ) async throws -> [RouterVerifier.Finding] {
        guard !subjects.isEmpty else { return [] }
        let state = TrustState(home: home)
        var memory = try state.load().memory
        // The directory hears of TLS from replies alone: enough to be suspicious where it's gone.
        let directory = try RouterDirectory(home: home).load()
        for subject in subjects where directory[subject.mac]?.hasSpokenTLS == true { memory.noteTLS(of: subject.mac, now: trust.clock()) }
        output.progress("\(subjects.count) handshake\(subjects.count == 1 ? "" : "s")...")
        let findings = await RouterVerifier(trust, memory: memory).verify(subjects)
        output.clearProgress()
        do {
            try state.update { kept in
                for finding in findings { kept.memory.note(finding.judgement, of: finding.subject.mac, now: trust.clock()) }
            }
        } catch {
            output.warning("what was proven isn't kept: \(error)")
        }
        return findings
    }

    // MARK: Showing

    private func show(_ rows: [(Router, RouterVerifier.Finding)]) {
        guard !output.isJSON else {
            for (router, finding) in rows { output.json("verdict", VerifyRun.members(router, finding)) }
            return
        }
        guard !rows.isEmpty else { return }
        var table = Table([Table.Column("MAC"), Table.Column("ADDRESS"), Table.Column("VERDICT"), Table.Column("WHY")])
        for (router, finding) in rows {
            let verdict = finding.judgement.verdict
            table.add([
                Table.Cell("\(router.subject.mac)"), Table.Cell(router.address), VerifyRun.cell(verdict),
                Table.Cell(finding.judgement.detail),
            ])
        }
        output.table(table)
    }

    /// The verdict's word and reason, in its colour.
    static func cell(_ verdict: Verdict) -> Table.Cell {
        let paint: Paint =
            switch verdict {
            case .company, .pinned: .green
            case .impostor, .foreign: .red
            case .vouched, .unproven: .yellow
            }
        return Table.Cell(verdict.name + (verdict.reason.map { " (\($0))" } ?? ""), paint)
    }

    private static func members(_ router: Router, _ finding: RouterVerifier.Finding) -> [JSONValue.Member] {
        let judgement = finding.judgement
        return [
            .init("mac", .string("\(router.subject.mac)")), .init("address", .string(router.address)),
            .init("tcp", .whole(router.subject.endpoint.port)), .init("verdict", .string(judgement.verdict.name)),
            .init("reason", .text(judgement.verdict.reason)), .init("detail", .string(judgement.detail)),
            .init("certificate", judgement.certificate.map(certificate) ?? .null),
        ]
    }

    private static func certificate(_ facts: CertificateFacts) -> JSONValue {
        let names = facts.names()
        return .object([
            .init("serial", .string(facts.serial)),
            .init("mac", .text(names.deviceAddresses.count == 1 ? MACAddress(bits: names.deviceAddresses[0]).description : nil)),
            .init("bssids", .array(names.radioAddresses.map { .string(MACAddress(bits: $0).description) })),
            .init("notAfter", .string(facts.notAfter.description)), .init("issuer", .string(facts.issuer)),
        ])
    }

    private func summarise(_ findings: [RouterVerifier.Finding]) {
        let names = ["company", "foreign", "impostor", "vouched", "pinned", "unproven"]
        let counts = names.map { name in (name, findings.count { $0.judgement.verdict.name == name }) }
        if output.isJSON {
            output.json(
                "summary",
                [.init("routers", .whole(findings.count))] + counts.map { .init($0.0, .whole($0.1)) }
                    + [.init("ms", .milliseconds(start.duration(to: .now)))])
        }
        guard !findings.isEmpty else { return output.remark("no router answered (wifictl doctor looks for the cause)") }
        output.remark(counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
    }
}
