import SocketCore
import WifiDiscovery

/// The watch where there's no screen to draw on: a line for each thing that happens.
struct WatchLines {
    private let plan: WatchPlan
    private let output: Output

    init(_ plan: WatchPlan) {
        self.plan = plan
        output = plan.context.output
    }

    /// Prints until somebody ends it.
    func run() async -> ExitStatus {
        let scan = plan.discovery.begin(for: nil)
        let filling = plan.inbox.fill(from: scan, plan.context.cancellation)
        if let reference = plan.reference { await plan.sessions.follow(reference) }
        var watch = DiscoverWatch(
            [.native], wantsProof: plan.trust.hasRoot, asksForProof: true, plan.directory, DiscoverView(output: output))
        var batch = ChangeBatch()
        var reporter: MACAddress?
        var proofs = Proofs()
        loop: for await happening in plan.inbox.happenings {
            switch happening {
            case .scan(let event):
                watch.take(.native(event))
                proofs.note(event)
            case .finding(let finding):
                if proofs.isNews(finding) { show(finding) }
                watch.take(finding)
            case .session(let source, .state(let state)): await show(source, state)
            case .changed(let mac, let members):
                reporter = mac
                batch.add(members, now: SystemCalls.monotonicNow())
            case .tick:
                if let reporter { show(batch.due(SystemCalls.monotonicNow()), of: reporter) }
                if plan.trust.hasRoot { plan.verify(proofs.due(SystemCalls.monotonicNow())) }
            case .remark(let text, _): output.remark(text)
            case .scanEnded(let reason):
                output.warning("the scan is over\(reason.map { ": \($0)" } ?? "")")
                break loop
            case .stop: break loop
            case .session, .terminal, .trips, .signals, .counters: break
            }
        }
        filling.cancel()
        scan.stop()
        _ = watch.end()
        await plan.sessions.close()
        return watch.hasFound ? .success : .negative
    }

    /// Whom to ask for proof, and what they last proved: all together, since a router vouches for those behind it.
    private struct Proofs {
        private static let pause = Duration.seconds(2)
        private var routers: [MACAddress: FoundRouter] = [:]
        private var verdicts: [MACAddress: Verdict] = [:]
        private var isOld = false
        private var asked = Instant.zero

        mutating func note(_ event: ScanEvent) {
            switch event {
            case .found(let router), .updated(let router, _):
                routers[router.mac] = router
                isOld = true
            case .lost(let router, _): routers[router.mac] = nil
            case .graded, .finished: break
            }
        }

        /// Those to ask now; nobody when nothing changed or all were asked a moment ago.
        mutating func due(_ now: Instant) -> [FoundRouter] {
            guard isOld, now - asked >= Proofs.pause else { return [] }
            (isOld, asked) = (false, now)
            return routers.values.filter(\.discovered.isConfirmed)
        }

        mutating func isNews(_ finding: RouterVerifier.Finding) -> Bool {
            verdicts.updateValue(finding.judgement.verdict, forKey: finding.subject.mac) != finding.judgement.verdict
        }
    }

    private func show(_ finding: RouterVerifier.Finding) {
        if output.isJSON {
            return output.json("verdict", VerifyReport.members(finding))
        }
        let verdict = WatchFacts.verdict(finding.judgement)
        output.line("\(output.paint("?", verdict.paint)) \(finding.subject.mac)  \(verdict.word): \(verdict.detail)")
    }

    private func show(_ source: SessionSource, _ state: SessionState) async {
        if output.isJSON {
            SessionTool.print(state, source, output)
        } else {
            let session = WatchFacts.session(state, source.mac)
            let sign = output.paint("@", session.paint ?? .bold)
            output.line("\(sign) session with \(source.mac): \(DisplayWidth.printable(session.remark))")
        }
        if case .open = state { await plan.sessions.reopened(source.mac) }
    }

    private func show(_ members: [JSONValue.Member], of mac: MACAddress) {
        for member in members {
            if output.isJSON {
                output.json("property", ["mac": .string("\(mac)"), "name": .string(member.name), "value": member.value])
            } else {
                let value = member.value.stringValue ?? member.value.text
                output.line("\(output.paint("=", .cyan)) \(DisplayWidth.printable(member.name)) = \(DisplayWidth.printable(value))")
            }
        }
    }
}
