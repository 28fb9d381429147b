import SocketCore
import WifiDiscovery

/// One run of `discover`: the scans, what is shown of them, and what is kept.
struct DiscoverRun {
    /// nil when its dialect isn't wanted.
    let native: RouterDiscovery?
    /// nil when no foreign dialect is wanted.
    let foreign: DialectDiscovery?
    let asked: Set<Dialect>
    private let interfaces: [String]
    let directory: RouterDirectory
    let view: DiscoverView
    let output: Output
    /// What routers are asked to prove themselves by; nil doesn't ask.
    private let trust: RouterTrust?
    private let session: SessionConfiguration
    private let station: MACAddress?
    private let home: String
    private let sampler: RoundTripSampler
    private let start = ContinuousClock.now

    init(
        _ options: RouterDiscovery.Options, dialects: Set<Dialect>, trust: RouterTrust?, _ session: SessionConfiguration,
        station: MACAddress?, _ context: Context
    ) throws {
        self.trust = trust
        self.session = session
        self.station = station
        home = context.home
        sampler = RoundTripSampler(options)
        // Made in any case: it's what refuses an interface that doesn't exist.
        let discovery = try RouterDiscovery(options)
        native = dialects.contains(.native) ? discovery : nil
        var foreignOptions = DialectDiscovery.Options()
        foreignOptions.dialects = dialects.subtracting([.native])
        foreignOptions.interfaces = options.interfaces
        foreignOptions.link = options.link
        foreignOptions.targets = options.targets.map(\.address)
        foreign = foreignOptions.dialects.isEmpty ? nil : DialectDiscovery(foreignOptions)
        asked = dialects
        interfaces = options.interfaces
        directory = RouterDirectory(home: context.home)
        output = context.output
        view = DiscoverView(output: context.output, asksDirectly: !options.targets.isEmpty)
    }

    /// Routers whose round trips are measured: a crowd would take longer than anybody waits.
    private static let mostTimed = 64

    private var elapsed: Duration { start.duration(to: .now) }

    private func begin(for duration: Duration?, _ cancellation: CancellationSignal) -> RunningDiscovery {
        let running = RunningDiscovery(native?.begin(for: duration), foreign?.begin(for: duration))
        cancellation.onRaise { running.stop() }
        return running
    }

    /// Scans for that long, or until the access point's router has answered where the options say so; `wantsMatch` makes that one what
    /// has to be found.
    func scan(for duration: Duration, wantsMatch: Bool = false, _ cancellation: CancellationSignal) async throws -> ExitStatus {
        var found = 0
        var (routers, devices): (ScanResult?, DialectResult?) = (nil, nil)
        var failures: [String: String] = [:]
        output.progress("asking on the network...")
        let running = begin(for: duration, cancellation)
        for try await event in running.events {
            switch event {
            case .native(.found), .foreign(.found):
                found += 1
                output.progress("\(found) answer\(found == 1 ? "" : "s") after \(elapsed.briefText)")
            case .native(.finished(let result)):
                routers = result
                // What was waited for is there: the other dialects needn't look on.
                if case .matched = result.finish { running.stop() }
            case .foreign(.finished(let result)): devices = result
            case .foreignFailed(let error): failures["dialects"] = "\(error)"
            case .native, .foreign: break
            }
        }
        guard routers != nil || devices != nil else { throw CancellationError() }
        if output.isJSON, let found = routers { routers = await timed(found) }
        var findings = DiscoverFindings(asked, native: routers, foreign: devices)
        findings.dialectFailures.merge(failures) { first, _ in first }
        if let trust {
            findings.verdicts = try await DiscoverVerdicts(
                of: findings.native.routers, trust, session, station: station, home: home, output)
        }
        let status = finish(findings)
        guard wantsMatch, status == .success else { return status }
        if [.exact, .radio].contains(findings.selection.why) { return .success }
        output.remark(findings.native.link.isEmpty ? "no access point is known to wait for: see --bssid" : "no router is the access point")
        return .negative
    }

    /// The same with a round trip of each router: what the scan asks all at once is answered after random waits, which tell nothing.
    private func timed(_ result: ScanResult) async -> ScanResult {
        var result = result
        let confirmed = result.routers.filter(\.discovered.isConfirmed)
        let trips = await sampler.sample(Array(confirmed.prefix(DiscoverRun.mostTimed)))
        let byRouter = Dictionary(trips.map { ($0.mac, $0.roundTrip) }) { first, _ in first }
        for index in result.routers.indices {
            result.routers[index].discovered.roundTrip = byRouter[result.routers[index].mac] ?? nil
        }
        return result
    }

    private func finish(_ findings: DiscoverFindings) -> ExitStatus {
        output.clearProgress()
        view.show(findings, elapsed: elapsed)
        directory.keep(findings, output)
        return findings.rows.isEmpty ? .negative : .success
    }

    /// Shows changes until the time is over or somebody ends it.
    func watch(for duration: Duration?, _ cancellation: CancellationSignal) async throws -> ExitStatus {
        if let waiting { output.remark("waiting for a network (\(waiting))") }
        ReaderWatch.start(output, cancellation)
        let running = begin(for: nil, cancellation)
        let alarm = duration.map { span in
            Task {
                try await Task.sleep(for: span)
                running.stop()
            }
        }
        defer { alarm?.cancel() }
        var watch = DiscoverWatch(asked, wantsProof: trust?.hasRoot ?? false, directory, view)
        for try await event in running.events { watch.take(event) }
        view.summary(watch.end(), elapsed: elapsed)
        return watch.hasFound ? .success : .negative
    }

    /// Why no interface can be scanned now, where that may pass: a watch goes on then, and should say what for.
    private var waiting: String? {
        guard let all = try? NetworkInterfaces.current() else { return nil }
        let wanted = all.filter { interfaces.isEmpty ? $0.obstacle != .loopback : interfaces.contains($0.name) }
        let mayPass: Set<NetworkInterface.Obstacle> = [.down, .noCarrier, .noAddress]
        guard wanted.allSatisfy({ $0.obstacle.map(mayPass.contains) ?? false }) else { return nil }
        return wanted.isEmpty ? "there is no interface" : wanted.map { "\($0.name) \($0.obstacle?.reason ?? "")" }.joined(separator: ", ")
    }

    /// Not a single interface could be scanned; the reasons.
    func nothingToScan(_ reasons: [String: String]) -> ExitStatus {
        let result = ScanResult(
            routers: [], selection: Selection(nil, .none, .none), finish: .noInterface, failedInterfaces: reasons)
        return finish(DiscoverFindings(asked, native: result, foreign: nil))
    }
}

extension RouterDirectory {
    /// Keeps what was found for other commands: where a company root is configured, those that have proven to be the company's.
    func keep(_ findings: DiscoverFindings, _ output: Output) {
        var unkept = UnkeptRouters(wantsProof: findings.verdicts?.hasRoot ?? false)
        for router in findings.native.routers {
            unkept.note(router)
            if let place = findings.verdicts?.place(router.mac) { unkept.proven(router.mac, at: place) }
        }
        unkept.keep(in: self, output)
    }
}
