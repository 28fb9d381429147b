import Foundation
import Glibc
import SocketCore
import Synchronization
import TestSupport

/// What became of a world.
package struct ShakeOutcome: Sendable, CustomStringConvertible {
    package let seed: UInt64
    /// nil: everything held.
    package let failure: String?
    package let sessions: Int
    package let messages: Int
    package let trace: [String]

    package var description: String {
        let end = trace.firstIndex { $0.hasPrefix("FAILED") } ?? trace.count - 1
        let lines = trace.prefix(end + 1).suffix(80) + trace.dropFirst(end + 1).prefix(10)
        return "seed \(seed): \(failure ?? "holds")\n" + lines.joined(separator: "\n") + "\nagain: make shake SEED=\(seed)"
    }
}

/// What became of many.
package struct ShakeTotal: Sendable {
    package var sessions = 0
    package var messages = 0
    package var failures: [ShakeOutcome] = []
}

/// A world of the real sessions and the real listener over real sockets, on a loop of its own, behind a wire that is the test's.
///
/// All of it but the wire happens on the loop, so that only the kernel and the wire's thread are beyond what the seed decides.
package actor ShakeWorld {
    nonisolated let loop: EventLoop
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Longer than any world takes, on whatever machine: after that it hangs.
    private static let patience = 120.0

    let plan: ShakePlan
    let trace: ShakeTrace
    let wire: Wire
    let endpoint: Endpoint
    let home: TemporaryDirectory
    let company: TestCompany?
    var truth: ShakeTruth
    var random: SeededGenerator
    var listener: SessionListener?
    /// The living; ended ones leave.
    var controllers: [Int: ShakeLife] = [:]
    var routers: [SessionIdentifier: ShakeLife] = [:]
    var allLives: [ShakeLife] = []
    /// By controllers.
    var disks: [Int: FailingDisk] = [:]
    var paths: [Int: String] = [:]
    var files = 0

    /// Makes what all worlds share, and has the runtime open its own descriptors.
    package static func prepare() async {
        _ = try? await TestCompany.shared
        _ = await run(seed: 0)
    }

    /// So many worlds at a time; stops after 20 that failed.
    package static func run(seeds: Range<UInt64>, jobs: Int) async -> ShakeTotal {
        await withTaskGroup(of: ShakeOutcome.self) { group in
            var (next, total) = (seeds.lowerBound, ShakeTotal())
            func startNext() {
                guard next < seeds.upperBound, total.failures.count < 20 else { return }
                let seed = next
                next += 1
                group.addTask { await run(seed: seed) }
            }
            for _ in 0..<jobs { startNext() }
            while let outcome = await group.next() {
                total.sessions += outcome.sessions
                total.messages += outcome.messages
                if outcome.failure != nil { total.failures.append(outcome) }
                startNext()
            }
            return total
        }
    }

    /// Plays a world to its end; the trace is told whole when it fails.
    package static func run(seed: UInt64) async -> ShakeOutcome {
        let plan = ShakePlan(seed: seed)
        let trace = ShakeTrace()
        let end = ShakeEnd()
        do {
            let company = plan.isSecure ? try await TestCompany.shared : nil
            let world = try ShakeWorld(plan, trace, company, end)
            let counts = await withCheckedContinuation { done in
                end.wait(done)
                Task(executorPreference: world.loop) { end.come(await world.play()) }
            }
            if counts == nil { trace.fail("it hangs: \(trace.waits)") }
            await world.wire.tell(.stop)
            if counts != nil {
                world.loop.stop()
                ShakePorts.giveBack(world.wire.doors + [world.endpoint.port])
            }
            return ShakeOutcome(
                seed: seed, failure: trace.failure, sessions: counts?.sessions ?? 0, messages: counts?.messages ?? 0, trace: trace.lines)
        } catch {
            return ShakeOutcome(seed: seed, failure: "\(error)", sessions: 0, messages: 0, trace: trace.lines)
        }
    }

    private init(_ plan: ShakePlan, _ trace: ShakeTrace, _ company: TestCompany?, _ end: ShakeEnd) throws {
        self.plan = plan
        self.trace = trace
        self.company = company
        loop = try EventLoop(name: "shaken")
        home = try TemporaryDirectory()
        truth = ShakeTruth(plan.memoryLoss, trace)
        random = SeededGenerator(seed: plan.seed &+ 77)
        endpoint = Endpoint(.loopback, port: try ShakePorts.take())
        let doors = try plan.scripts.map { _ in try ShakePorts.take() }
        let start = Date()
        wire = Wire(plan, doors: doors, router: endpoint.port, trace) {
            if -start.timeIntervalSinceNow > ShakeWorld.patience { end.come(nil) }
        }
    }

    // MARK: The play

    private func play() async -> ShakeEnd.Counts {
        var counts = (sessions: 0, messages: 0)
        do {
            trace.note("\(plan)")
            try await openListener()
            await withTaskGroup { group in
                for index in plan.scripts.indices {
                    group.addTask(executorPreference: loop) { await self.playController(index) }
                }
                group.addTask(executorPreference: loop) { await self.playRouter() }
            }
            await calmDown()
            await settleAll()
            await checkKept()
            await closeAll()
            truth.checkAll(allLives)
            counts = (allLives.count, truth.words.count)
            await checkLeftovers()
        } catch {
            trace.fail("\(error)")
        }
        return counts
    }

    /// Names what somebody waits for, as long as it takes.
    func doing<Result>(_ who: String, _ what: String, _ body: () async throws -> Result) async rethrows -> Result {
        trace.note("\(who): \(what)")
        let key = "\(who) \(what)"
        trace.doing(key, what)
        defer { trace.doing(key, nil) }
        return try await body()
    }

    /// Gives the others some milliseconds of their own.
    func pause(_ milliseconds: Int) async {
        await withCheckedContinuation { done in ShakePause(on: loop, milliseconds, done).begin() }
    }

    private func calmDown() async {
        trace.note("calm")
        await wire.tell(.calm)
        for life in allLives { goOn(life) }
        for disk in disks.values { disk.heal() }
        for life in controllers.values where life.isSuspended {
            life.isSuspended = false
            await life.session.resume()
        }
    }

    /// Whatever happened, what was accepted gets its outcome now, and messages flow in both directions.
    private func settleAll() async {
        for life in controllers.values.sorted(by: { $0.number < $1.number }) {
            await messagesEnded(life)
            await doing(life.name, "settled()") { await life.session.settled() }
            await say(life, "last words", mustArrive: true)
            guard let router = routers[life.session.identifier] else {
                if !plan.forgetsSoon { trace.fail("\(life.name) stands, and its router knows no session") }
                continue
            }
            await messagesEnded(router)
            await doing(router.name, "settled()") { await router.session.settled() }
            await say(router, "last words", mustArrive: !plan.forgetsSoon)
            guard plan.floods else { continue }
            await flood(life, router)
            await flood(router, life)
        }
    }

    /// A session that a controller stands in is one that the listener knows.
    private func checkKept() async {
        guard let listener, !plan.forgetsSoon else { return }
        let count = await listener.sessionCount
        if count < controllers.count { trace.fail("the listener keeps \(count) sessions, and \(controllers.count) controllers stand") }
    }

    private func say(_ life: ShakeLife, _ what: String, mustArrive: Bool) async {
        let number = await doing(life.name, what) { await send(life, wantsReceipt: true) }
        // Its reader may be told of the reason a moment later.
        if truth.words[number].outcome != .delivered { await pause(10) }
        guard mustArrive, !life.chain.excused.contains(number), !life.chain.hasTwin else { return }
        if truth.words[number].outcome != .delivered {
            trace.fail("message \(number) of \(life.name), in peace, is \(truth.words[number].outcome?.rawValue ?? "nothing")")
        }
    }

    /// More without receipt than an application that rests may leave lying: what was said on a connection that held has been taken once
    /// something behind it has.
    private func flood(_ from: ShakeLife, _ to: ShakeLife) async {
        trace.note("\(from.name) floods \(to.name)")
        let losses = from.losses + to.losses
        rest(to)
        var numbers: [Int] = []
        // Large ones are more than the kernel takes as well.
        for _ in 0..<(plan.largestBody > 100_000 ? 80 : 700) {
            let (number, body) = newBody(from, false, most: plan.largestBody > 100_000 ? .max : 30)
            do {
                let ticket = try await from.session.post(body, wantsReceipt: false, whenFull: .fail)
                truth.accepted(number, from, ticket)
                numbers.append(number)
            } catch {
                // Whoever rests doesn't see its connection's end before a heartbeat does.
                truth.refused(number, from)
                break
            }
        }
        await pause(5)
        goOn(to)
        await doing(to.name, "taking a flood") {
            while from.losses + to.losses == losses, !to.isClosed, numbers.contains(where: { truth.words[$0].taken == 0 }) {
                await pause(2)
            }
        }
        let last = await doing(from.name, "the flood's end") { await send(from, wantsReceipt: true) }
        guard truth.words[last].outcome == .delivered, from.losses + to.losses == losses, !from.chain.hasTwin else { return }
        for number in numbers where truth.words[number].taken == 0 {
            return trace.fail("message \(number) of \(from.name), on a connection that held, was passed over")
        }
    }

    private func closeAll() async {
        let living = controllers.values.sorted { $0.number < $1.number }
        if plan.listenerEnds, random.chance(0.5) { await closeListener("router") }
        for life in living { await close(life, .endSession, callers: 1) }
        if !plan.listenerEnds {
            for life in allLives where life.side == .router && !life.isClosed {
                await doing(life.name, "being forgotten") { while !life.isClosed { await pause(5) } }
            }
        }
        if let listener, await listener.sessionCount > 0, !plan.listenerEnds { trace.fail("a listener keeps sessions that are over") }
        await closeListener("router")
        for life in allLives {
            await messagesEnded(life)
            await eventsEnded(life)
        }
    }

    /// All readers end, those that were replaced as well.
    func eventsEnded(_ life: ShakeLife) async {
        for reader in life.readers { await doing(life.name, "its events' end") { await reader.value } }
    }

    /// What was begun beside a script ends, at the latest with its session.
    func messagesEnded(_ life: ShakeLife) async {
        while let task = life.tasks.popLast() { await doing(life.name, "a message beside its script") { await task.value } }
    }

    /// Nothing may be left on the loop, and nobody hold a session that is over.
    private func checkLeftovers() async {
        await wire.tell(.calm)
        if let listener, await listener.sessionCount > 0 { trace.fail("a closed listener keeps sessions") }
        let sessions = allLives.map { WeakSession(session: $0.session) }
        listener = nil
        controllers = [:]
        routers = [:]
        allLives = []
        truth = ShakeTruth(plan.memoryLoss, trace)
        // A farewell may take its time.
        await doing("the loop", "being left") {
            while loop.residents != (0, 1) { await pause(5) }
        }
        await doing("the sessions", "being let go") {
            while sessions.contains(where: { $0.session != nil }) { await pause(5) }
        }
    }
}

/// Ports go from world to world: a thousand worlds would use up all that tests may have.
private enum ShakePorts {
    private static let free = Mutex<[UInt16]>([])

    static func take() throws -> UInt16 { try free.withLock { $0.popLast() } ?? UInt16(FreePort.next()) }
    static func giveBack(_ ports: [UInt16]) { free.withLock { $0 += ports } }
}

private struct WeakSession {
    weak var session: Session?
}

/// Who waits for a world's end: whoever comes first, the end or the time.
final class ShakeEnd: Sendable {
    typealias Counts = (sessions: Int, messages: Int)
    private let waiter = Mutex<CheckedContinuation<Counts?, Never>?>(nil)

    func wait(_ continuation: CheckedContinuation<Counts?, Never>) { waiter.withLock { $0 = continuation } }

    func come(_ counts: Counts?) {
        let taken = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        taken?.resume(returning: counts)
    }
}

/// A moment on the loop.
private final class ShakePause: LoopTimerOwner {
    private struct State {
        var timer: LoopTimer?
        var done: CheckedContinuation<Void, Never>?
    }

    private let state: Mutex<State>
    private let loop: EventLoop
    private let span: Duration

    init(on loop: EventLoop, _ milliseconds: Int, _ done: CheckedContinuation<Void, Never>) {
        self.loop = loop
        span = .milliseconds(milliseconds)
        state = Mutex(State(done: done))
    }

    func begin() {
        state.withLock { state in
            let timer = LoopTimer(on: loop, owner: self)
            timer.set(to: loop.currentInstant + span)
            state.timer = timer
        }
    }

    func timerFired(at now: Instant) {
        state.withLock { state in
            state.timer?.cancel()
            state.timer = nil
            state.done?.resume()
            state.done = nil
        }
    }
}
