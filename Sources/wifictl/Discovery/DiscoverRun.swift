import SocketCore
import WifiDiscovery

/// One run of `discover`: the scan, what is shown of it, and what is kept.
struct DiscoverRun {
    /// While watching, the directory is written at most that often: each writing waits for the disk.
    private static let keepingInterval = Duration.seconds(2)

    let discovery: RouterDiscovery
    let directory: RouterDirectory
    let view: DiscoverView
    let output: Output
    private let start = ContinuousClock.now

    init(_ discovery: RouterDiscovery, _ context: Context) {
        self.discovery = discovery
        directory = RouterDirectory(home: context.home)
        output = context.output
        view = DiscoverView(output: context.output)
    }

    private var elapsed: Duration { start.duration(to: .now) }

    /// Scans for that long.
    func scan(for duration: Duration, _ cancellation: CancellationSignal) async throws -> ExitStatus {
        let scan = discovery.begin(for: duration)
        cancellation.onRaise { scan.stop() }
        var found: Set<MACAddress> = []
        output.progress("asking on the network...")
        for try await event in scan.events {
            switch event {
            case .found(let router):
                found.insert(router.mac)
                output.progress("\(found.count) router\(found.count == 1 ? "" : "s") after \(elapsed.briefText)")
            case .updated, .lost: break
            case .finished(let result): return finish(result)
            }
        }
        throw CancellationError()
    }

    private func finish(_ result: ScanResult) -> ExitStatus {
        output.clearProgress()
        view.show(result, elapsed: elapsed)
        keep(result.routers)
        return result.routers.isEmpty ? .negative : .success
    }

    /// Shows changes until the time is over or somebody ends it.
    func watch(for duration: Duration?, _ cancellation: CancellationSignal) async throws -> ExitStatus {
        let scan = discovery.begin(for: nil)
        cancellation.onRaise { scan.stop() }
        let alarm = duration.map { span in
            Task {
                try await Task.sleep(for: span)
                scan.stop()
            }
        }
        defer { alarm?.cancel() }
        var watched = Watched()
        for try await event in scan.events {
            switch event {
            case .found(let router): note("found", router, [], &watched)
            case .updated(let router, let changes): note("updated", router, changes.words, &watched)
            case .lost(let router, let loss):
                watched.routers[router.mac] = nil
                view.change("lost", router, [loss.rawValue])
                reselect(&watched)
            case .finished(let result):
                keep(watched.unkept.values)
                view.summary(result, elapsed: elapsed)
                return watched.hasFound ? .success : .negative
            }
        }
        throw CancellationError()
    }

    private struct Watched {
        var routers: [MACAddress: FoundRouter] = [:]
        var unkept: [MACAddress: FoundRouter] = [:]
        var selection: Selection?
        var keptAt: ContinuousClock.Instant?
        var hasFound = false
    }

    private func note(_ word: String, _ router: FoundRouter, _ details: [String], _ watched: inout Watched) {
        watched.routers[router.mac] = router
        watched.unkept[router.mac] = router
        watched.hasFound = true
        view.change(word, router, details)
        if watched.keptAt.map({ $0.duration(to: .now) >= DiscoverRun.keepingInterval }) ?? true {
            keep(watched.unkept.values)
            watched.unkept = [:]
            watched.keptAt = .now
        }
        reselect(&watched)
    }

    /// Chooses anew among those that are there now: that one is the only responder is no longer true once another answers.
    private func reselect(_ watched: inout Watched) {
        let isAlone = watched.routers.values.count { $0.discovered.isConfirmed } == 1
        let routers = watched.routers.values.sorted { $0.mac < $1.mac }.map { router in
            var judged = router
            judged.evidence.onlyResponder = isAlone && router.discovered.isConfirmed
            return judged
        }
        let selection = Selection.choose(among: routers)
        guard selection != watched.selection, selection.mac != nil || watched.selection?.mac != nil else { return }
        watched.selection = selection
        let result = ScanResult(routers: routers, selection: selection, finish: .stopped, link: link)
        view.selected(selection, GradeText.sentence(selection, result))
    }

    /// The link that routers are graded against now.
    private var link: Set<MACAddress> {
        switch discovery.options.link {
        case .automatic: WirelessLink.read().addresses
        case .addresses(let addresses): addresses
        }
    }

    /// Not a single interface could be scanned; the reasons.
    func nothingToScan(_ reasons: [String: String]) -> ExitStatus {
        finish(
            ScanResult(
                routers: [], selection: Selection(nil, .none, .none), finish: .noInterface, failedInterfaces: reasons))
    }

    private func keep(_ routers: some Collection<FoundRouter>) {
        do {
            try directory.merge(routers, now: SystemCalls.monotonicNow())
        } catch {
            // What was found has been shown: that it can't be kept as well is no failure of the scan.
            output.warning("\(error)")
        }
    }
}
