import SocketCore
import WifiDiscovery

/// One run of `verify`: whom to ask, the handshakes, what is shown of them and what is kept.
struct VerifyRun {
    /// A router with what people are shown beside its verdict.
    struct Router {
        let subject: RouterVerifier.Subject
        var name = ""
        /// What a scan found of it, where one did.
        var found: FoundRouter?

    }

    private let trust: RouterTrust
    private let session: SessionConfiguration
    private let discovery: RouterDiscovery.Options
    private let span: Duration
    /// The time for each handshake.
    var limit = Duration.seconds(5)
    private let station: MACAddress?
    private let home: String
    private let output: Output
    private let start = ContinuousClock.now

    init(
        _ trust: RouterTrust, _ session: SessionConfiguration, _ discovery: RouterDiscovery.Options, _ span: Duration, station: MACAddress?,
        _ context: Context
    ) {
        self.session = session
        self.station = station
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
        let scanned: ScanResult?
        do { scanned = try await scan() } catch DiscoveryError.nothingToScan { return [] }
        output.clearProgress()
        guard let result = scanned else { throw CancellationError() }
        return zip(result.routers, VerifyRun.subjects(result.routers, station: station)).map { found, subject in
            Router(subject: subject, name: found.discovered.router.name, found: found)
        }
    }

    /// What a scan finds, counted while it goes on; nil when it was cancelled.
    private func scan() async throws -> ScanResult? {
        var found = 0
        for try await event in try ScanOptions.naming({ try RouterDiscovery(discovery) }).begin(for: span).events {
            switch event {
            case .found:
                found += 1
                output.progress("\(found) router\(found == 1 ? "" : "s") found")
            case .finished(let result): return result
            case .updated, .lost, .graded: break
            }
        }
        return nil
    }

    /// Whom to ask of those that a scan found, with our own MAC on each one's network.
    static func subjects(_ routers: [FoundRouter], station: MACAddress?) -> [RouterVerifier.Subject] {
        // Without the list of interfaces nobody is asked where we sit; that's all.
        let interfaces = (try? NetworkInterfaces.current()) ?? []
        return routers.map { found in
            var subject = RouterVerifier.Subject(found)
            subject.station = station ?? interfaces.first { $0.name == found.interface }?.mac
            return subject
        }
    }

    /// Those that are named: by a name, all that answer to it, since who they are is what is to be found out. One that is known and doesn't
    /// answer is asked where it was last heard.
    func named(_ references: [String]) async throws -> [Router] {
        var options = RouterManager.Options()
        options.home = home
        options.discovery = discovery
        options.scanTime = span
        options.trust = trust
        options.session = session
        let manager = RouterManager(options)
        var (routers, answering): ([Router], [Router]?) = ([], nil)
        for reference in references {
            if case .name(let name) = RouterReference(reference) {
                let all = if let answering { answering } else { try await everybody() }
                answering = all
                routers += try called(name, among: all)
                continue
            }
            do {
                let target = try await manager.locate(reference)
                var found = router(target.mac, target.session, target.offersTLS)
                found.name = try await manager.routers.first { $0.mac == target.mac }?.router.router.name ?? ""
                routers.append(found)
            } catch ManagerError.notAnswering(let silent) {
                routers.append(router(silent))
            }
        }
        return routers
    }

    /// All that call themselves so, or are known by that name.
    private func called(_ name: String, among all: [Router]) throws -> [Router] {
        let known: [KnownRouter] =
            switch try RouterDirectory(home: home).load().find(.name(name)) {
            case .found(let router): [router]
            case .ambiguous(let routers): routers
            case .unknown: []
            }
        let answering = all.filter { router in
            router.name.lowercased() == name.lowercased() || known.contains { $0.router.mac == router.subject.mac }
        }
        let silent = known.filter { router in !answering.contains { $0.subject.mac == router.router.mac } }
        guard !answering.isEmpty || !silent.isEmpty else { throw ManagerError.unknownRouter(name) }
        return answering + silent.map(router)
    }

    private func router(_ silent: KnownRouter) -> Router {
        var found = router(silent.router.mac, Endpoint(silent.address, port: silent.router.tcp), silent.hasSpokenTLS)
        found.name = silent.router.name
        return found
    }

    private func router(_ mac: MACAddress, _ endpoint: Endpoint, _ offersTLS: Bool) -> Router {
        var subject = RouterVerifier.Subject(mac: mac, endpoint: endpoint, offersTLS: offersTLS)
        subject.station = station
        return Router(subject: subject)
    }

    // MARK: Judging

    /// Asks them and shows what came of it.
    func judge(_ routers: [Router]) async throws -> ExitStatus {
        let findings = try await VerifyRun.findings(routers.map(\.subject), trust, session, within: limit, home: home, output)
        var unkept = UnkeptRouters(wantsProof: trust.hasRoot)
        for (router, finding) in zip(routers, findings) {
            if let found = router.found { unkept.note(found) }
            unkept.note(finding)
        }
        unkept.keep(in: RouterDirectory(home: home), output)
        let report = VerifyReport(output)
        report.show(Array(zip(routers, findings)))
        report.summarise(findings, after: start.duration(to: .now))
        remarkOnChildren(findings)
        return !findings.isEmpty && findings.allSatisfy { $0.judgement.verdict == .company } ? .success : .negative
    }

    /// Ended before anybody was asked: a script's last line says so all the same.
    func wasInterrupted() {
        output.clearProgress()
        let report = VerifyReport(output)
        output.isJSON ? report.total([], after: start.duration(to: .now)) : output.remark("interrupted: nobody was asked")
    }

    /// Who has children says so over its proven connection alone, and only to those that it admits.
    private func remarkOnChildren(_ findings: [RouterVerifier.Finding]) {
        let parents = findings.filter { $0.judgement.verdict == .company && $0.subject.hasChildren && $0.family == nil }
        guard trust.identity == nil, !parents.isEmpty, findings.contains(where: { Vouching.mayFill($0.judgement) }) else { return }
        let names = parents.map { "\($0.subject.mac)" }.joined(separator: ", ")
        output.remark("\(names) may vouch for child access points, if asked with --identity and --key")
    }

    /// The judgements on routers, in their order; what they prove is remembered.
    static func findings(
        _ subjects: [RouterVerifier.Subject], _ trust: RouterTrust, _ session: SessionConfiguration, within limit: Duration = .seconds(5),
        home: String,
        _ output: Output
    ) async throws -> [RouterVerifier.Finding] {
        guard !subjects.isEmpty else { return [] }
        let state = TrustState(home: home)
        var memory = try state.load().memory
        // The directory hears of TLS from replies alone: enough to be suspicious where it's gone.
        let directory = try RouterDirectory(home: home).load()
        for subject in subjects where directory[subject.mac]?.hasSpokenTLS == true { memory.noteTLS(of: subject.mac, now: trust.clock()) }
        let tell = { @Sendable (judged: Int) in output.progress("\(judged) of \(subjects.count) asked to prove whose they are") }
        tell(0)
        let findings = await RouterVerifier(trust, memory: memory, session: session, limit: limit).verify(subjects, onJudged: tell)
        output.clearProgress()
        do {
            try state.update { kept in
                for finding in findings {
                    kept.memory.note(finding.judgement, of: finding.subject.mac, at: finding.endpoint, now: trust.clock())
                }
            }
        } catch {
            output.warning("what was proven isn't kept: \(error)")
        }
        return findings
    }
}
