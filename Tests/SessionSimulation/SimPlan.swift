import SocketCore

/// What one seed stands for: the world and how it's mistreated.
package struct SimPlan: Sendable {
    package var controllers: Int
    package var routers: Int
    /// How long faults go on, and how long everything may then take to settle; see ``settleTime``.
    package var faultTime: Duration
    package var faults: Int
    package var messages: Int
    package var window: Int
    package var outboxMessages: Int
    package var outboxBytes: Int
    package var memoryLoss: SessionConfiguration.MemoryLoss
    package var controllerJournal: Bool
    package var routerJournal: Bool
    package var largeBodies: Bool
    package var slowApplications: Bool
    package var pipeCapacity: Int
    /// Ids of both directions go on from here, shortly before they begin anew; 0 for new sessions.
    package var idsBegun: UInt32
    /// Routers that speak bare frames, by index.
    package var plain: Set<Int>
    /// Versions differ between ends, and change when a router reboots.
    package var manyVersions: Bool
    /// More may be sent at once, without receipts, than an application is given.
    package var floods: Bool

    /// How long everything may take to settle after the last fault: a dead connection is noticed, the next try comes, finds a router
    /// that's just restarting or a door that swallows it, and comes again; the hello goes; a receipt lost before that is asked for
    /// again, at the latest after the longest wait between two copies; what stalled flows again, and a slow application takes it.
    package static func settleTime(_ timing: SessionTiming) -> Duration {
        let longestTry = timing.reconnect.ceiling.scaled(by: 1 + timing.reconnect.jitter)
        let longestResend = timing.resend.base.scaled(by: Double(1 << timing.resend.limit) * timing.resend.spread.upperBound)
        return timing.silence + longestTry + timing.connect + longestTry + timing.hello + longestResend + calmStall
    }
    /// Stalls end this long after the last fault, and applications that are slow take no longer.
    package static let calmStall = Duration.seconds(10)

    /// Sets of versions that ends may speak.
    package static let versions: [[UInt16]] = [[1], [1, 2], [2], [2, 3], [1, 2, 3]]
    /// What every router speaks in the end.
    package static let allVersions: [UInt16] = [1, 2, 3]

    package init(_ random: inout SeededGenerator) {
        controllers = Int.random(in: 1...3, using: &random)
        routers = Int.random(in: 1...2, using: &random)
        faultTime = .seconds(Int.random(in: 5...200, using: &random))
        faults = Int.random(in: 0...14, using: &random)
        messages = Int.random(in: 1...60, using: &random)
        window = [1, 2, 5, 32].randomElement(using: &random) ?? 32
        outboxMessages = [8, 40, 1_000].randomElement(using: &random) ?? 1_000
        outboxBytes = random.chance(0.2) ? 20_000 : SessionLimits.outboxBytes
        memoryLoss = random.chance(0.5) ? .resend : .reportUnknown
        controllerJournal = random.chance(0.6)
        routerJournal = random.chance(0.4)
        largeBodies = random.chance(0.15)
        slowApplications = random.chance(0.3)
        pipeCapacity = [300, 2_000, 65_536].randomElement(using: &random) ?? 65_536
        idsBegun = random.chance(0.25) ? UInt32.max - UInt32.random(in: 0...30, using: &random) : 0
        plain = []
        for index in 0..<routers where random.chance(0.1) { plain.insert(index) }
        manyVersions = random.chance(0.3)
        floods = random.chance(0.05)
        if floods { outboxMessages = SessionLimits.outboxMessages }
    }
}

/// Something that must never happen has happened.
package struct SimFailure: Error, CustomStringConvertible {
    package let seed: UInt64
    package let what: String
    /// The last lines before it; all of them when the world was told to trace.
    package var trace: [String]

    package var description: String {
        "seed \(seed): \(what)\n" + trace.suffix(60).joined(separator: "\n") + "\nthe whole trace: make simulate SEED=\(seed)"
    }
}

/// An entry of the world's agenda.
struct SimEntry {
    enum What {
        case timer(SimEndpoint)
        case arrive(SimLink, SimSide)
        case notify(SimLink, SimSide, reset: Bool)
        case connect(SimEndpoint, ConnectionNumber, succeeds: Bool)
        case greetingOver(SimLink)
        case send(controller: Int, Int)
        case take(SimEndpoint, UInt64)
        case fault
        case restartController(SimEndpoint)
        case restartRouter(SimRouter)
        case resume(SimEndpoint)
        case openDoor(SimRouter)
        case reopen(SimEndpoint, ClosePolicy)
        case haunt(SimEndpoint, ConnectionNumber)
    }
    let at: Int64
    /// Decides between entries of one instant: drawn at random, so that both orders happen.
    let tie: UInt64
    let what: What
}

/// A binary heap of entries, earliest first.
struct SimAgenda {
    private var heap: [SimEntry] = []

    var next: Int64? { heap.first?.at }

    private func before(_ left: Int, _ right: Int) -> Bool {
        heap[left].at != heap[right].at ? heap[left].at < heap[right].at : heap[left].tie < heap[right].tie
    }

    mutating func add(_ entry: SimEntry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0, before(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop() -> SimEntry? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return first }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && before(child, least) { least = child }
            if least == parent { return first }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
