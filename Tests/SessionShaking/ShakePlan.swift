import SocketCore

/// What happens to a connection on the wire, where so many of its bytes have passed.
enum WireFault: Sendable {
    /// Ends of the link that are closed; an end that stays hears nothing more, and says nothing.
    enum Ends: CaseIterable { case controller, router, both }

    /// Closed by a reset, or in order.
    case cut(Ends, resets: Bool)
    /// To whom it was going that direction has ended in order, and the other one goes on.
    case finish
    /// One byte comes as another: with TLS alone, which must see it.
    case corrupt
    /// Nothing more passes in this direction until the world says go on.
    case stall
    /// Nothing more passes in either direction, and nobody is told: a half open connection.
    case swallow
    /// The controller's end is gone; what it said last arrives once the world says go on, when its successor may stand already.
    case strand
    /// A second connection for the live session, by a copy of its hello.
    case ghost
}

/// The wire's plan for one connection.
struct WirePlan: Sendable {
    /// In each direction, controller to router first: at which byte, what.
    var faults: [(at: Int, fault: WireFault)?] = [nil, nil]
    /// At most that many bytes at a time.
    var crumbs = Int.max
    /// Accepted, and closed at once: by a reset, or in order.
    var slam: Bool?
}

/// What one side does next.
enum ShakeStep: Sendable {
    case post(Int)
    case postWithoutReceipt(Int)
    case send(Int)
    case cancel
    case resend
    case settle
    case suspend
    case resume
    /// Away, back and away again, each by a task of its own.
    case flicker
    case drop
    case rest
    case goOn
    case changeReader
    case kill
    case twin
    case close(ClosePolicy, callers: Int)
    case disk
    case release
    case closeDoor
    case stranger
    case pause(Int)
    case listenerCloses(reopensAtOnce: Bool)
    case forget
}

/// All that a seed decides; the kernel's pace is all that it doesn't.
struct ShakePlan: Sendable {
    let seed: UInt64
    /// For each controller: what it does. It keeps a journal, or not.
    var scripts: [[ShakeStep]] = []
    var journals: [Bool] = []
    var routerScript: [ShakeStep] = []
    let isSecure: Bool
    let memoryLoss: SessionConfiguration.MemoryLoss
    /// The router forgets nothing; only then may somebody else come with a session's name.
    let keepsMemory: Bool
    /// Controllers away for a moment are forgotten.
    let forgetsSoon: Bool
    /// Events go to an attendant, and not to a reader.
    let isAttended: Bool
    /// Controllers look for their router before they dial again.
    let looks: Bool
    /// What the listener's connections do wrong by themselves.
    let linkFaults: LinkFaults.Options
    let largestSessionCount: Int
    /// At the end more comes at once than an application may leave lying.
    let floods: Bool
    let faultShare: Double
    let largestBody: Int
    private let window: Int
    private let outboxMessages: Int
    /// The listener ends the sessions, else their time does.
    let listenerEnds: Bool

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        let controllers = random.chance(0.6) ? 1 : 2
        isSecure = random.chance(0.33)
        memoryLoss = random.chance(0.5) ? .resend : .reportUnknown
        keepsMemory = random.chance(0.4)
        forgetsSoon = !keepsMemory && random.chance(0.3)
        isAttended = random.chance(0.35)
        looks = random.chance(0.3)
        var faults = LinkFaults.Options()
        if random.chance(0.15) { faults.lostReceipts = 0.2 }
        faults.seed = seed
        linkFaults = faults
        floods = random.chance(0.3)
        largestSessionCount = !keepsMemory && random.chance(0.3) ? controllers + 1 : 100
        faultShare = [0, 0.4, 0.8].randomElement(using: &random) ?? 0.5
        largestBody = [30, 30, 3_000, 120_000].randomElement(using: &random) ?? 30
        window = random.chance(0.5) ? SessionLimits.window : 3
        outboxMessages = random.chance(0.7) ? SessionLimits.outboxMessages : 8
        listenerEnds = !forgetsSoon || random.chance(0.5)
        for _ in 0..<controllers {
            let keepsJournal = random.chance(0.5)
            journals.append(keepsJournal)
            scripts.append(controllerScript(keepsJournal, &random))
        }
        for _ in 0..<Int.random(in: 4...12, using: &random) { routerScript.append(routerStep(&random)) }
    }

    private func controllerScript(_ keepsJournal: Bool, _ random: inout SeededGenerator) -> [ShakeStep] {
        var script: [ShakeStep] = []
        for _ in 0..<Int.random(in: 5...14, using: &random) {
            script.append(.pause([0, 0, 1, 3, 8, 20].randomElement(using: &random) ?? 0))
            script.append(controllerStep(keepsJournal, &random))
        }
        return script
    }

    private func controllerStep(_ keepsJournal: Bool, _ random: inout SeededGenerator) -> ShakeStep {
        let count = Int.random(in: 1...20, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22: return .post(count)
        case 22..<29: return .postWithoutReceipt(count)
        case 29: return .postWithoutReceipt(700)
        case 30..<38: return .send(count)
        case 38..<41: return .cancel
        case 41..<43: return .resend
        case 43..<47: return .settle
        case 47..<53: return .suspend
        case 53..<58: return .resume
        case 58..<60: return .flicker
        case 60..<65: return .drop
        case 65..<69: return .rest
        case 69..<72: return .goOn
        case 72..<75: return .changeReader
        case 75..<81: return keepsJournal ? .kill : .post(count)
        case 81..<83: return keepsJournal && keepsMemory ? .twin : .release
        case 83..<89: return .close(random.chance(0.5) ? .endSession : .keepForLater, callers: random.chance(0.3) ? 3 : 1)
        case 89..<92: return keepsJournal ? .disk : .drop
        case 92..<95: return .release
        case 95..<97: return .closeDoor
        default: return .stranger
        }
    }

    private func routerStep(_ random: inout SeededGenerator) -> ShakeStep {
        let count = Int.random(in: 1...20, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: return .post(count)
        case 25..<33: return .postWithoutReceipt(count)
        case 33..<40: return .send(count)
        case 40..<47: return .drop
        case 47..<53: return .rest
        case 53..<60: return .goOn
        case 60..<63: return .changeReader
        case 63..<68: return keepsMemory ? .post(count) : .close(.endSession, callers: random.chance(0.3) ? 2 : 1)
        case 68..<73: return keepsMemory ? .release : .listenerCloses(reopensAtOnce: random.chance(0.5))
        case 73..<76: return keepsMemory ? .release : .forget
        case 76..<80: return .release
        case 80..<83: return .cancel
        case 83..<86: return .settle
        default: return .pause([1, 3, 8, 20, 60].randomElement(using: &random) ?? 1)
        }
    }

    /// The wire's plan for a door's connection.
    func wire(door: Int, connection: Int) -> WirePlan {
        var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(door * 7_919 + connection))
        _ = random.next()
        var plan = WirePlan()
        // A wire that is never left alone would let nothing come about.
        guard random.chance(faultShare), connection < 30 else { return plan }
        if random.chance(0.25) { plan.crumbs = [1, 7, 100].randomElement(using: &random) ?? 1 }
        if random.chance(0.08) { plan.slam = random.chance(0.5) }
        for direction in 0...1 where random.chance(0.4) {
            if isSecure, random.chance(0.1) {
                // Behind the hellos of TLS: with another of those it would be another handshake, whose refusal may be final.
                plan.faults[direction] = (Int.random(in: 4_000...8_000, using: &random), .corrupt)
                continue
            }
            let farthest = [0, 60, 300, 1_500, isSecure ? 6_000 : 1_000, 100_000].randomElement(using: &random) ?? 0
            plan.faults[direction] = (Int.random(in: 0...farthest, using: &random), fault(direction, &random))
        }
        return plan
    }

    private func fault(_ direction: Int, _ random: inout SeededGenerator) -> WireFault {
        let ends = WireFault.Ends.allCases.randomElement(using: &random) ?? .both
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: return .cut(ends, resets: random.chance(0.6))
        case 4: return random.chance(0.6) ? .swallow : .finish
        case 5: return direction == 0 ? .strand : .stall
        case 6, 7: return keepsMemory && !isSecure && direction == 0 ? .ghost : .cut(ends, resets: true)
        default: return .stall
        }
    }

    func configuration(_ role: SessionConfiguration.Role) -> SessionConfiguration {
        var configuration = SessionConfiguration(role: role)
        configuration.memoryLoss = memoryLoss
        configuration.window = window
        configuration.outboxMessages = outboxMessages
        configuration.identity = RouterIdentity(boot: "00000000000000aa", mac: "02:00:5e:00:53:01")
        configuration.timing.connect = .milliseconds(isSecure ? 1_000 : 400)
        configuration.timing.hello = .milliseconds(300)
        // Where no wire is silent, nothing comes by itself to the rescue of what is forgotten.
        configuration.timing.heartbeat = faultShare == 0 ? .seconds(3_600) : .milliseconds(60)
        configuration.timing.silence = faultShare == 0 ? .seconds(7_200) : .milliseconds(250)
        configuration.timing.hearing = .milliseconds(150)
        configuration.timing.resend.base = .milliseconds(120)
        configuration.timing.reconnect.base = .milliseconds(2)
        configuration.timing.reconnect.ceiling = .milliseconds(40)
        configuration.timing.drain = .milliseconds(400)
        configuration.timing.linger = .milliseconds(200)
        configuration.timing.farewell = .milliseconds(80)
        if forgetsSoon { configuration.timing.memory = .milliseconds(100) }
        return configuration
    }
}
