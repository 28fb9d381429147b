import SocketCore
import Synchronization
import WifiDiscovery

/// The demonstration, step by step; each step says what it did and whether it held.
struct DemoStory: Sendable {
    /// Messages to the router whose receipts get lost, and to the one that is switched to.
    static let lossyMessages = 200
    static let furtherMessages = 50

    let network: DemoNetwork
    let output: Output

    /// Tells the story.
    ///
    /// - Returns: whether every step held; what depends on a step that didn't isn't tried.
    func run() async throws -> Bool {
        try await network.start()
        let result = try await tell()
        await network.stop()
        return result
    }

    private func tell() async throws -> Bool {
        let count = network.descriptions.count
        step("routers", true, "\(count) routers run on this machine: the company's, a neighbour's, a stranger's")
        guard try await discover(), try await match(), try await child() else { return false }
        let outcomes = OutcomeLog()
        let manager = manager(outcomes)
        guard try await verify(manager) else { return false }
        let attic = try await manager.connect()
        let opening = await attic.session.opening
        let agreed = opening.map { "version \($0.version)" } ?? "though nothing was agreed"
        step(
            "session", opening != nil, "a session with \(network.descriptions[0].name) is open over TLS, both sides proven, \(agreed)")
        guard try await deliver(attic, outcomes) else { return false }
        guard try await change(manager, outcomes) else { return false }
        await manager.close()
        return account(outcomes)
    }

    private func manager(_ outcomes: OutcomeLog) -> RouterManager {
        var options = RouterManager.Options()
        options.discovery = network.discovery(link: network.descriptions[0].radios[0].bssid)
        // All of them answer within milliseconds; with a root nobody's claim ends the search.
        options.scanTime = .milliseconds(600)
        options.trust = network.trust
        // The protocol's five seconds would be long to watch.
        options.session.timing.resend.base = .milliseconds(80)
        options.session.timing.reconnect.base = .milliseconds(50)
        return RouterManager(options, onEvent: { _, event in outcomes.note(event) })
    }

    // MARK: Finding

    private func discover() async throws -> Bool {
        let start = ContinuousClock.now
        var (fastest, finished): (Duration?, ScanResult?) = (nil, nil)
        for try await event in try RouterDiscovery(network.discovery(link: nil)).events(for: .seconds(1)) {
            switch event {
            case .found: fastest = fastest ?? start.duration(to: .now)
            case .finished(let result): finished = result
            case .updated, .lost, .graded: break
            }
        }
        guard let result = finished else { throw CancellationError() }
        let found = result.routers.map(\.mac)
        let isComplete = found == network.descriptions.map(\.mac).sorted()
        return step(
            "discover", isComplete,
            "\(found.count) of \(network.descriptions.count) routers answered \(result.counters.probes) probes, each listed once"
                + (fastest.map { ", the first after \($0.briefText)" } ?? ""))
    }

    private func match() async throws -> Bool {
        let wanted = network.descriptions[0]
        var options = network.discovery(link: wanted.radios[0].bssid)
        options.endsAtMatch = true
        let result = try await RouterDiscovery(options).scan(for: .seconds(2))
        let holds = result.selection == Selection(wanted.mac, .radio, .certain)
        return step(
            "match", holds,
            "my access point \(wanted.radios[0].bssid) is a radio of \(wanted.name) (\(wanted.mac)): certain")
    }

    private func child() async throws -> Bool {
        let result = try await RouterDiscovery(network.discovery(link: DemoNetwork.childAccessPoint)).scan(for: .milliseconds(600))
        let exactOrRadio = result.routers.contains { $0.grade <= .radio }
        return step(
            "child", !exactOrRadio && result.selection.certainty != .certain,
            "behind another brand's access point no router is chosen with certainty: a BSSID alone proves nothing"
        )
    }

    /// Each proves whose it is, or doesn't; and with one that doesn't there is no session.
    private func verify(_ manager: RouterManager) async throws -> Bool {
        let result = try await RouterDiscovery(network.discovery(link: nil)).scan(for: .milliseconds(600))
        let findings = await RouterVerifier(network.trust).verify(result.routers.map(RouterVerifier.Subject.init))
        let verdicts = Dictionary(findings.map { ($0.subject.mac, $0.judgement.verdict) }) { first, _ in first }
        let routers = network.descriptions
        let areRight = routers.indices.allSatisfy { verdicts[routers[$0].mac] == network.expected($0) }
        var areRefused = true
        for stranger in [routers[2], routers[3]] where try await !isRefused(stranger.mac, by: manager) { areRefused = false }
        let company = routers.filter { verdicts[$0.mac] == .company }.count
        let others = routers.filter { verdicts[$0.mac] != .company }.map { router in
            let verdict = verdicts[router.mac]
            return "\(router.name) is \(verdict?.name ?? "silent")\(verdict?.reason.map { " (\($0))" } ?? "")"
        }
        return step(
            "verify", areRight && areRefused,
            "\(company) of \(routers.count) prove to be the company's; \(others.joined(separator: ", ")): no session with either")
    }

    private func isRefused(_ mac: MACAddress, by manager: RouterManager) async throws -> Bool {
        do {
            try await manager.connect(to: "\(mac)")
            return false
        } catch is ManagerError {
            return true
        }
    }

    // MARK: Talking

    private func deliver(_ attic: RouterConnection, _ outcomes: OutcomeLog) async throws -> Bool {
        let bodies = (1...DemoStory.lossyMessages).map { Array("message \($0)".utf8) }
        for (index, body) in bodies.enumerated() {
            _ = try await attic.session.post(body)
            if index == bodies.count / 2 { await attic.session.dropConnection() }
        }
        await outcomes.tally.reached(bodies.count)
        await network.tally.reached(bodies.count)
        let taken = network.taken(by: attic.mac)
        let resends = await attic.session.counters.resends
        return step(
            "deliver", taken == bodies && outcomes.count(.delivered) == bodies.count,
            "\(taken.count) messages, a fifth of their receipts lost, the line cut once: all delivered, \(resends) copies resent, none taken twice"
        )
    }

    private func change(_ manager: RouterManager, _ outcomes: OutcomeLog) async throws -> Bool {
        let target = network.descriptions[1]
        let steps = StepLog()
        let old = await manager.current
        let cellar = try await manager.switch(to: "\(target.mac)") { steps.note($0) }
        step(
            "switch", cellar.mac == target.mac && steps.adoptedBeforeClosing,
            "moved to \(target.name), probed and greeted before \(network.descriptions[0].name) was drained and closed")
        for number in 1...DemoStory.furtherMessages { _ = try await cellar.session.post(Array("further \(number)".utf8)) }
        await network.tally.reached(DemoStory.lossyMessages + DemoStory.furtherMessages)
        let answer = try await cellar.get("wifi.ssid")
        let oldIsOver = await old?.session.isOpen == false
        return step(
            "after", oldIsOver && network.taken(by: target.mac).prefix(DemoStory.furtherMessages).count == DemoStory.furtherMessages,
            "\(DemoStory.furtherMessages) further messages went to \(target.name), whose network is called \(answer.text)")
    }

    private func account(_ outcomes: OutcomeLog) -> Bool {
        let sent = DemoStory.lossyMessages + DemoStory.furtherMessages
        var taken = 0
        var doubled = 0
        for description in network.descriptions {
            let bodies = network.taken(by: description.mac).filter { DeviceRequest($0) == nil }
            taken += bodies.count
            doubled += bodies.count - Set(bodies).count
        }
        return step(
            "account", taken == sent && doubled == 0,
            "\(sent) messages sent, \(taken) taken by routers: \(sent - (taken - doubled)) lost, \(doubled) twice")
    }

    // MARK: Telling

    /// Columns in front of what a step says.
    private static let margin = 15

    @discardableResult
    private func step(_ name: String, _ holds: Bool, _ detail: String) -> Bool {
        if output.isJSON {
            output.json("step", ["name": .string(name), "ok": .bool(holds), "detail": .string(detail)])
        } else {
            let mark = output.paint(holds ? "ok  " : "FAIL", holds ? .green : .red)
            let words = output.width.map { Table.wrap(detail, to: max(20, $0 - DemoStory.margin)) } ?? [detail]
            let margin = String(repeating: " ", count: DemoStory.margin)
            output.line("\(mark) \(name.padded(to: 9)) \(words.joined(separator: "\n" + margin))")
        }
        return holds
    }
}

/// How many messages ended how.
final class OutcomeLog: Sendable {
    private let counts = Mutex<[MessageResult: Int]>([:])
    /// All of them.
    let tally = Tally()

    func note(_ event: SessionEvent) {
        guard case .outcome(let outcome) = event else { return }
        counts.withLock { $0[outcome.result, default: 0] += 1 }
        tally.add()
    }

    func count(_ result: MessageResult) -> Int { counts.withLock { $0[result, default: 0] } }
}

/// In which order a switch went.
private final class StepLog: Sendable {
    private let order = Mutex<[String]>([])

    func note(_ action: SwitchCore.Action) {
        switch action {
        case .adopt: order.withLock { $0.append("adopt") }
        case .closeOld: order.withLock { $0.append("close") }
        case .probe, .open, .abandon, .drainOld: break
        }
    }

    var adoptedBeforeClosing: Bool { order.withLock { $0 == ["adopt", "close"] } }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
