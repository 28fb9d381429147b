import Glibc
import SocketCore
import Synchronization
import WifiDiscovery

/// Runs commands for other processes of this user, over sessions that it keeps open.
struct AgentServer: Sendable {
    let pool: SessionPool
    let output: Output
    /// Commands under way, and when the last one ended.
    private let activity = ActivityCount()
    private let stoppers = Stoppers()

    init(pool: SessionPool, output: Output) {
        self.pool = pool
        self.output = output
    }

    /// Serves until `stop` is raised, or nothing was asked for that long.
    func run(_ listener: LocalListener, idle limit: Duration, stop: CancellationSignal) async {
        let watch = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: min(limit, .seconds(1)))
                if activity.idle(at: SystemCalls.monotonicNow()) > limit { stop.raise(.interrupt) }
            }
        }
        stop.onRaise { Task { await listener.close() } }
        await withDiscardingTaskGroup { group in
            for await link in listener.links { group.addTask { await serve(link) } }
        }
        watch.cancel()
        await pool.close()
        for link in stoppers.all {
            link.post(AgentWire.Kind.status.rawValue, Array("\(ExitStatus.success.rawValue)".utf8))
            await link.close()
        }
    }

    private func serve(_ link: LocalLink) async {
        switch await demand(on: link) {
        case .command(let request): await serve(request, on: link)
        case .stop: end(for: link)
        case nil: await link.close()
        }
    }

    /// Who asked hears of it when all is closed: another agent can be started then, and finds the journals free.
    private func end(for link: LocalLink) {
        let running = activity.running
        if running > 0 {
            let text = "the agent ends after the \(counted(running, "command")) that it runs (Ctrl-C: don't wait)\n"
            link.post(AgentWire.Kind.remarks.rawValue, Array(text.utf8))
        }
        stoppers.add(link)
        pool.stop.raise(.interrupt)
    }

    private func serve(_ request: AgentRequest, on link: LocalLink) async {
        guard request.version == CommandRegistry.toolVersion else {
            link.post(
                AgentWire.Kind.refusal.rawValue,
                Array("it is version \(CommandRegistry.toolVersion), this is \(request.version): wifictl agent stop ends it".utf8))
            return await link.close()
        }
        activity.begin()
        defer { activity.end(at: SystemCalls.monotonicNow()) }
        let cancellation = CancellationSignal()
        // The command's process may say that it was interrupted, or be gone.
        let listening = Task {
            while let frames = await link.next() {
                if frames.contains(where: { $0.msgId == AgentWire.Kind.interrupt.rawValue }) { cancellation.raise(.interrupt) }
            }
            cancellation.raise(.closedPipe)
        }
        let target = OutputTarget(
            facts: request.terminal,
            write: { link.post(($1 == .data ? AgentWire.Kind.data : .remarks).rawValue, $0) ? nil : EPIPE },
            room: { await link.room() })
        output.detail("\(request.words.first ?? "a command") in \(request.directory)")
        let runner = Runner(cancellation: cancellation, target: target, environment: { request.environment[$0] }, pool: pool)
        let status = await PathBase.$directory.withValue(request.directory) { await runner.run(request.words) }
        link.post(AgentWire.Kind.status.rawValue, Array("\(status.rawValue)".utf8))
        await link.close()
        listening.cancel()
    }

    private enum Demand {
        case command(AgentRequest)
        case stop
    }

    /// Nil when what comes is neither.
    private func demand(on link: LocalLink) async -> Demand? {
        var bytes: [UInt8] = []
        while let frames = await link.next() {
            for frame in frames {
                switch AgentWire.Kind(rawValue: frame.msgId) {
                case .request: bytes += frame.body
                case .begin: return AgentRequest(bytes).map { .command($0) }
                case .stop: return .stop
                default: return nil
                }
                guard bytes.count <= LocalLink.largestBacklog else { return nil }
            }
        }
        return nil
    }
}

/// How many commands are under way, and since when none is.
private final class ActivityCount: Sendable {
    private let state = Mutex((running: 0, since: SystemCalls.monotonicNow()))

    var running: Int { state.withLock { $0.running } }

    func begin() { state.withLock { $0.running += 1 } }

    func end(at now: Instant) {
        state.withLock {
            $0.running -= 1
            $0.since = now
        }
    }

    func idle(at now: Instant) -> Duration { state.withLock { $0.running > 0 ? .zero : now - $0.since } }
}

/// Those who asked for the agent's end, and wait for it.
private final class Stoppers: Sendable {
    private let links = Mutex<[LocalLink]>([])

    var all: [LocalLink] { links.withLock { $0 } }

    func add(_ link: LocalLink) { links.withLock { $0.append(link) } }
}
