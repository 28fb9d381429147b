import FrameCodec
import SocketCore

/// A world of controllers and routers in virtual time, mistreated by a seed, with a truth beside it that is checked at each step.
///
/// The cores are the real ones. Sockets, disks, clocks and applications are simulated here; they do to the cores what real ones
/// do: short writes, cuts at any byte, news in any order, death between any two steps.
package final class SimWorld {
    let seed: UInt64
    var random: SeededGenerator
    let plan: SimPlan
    var now: Int64 = 0
    var agenda = SimAgenda()
    var routers: [SimRouter] = []
    var controllers: [SimEndpoint] = []
    /// All ends ever made that still live.
    var endpoints: [SimEndpoint] = []
    var links: [SimLink] = []
    var truths: [SimTruth] = []
    var failure: String?
    var isCalm = false
    var isQuiet = false
    let tracing: Bool
    package var trace: [String] = []
    var memories = 0
    var sessionsMade = 0
    var mutations: SessionMutation
    let shellFaults: SimShellFaults
    var steps = 0
    /// Whether processes wait for the disk before they act. Not drawn: so all other seeds' stories stay what they were.
    let waitsForDisk: Bool

    package init(seed: UInt64, tracing: Bool = false, mutations: SessionMutation = [], shellFaults: SimShellFaults = []) {
        self.seed = seed
        self.tracing = tracing
        self.mutations = mutations
        self.shellFaults = shellFaults
        random = SeededGenerator(seed: seed)
        plan = SimPlan(&random)
        waitsForDisk = seed % 8 != 3
        for index in 0..<plan.routers {
            routers.append(SimRouter(index: index, isPlain: plan.plain.contains(index)))
            if plan.manyVersions { routers[index].versions = drawVersions() }
        }
        for index in 0..<plan.controllers {
            let host = routers[index % plan.routers]
            let name = "controller\(index)"
            let controller = plan.idsBegun == 0 || host.isPlain ? makeController(name, host) : makeOld(name, host)
            controllers.append(controller)
            endpoints.append(controller)
        }
    }

    /// What a seed's story came to.
    package struct Outcome: Sendable {
        /// nil when all held.
        package let failure: SimFailure?
        package let sessions: Int
        package let messages: Int
    }

    /// Runs the seed's story, and when it fails once more with a trace.
    package static func run(seed: UInt64, mutations: SessionMutation = [], shellFaults: SimShellFaults = []) -> Outcome {
        let world = SimWorld(seed: seed, mutations: mutations, shellFaults: shellFaults)
        guard world.play() != nil else { return Outcome(failure: nil, sessions: world.sessionsMade, messages: world.truths.count) }
        let again = SimWorld(seed: seed, tracing: true, mutations: mutations, shellFaults: shellFaults)
        let what = again.play() ?? "failed once and not again: the simulator isn't deterministic"
        let failure = SimFailure(seed: seed, what: what, trace: again.trace)
        return Outcome(failure: failure, sessions: world.sessionsMade, messages: world.truths.count)
    }

    /// - Returns: what went wrong.
    package func play() -> String? {
        let faultEnd = plan.faultTime.inNanoseconds
        for (index, controller) in controllers.enumerated() {
            input(controller) { $0.core.start(now: $1) }
            for _ in 0..<plan.messages { schedule(.send(controller: index, burst()), at: draw(0...faultEnd)) }
        }
        for _ in 0..<plan.faults { schedule(.fault, at: draw(0...faultEnd)) }
        run(until: faultEnd)
        calm()
        let timing = controllers[0].core.configuration.timing
        run(until: faultEnd + SimPlan.settleTime(timing).inNanoseconds + backlogTime, orSettled: true)
        if failure == nil { checkSettled() }
        if failure == nil {
            // Dead connections that nobody used may still have to be noticed.
            run(until: now + Duration.seconds(150).inNanoseconds)
            // Nothing happens any more: heartbeats alone must keep the connections.
            isQuiet = true
            run(until: now + Duration.seconds(70).inNanoseconds)
            isQuiet = false
        }
        if failure == nil { closeAll() }
        // Ends, links and routers hold each other; the world is over.
        for router in routers { router.sessions = [:] }
        for endpoint in endpoints + links.flatMap({ [$0.controller, $0.router].compactMap { $0 } }) { endpoint.link = nil }
        return failure
    }

    /// How long the applications need for what the faults have piled up: a window's worth at a time, each of which they may sit on, and
    /// through pipes that may hold less than one message.
    private var backlogTime: Int64 {
        var longest: Int64 = 0
        for endpoint in endpoints {
            let slowest = endpoints.map(\.takesAfter.upperBound).max() ?? 0
            let messages = Int64(endpoint.core.pendingMessages)
            longest = max(longest, (messages / Int64(plan.window) + 2) * slowest + messages * 200_000_000)
        }
        return longest
    }

    private func burst() -> Int { random.chance(0.1) ? draw(2...50) : 1 }

    func drawVersions() -> [UInt16] { SimPlan.versions[draw(0...SimPlan.versions.count - 1)] }

    func finishRun() { run(until: now + Duration.seconds(12).inNanoseconds) }

    // MARK: - Tools

    func draw(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(random.next() % UInt64(range.upperBound - range.lowerBound + 1))
    }
    func draw(_ range: ClosedRange<Int>) -> Int { range.lowerBound + Int(random.next() % UInt64(range.upperBound - range.lowerBound + 1)) }

    func schedule(_ what: SimEntry.What, at: Int64) { agenda.add(SimEntry(at: max(at, now), tie: random.next(), what: what)) }
    func schedule(_ what: SimEntry.What, after: ClosedRange<Int64>) { schedule(what, at: now + draw(after)) }

    func note(_ text: @autoclosure () -> String) {
        guard tracing else { return }
        let micros = now / 1_000
        let digits = String(micros % 1_000_000)
        trace.append("\(micros / 1_000_000).\(String(repeating: "0", count: 6 - digits.count))\(digits)  \(text())")
    }

    func fail(_ text: @autoclosure () -> String) {
        guard failure == nil else { return }
        failure = text()
        note("VIOLATED: \(failure ?? "")")
    }

    func clock(_ endpoint: SimEndpoint) -> Instant { Instant(nanoseconds: now + endpoint.clockOffset) }

    // MARK: - Making ends

    func configuration(_ side: SimSide, _ host: SimRouter) -> SessionConfiguration {
        var configuration = SessionConfiguration(role: side == .controller ? .controller : .router)
        configuration.window = plan.window
        configuration.outboxMessages = plan.outboxMessages
        configuration.outboxBytes = plan.outboxBytes
        configuration.isPlain = host.isPlain
        if plan.manyVersions { configuration.versions = side == .router ? host.versions : drawVersions() }
        configuration.memoryLoss = plan.memoryLoss
        configuration.identity = RouterIdentity(boot: host.bootText, mac: host.mac)
        configuration.keepsJournal = !host.isPlain && (side == .controller ? plan.controllerJournal : plan.routerJournal)
        configuration.journalBoot = waitsForDisk ? nil : SimWorld.boot(0)
        return configuration
    }

    func makeController(_ name: String, _ host: SimRouter) -> SimEndpoint {
        sessionsMade += 1
        let session = SessionIdentifier(high: seed, low: UInt64(sessionsMade))
        let core = SessionCore(configuration(.controller, host), session: session, seed: random.next(), now: Instant(nanoseconds: now))
        return adopt(SimEndpoint(name: name, side: .controller, host: host, core: core, memory: newMemory()))
    }

    /// Both ends of a session that has come far: the next ids begin anew soon.
    private func makeOld(_ name: String, _ host: SimRouter) -> SimEndpoint {
        sessionsMade += 1
        let session = SessionIdentifier(high: seed, low: UInt64(sessionsMade))
        let router = makeOldEnd("router\(host.index)/\(name)", .router, host, session)
        host.sessions[session] = router
        endpoints.append(router)
        return makeOldEnd(name, .controller, host, session)
    }

    private func makeOldEnd(_ name: String, _ side: SimSide, _ host: SimRouter, _ session: SessionIdentifier) -> SimEndpoint {
        let ours = configuration(side, host)
        var contents = JournalContents(session: session, role: ours.role, nextId: plan.idsBegun, received: plan.idsBegun - 1)
        contents.header.machineBoot = ours.journalBoot
        guard let core = SessionCore(ours, restoring: contents, seed: random.next(), now: Instant(nanoseconds: now)) else {
            preconditionFailure("a journal without messages fits every configuration")
        }
        let endpoint = adopt(SimEndpoint(name: name, side: side, host: host, core: core, memory: newMemory()))
        if endpoint.disk != nil {
            let bytes = endpoint.core.compactJournal()
            endpoint.disk = SimDisk(bytes: bytes, synced: bytes.count)
        }
        return endpoint
    }

    func adopt(_ endpoint: SimEndpoint) -> SimEndpoint {
        #if DEBUG
            endpoint.core.mutations = mutations
        #endif
        if plan.slowApplications, random.chance(0.5) { endpoint.takesAfter = 0...draw(1...3_000_000_000) }
        if endpoint.core.configuration.keepsJournal { endpoint.disk = SimDisk() }
        return endpoint
    }

    func newMemory() -> Int {
        memories += 1
        return memories
    }

    // MARK: - The agenda

    private func run(until end: Int64, orSettled: Bool = false) {
        while failure == nil, let next = agenda.next, next <= end {
            if orSettled, isSettled { return }
            guard let entry = agenda.pop() else { break }
            now = max(now, entry.at)
            steps += 1
            if steps > 400_000 { return fail("400,000 steps and no end: something turns in circles") }
            perform(entry.what)
        }
        if failure == nil { now = max(now, end) }
    }

    private func perform(_ what: SimEntry.What) {
        switch what {
        case .timer(let endpoint): timer(endpoint)
        case .arrive(let link, let side): arrive(link, side)
        case .notify(let link, let side, let reset): tellGone(link, side, reset: reset)
        case .connect(let endpoint, let number, let succeeds): connectEnds(endpoint, number, succeeds)
        case .greetingOver(let link): if link.greeting != nil { closeEnd(link, .router, abort: false) }
        case .send(let index, let count): send(controllers[index], count)
        case .take(let endpoint, let sequence): take(endpoint, through: sequence)
        case .fault: if !isCalm { fault() }
        case .restartController(let endpoint): restart(endpoint)
        case .restartRouter(let router): restart(router)
        case .reopen(let endpoint, let policy): reopen(endpoint, policy)
        case .openDoor(let router): router.door = .open
        case .resume(let endpoint):
            note("\(endpoint.name) resumes")
            endpoint.dials = []
            input(endpoint) { $0.core.resume(now: $1) }
        case .haunt(let endpoint, let number): haunt(endpoint, number)
        }
    }

    private func timer(_ endpoint: SimEndpoint) {
        guard endpoint.isAlive else { return }
        guard endpoint.frozenUntil <= now else { return schedule(.timer(endpoint), at: endpoint.frozenUntil) }
        // Entries of earlier deadlines come as well: an early call must change nothing.
        if endpoint.timerAt <= now { endpoint.timerAt = .max }
        let before = endpoint.core.counters.resends
        input(endpoint) { end, time in
            end.core.advance(to: time)
            checkResends(end, since: before)
        }
    }

    /// Faults end: what was broken stays broken, but nothing new breaks.
    private func calm() {
        note("--- faults end")
        isCalm = true
        for router in routers {
            router.door = .open
            // New firmware for all: from the next connection on.
            if plan.manyVersions { router.versions = SimPlan.allVersions }
            if !router.isUp { restart(router) }
        }
        for link in links {
            for side in 0...1 {
                link.pipes[side].loseReceipts = 0
                link.pipes[side].doubleMessages = 0
                link.pipes[side].stalledUntil = min(link.pipes[side].stalledUntil, now + SimPlan.calmStall.inNanoseconds)
            }
            link.cutAfter = .max
        }
        for endpoint in endpoints { endpoint.stopsTakingUntil = 0 }
    }
}
