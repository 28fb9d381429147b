import Glibc
import SocketCore
import WifiDiscovery

/// The live screen at work: everything that happens goes into the model, one after the other, and frames come out.
actor WatchRun {
    private static let sampling = Duration.seconds(2)
    /// All are asked together, since a router vouches for those behind it; not at each that comes, there may be many.
    private static let proving = Duration.seconds(2)
    private static let keeping = Duration.seconds(2)
    private static let counting = Duration.seconds(1)
    /// Routers whose round trips are measured: what a screen shows at once.
    private static let mostSampled = 24

    private let plan: WatchPlan
    private let sampler: RoundTripSampler
    private let output: Output
    private let scan: RunningScan
    private var model: WatchModel
    private var painter = ScreenPainter()
    private var found: [MACAddress: FoundRouter] = [:]
    private var proofs: [MACAddress: RouterVerifier.Finding] = [:]
    private var unkept: UnkeptRouters
    private var link: Set<MACAddress> = []
    private var unknown: WirelessUnknown?
    private var counters = WatchSession.Counters()
    private var batch = ChangeBatch()
    private var isSampling = false
    private var isSelectionOld = false
    private var isProofOld = false
    private var (sampled, kept, counted, proven) = (Instant.zero, Instant.zero, Instant.zero, Instant.zero)

    init(_ plan: WatchPlan) {
        self.plan = plan
        output = plan.context.output
        unkept = UnkeptRouters(wantsProof: plan.trust.hasRoot)
        sampler = RoundTripSampler(plan.discovery.options)
        scan = plan.discovery.begin(for: nil)
        model = WatchModel(started: SystemCalls.monotonicNow(), place: plan.context.interfaces.joined(separator: ", "))
    }

    private var now: Instant { SystemCalls.monotonicNow() }

    /// Shows the screen until somebody ends it.
    func run() async -> ExitStatus {
        let inbox = plan.inbox
        let filling = inbox.fill(from: scan, plan.context.cancellation)
        if let reference = plan.reference { await plan.sessions.follow(reference) }
        output.divert { inbox.tell(.remark($0, .yellow)) }
        let hasKeys = TerminalScreen.enter()
        output.bytes(Array(ScreenPainter.enter.utf8))
        let input = TerminalInput(hasKeys: hasKeys) { inbox.tell(.terminal($0)) }
        for await happening in inbox.happenings where await !take(happening) { break }
        input?.stop()
        TerminalScreen.leave()
        output.divert(to: nil)
        filling.cancel()
        scan.stop()
        unkept.keep(in: plan.directory, output)
        await plan.sessions.close()
        return .success
    }

    /// False at the end.
    private func take(_ happening: WatchHappening) async -> Bool {
        switch happening {
        case .scan(let event): heard(event)
        case .scanEnded(let reason): feed(.remark("the scan is over\(reason.map { ": \($0)" } ?? "")", .red))
        case .terminal(.bytes(let bytes)):
            for key in WatchKey.keys(bytes) { if await !press(key) { return false } }
            draw()
        case .terminal(.resized): draw()
        case .terminal(.ended): break
        case .tick: await tick()
        case .trips(let trips):
            isSampling = false
            for trip in trips { feed(.roundTrip(id: "\(trip.mac)", trip.roundTrip)) }
        case .finding(let finding):
            proofs[finding.subject.mac] = finding
            unkept.note(finding)
            isSelectionOld = true
            if let router = found[finding.subject.mac] { feed(.router(WatchFacts.router(proven(router)), change: nil)) }
            feed(.verdict(id: "\(finding.subject.mac)", WatchFacts.verdict(finding.judgement)))
        case .signals(let inputs): for input in inputs { feed(input) }
        case .session(let source, let event): await heard(source.mac, event)
        case .counters(let new, let unsettled):
            (counters.resends, counters.duplicates, counters.openings) = (new.resends, new.duplicates, new.openings)
            counters.unsettled = unsettled
            feed(.counters(counters))
        case .changed(_, let members): batch.add(members, now: now)
        case .remark(let text, let paint): feed(.remark(text, paint))
        case .stop: return false
        }
        return true
    }

    private func feed(_ input: WatchInput) { _ = model.take(input, now: now) }

    private func draw() {
        guard let size = Terminal.size(of: STDOUT_FILENO) else { return }
        model.arrange()
        let screen = WatchScreen(columns: size.columns, height: size.lines, isPainted: output.isPainted)
        if let frame = painter.frame(screen.lines(model, now: now), columns: size.columns) { output.bytes(frame) }
    }

    // MARK: Discovery

    private func heard(_ event: ScanEvent) {
        switch event {
        case .found(let router):
            note(router, nil)
            isProofOld = isProofOld || plan.trust.hasRoot
        case .updated(let router, let changes):
            note(router, ChangeText.clauses(changes, found[router.mac], router).joined(separator: "; "))
            let asksAgain: DiscoveredRouter.Changes = [.confirmed, .address, .rebooted]
            if plan.trust.hasRoot, !changes.isDisjoint(with: asksAgain) { isProofOld = true }
        case .lost(let router, let loss):
            found[router.mac] = nil
            unkept.lost(router.mac)
            feed(.lost(id: "\(router.mac)", why: loss.clause))
        case .graded(let routers, let addresses, let reason):
            (link, unknown) = (addresses, reason)
            feed(.link(WatchFacts.link(addresses, reason)))
            for router in routers { note(router, nil) }
        case .finished: break
        }
        isSelectionOld = true
    }

    private func note(_ router: FoundRouter, _ words: String?) {
        found[router.mac] = router
        unkept.note(router)
        feed(.router(WatchFacts.router(proven(router)), change: words))
    }

    /// The router at the place where it proved whose it is, if it has.
    private func proven(_ router: FoundRouter) -> FoundRouter {
        guard let proof = proofs[router.mac], proof.judgement.isProof else { return router }
        return router.proven(at: proof.endpoint)
    }

    // MARK: Sessions

    private func heard(_ mac: MACAddress, _ event: SessionEvent) async {
        switch event {
        case .state(let state):
            let session = WatchFacts.session(state, mac)
            let isOpening = session.paint == .green
            if model.session == nil || model.session?.router == session.router || isOpening {
                if model.session?.router != session.router { counters = WatchSession.Counters() }
                feed(.session(session))
            } else {
                feed(.remark("session with \(model.title(session.router)): \(session.remark)", nil))
            }
            if case .open = state { await plan.sessions.reopened(mac) }
        case .outcome(let outcome): outcome.result == .delivered ? (counters.delivered += 1) : (counters.otherwise += 1)
        case .message: counters.received += 1
        case .writable, .journal: break
        }
    }

    // MARK: Keys and time

    private func press(_ key: WatchKey) async -> Bool {
        switch model.take(.key(key), now: now) {
        case .quit: return false
        case .move(let id): await plan.sessions.move(to: id, model.title(id))
        case .verify(let ids):
            let wanted = Set(ids)
            plan.verify(found.values.filter { plan.trust.hasRoot || wanted.contains("\($0.mac)") })
        case .suspend: suspend()
        case .repaint: painter.forget()
        case nil: break
        }
        return true
    }

    private func suspend() {
        TerminalScreen.leave()
        // Raised in this thread, so that nothing further is done before the stop.
        raise(SIGSTOP)
        TerminalScreen.enter()
        painter.forget()
        output.bytes(Array(ScreenPainter.enter.utf8))
    }

    private func tick() async {
        let now = now
        let due = batch.due(now)
        if !due.isEmpty { feed(.changed(due.map { ($0.name, $0.value.stringValue ?? $0.value.text) })) }
        if now - counted >= WatchRun.counting {
            counted = now
            await plan.sessions.count()
        }
        if now - kept >= WatchRun.keeping, !unkept.isEmpty {
            kept = now
            unkept.keep(in: plan.directory, output)
        }
        if isProofOld, now - proven >= WatchRun.proving {
            (isProofOld, proven) = (false, now)
            plan.verify(found.values.filter(\.discovered.isConfirmed))
        }
        if isSelectionOld { reselect() }
        if now - sampled >= WatchRun.sampling, !isSampling { sample(now) }
        draw()
    }

    private func reselect() {
        isSelectionOld = false
        let findings = plan.findings(Array(found.values), proofs, link: link, unknown: unknown)
        let choice = findings.selection.mac
        feed(
            .selection(
                id: choice.map { "\($0)" }, sentence: (choice == nil ? "" : "Connected to ") + GradeText.sentence(findings)))
    }

    private func sample(_ now: Instant) {
        sampled = now
        isSampling = true
        let ids = Set(model.present(WatchRun.mostSampled))
        let routers = found.values.filter { ids.contains("\($0.mac)") }
        let (inbox, sampler, signals) = (plan.inbox, sampler, plan.signals)
        let readsSignal = plan.discovery.options.link == .automatic && !link.isEmpty
        Task {
            inbox.tell(.trips(await sampler.sample(routers)))
            if readsSignal { inbox.tell(.signals(signals.read(routers))) }
        }
    }
}
