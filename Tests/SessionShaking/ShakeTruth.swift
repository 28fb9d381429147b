import SocketCore

/// A message that a world's side gave to its session.
struct ShakeWord {
    let number: Int
    let sender: ShakeLife
    let wantsReceipt: Bool
    /// `post` or `send` said so; false also when it threw.
    var isAccepted = false
    /// Nobody can know whether it was: its process was killed meanwhile.
    var isDoubtful = false
    var outcome: MessageResult?
    /// Its place among its sender's.
    var place: UInt64 = 0
    var taken = 0
    /// How often, by whose memory.
    var takenIn: [Int: Int] = [:]
    /// Takers that were killed before their journal said that they had it.
    var mayComeAgain = 0
}

/// One memory: a session as it goes on from journal to journal, or a router's.
final class ShakeChain {
    let number: Int
    /// By their ids on the wire.
    var words: [UInt32: Int] = [:]
    /// The router forgot, and `unknown` was asked for then.
    var excused: Set<Int> = []
    /// What a killed process heard after its journal was looked at: the next one may hear it, or not.
    var late: [Int: MessageResult] = [:]
    /// The last id taken, by sender.
    var lastTaken: [Int: UInt32] = [:]
    /// What was taken of those without an id, in its order.
    var takenWithoutId: [Int] = []
    /// Somebody else goes about with its name: it needn't get everything.
    var hasTwin = false

    init(_ number: Int) { self.number = number }
}

/// One session of one process.
final class ShakeLife {
    enum Side { case controller, router, twin }

    let number: Int
    let name: String
    let side: Side
    let chain: ShakeChain
    let session: Session
    /// By their tickets.
    var words: [UInt64: Int] = [:]
    /// Outcomes of messages whose tickets aren't known yet.
    var early: [MessageOutcome] = []
    /// Somebody ends it.
    var isClosing = false
    /// Closed in such a way that its journal goes on.
    var isKept = false
    /// It has told that it's over.
    var isClosed = false
    var isKilled = false
    var isSuspended = false
    var keepsJournal = false
    /// Connections that it lost.
    var losses = 0
    var rests = false
    var gate: CheckedContinuation<Void, Never>?
    /// The last one reads; those before have been told to end.
    var readers: [Task<Void, Never>] = []
    /// What goes on beside its script.
    var tasks: [Task<Void, Never>] = []

    init(_ number: Int, _ name: String, _ side: Side, _ chain: ShakeChain, _ session: Session) {
        self.number = number
        self.name = name
        self.side = side
        self.chain = chain
        self.session = session
    }
}

/// All messages of a world, and what may be said of them.
struct ShakeTruth {
    private(set) var words: [ShakeWord] = []
    let memoryLoss: SessionConfiguration.MemoryLoss
    let trace: ShakeTrace

    init(_ memoryLoss: SessionConfiguration.MemoryLoss, _ trace: ShakeTrace) {
        self.memoryLoss = memoryLoss
        self.trace = trace
    }

    /// A new message's body.
    mutating func body(of sender: ShakeLife, wantsReceipt: Bool, bytes: Int) -> (number: Int, body: [UInt8]) {
        let number = words.count
        words.append(ShakeWord(number: number, sender: sender, wantsReceipt: wantsReceipt))
        let digits = withUnsafeBytes(of: UInt32(number).bigEndian) { [UInt8]($0) }
        return (number, digits + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes))
    }

    mutating func accepted(_ number: Int, _ life: ShakeLife, _ ticket: SessionTicket) {
        words[number].isAccepted = true
        // Its journal may have been looked at before.
        if life.isKilled { words[number].isDoubtful = true }
        name(number, life, ticket)
    }

    /// Taken on the loop: its journal, where there's one, has it at the end of the tick, if at all.
    mutating func offered(_ number: Int, _ life: ShakeLife, _ ticket: SessionTicket, keepsJournal: Bool) {
        words[number].isAccepted = true
        words[number].isDoubtful = keepsJournal
        name(number, life, ticket)
    }

    mutating func name(_ number: Int, _ life: ShakeLife, _ ticket: SessionTicket) {
        life.words[ticket.number] = number
        words[number].place = ticket.number
        if ticket.msgId != 0 { life.chain.words[ticket.msgId] = number }
        for outcome in life.early where outcome.ticket == ticket { ended(life, outcome) }
        life.early.removeAll { $0.ticket == ticket }
    }

    /// `post` or `send` threw: it was never accepted, if nobody was killed.
    mutating func refused(_ number: Int, _ life: ShakeLife) { if life.isKilled { words[number].isDoubtful = true } }

    mutating func ended(_ life: ShakeLife, _ outcome: MessageOutcome) {
        guard life.side != .twin else { return }
        guard let number = life.words[outcome.ticket.number] else { return life.early.append(outcome) }
        if words[number].wantsReceipt { trace.note("\(life.name): \(number) is \(outcome.result.rawValue) after \(outcome.sends) sends") }
        if life.isKilled {
            life.chain.late[number] = outcome.result
        } else {
            settle(number, outcome.result)
        }
    }

    mutating func settle(_ number: Int, _ result: MessageResult) {
        if let before = words[number].outcome { trace.fail("message \(number) is \(result.rawValue), and was \(before.rawValue) before") }
        words[number].outcome = result
    }

    mutating func taken(_ life: ShakeLife, _ message: InboundMessage) {
        let number = message.withBody { bytes in
            bytes.byteCount < 4 ? -1 : (0..<4).reduce(0) { $0 << 8 | Int(bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self)) }
        }
        guard words.indices.contains(number) else { return trace.fail("\(life.name) got a body that nobody sent") }
        let (word, memory) = (words[number], life.chain.number)
        if message.msgId != 0 { trace.note("\(life.name) takes \(number) (\(message.msgId))") }
        words[number].taken += 1
        words[number].takenIn[memory, default: 0] += 1
        if word.takenIn[memory, default: 0] > word.mayComeAgain { trace.fail("\(life.name) got message \(number) twice in one memory") }
        if word.taken > word.mayComeAgain, life.side == .router, memoryLoss == .reportUnknown {
            trace.fail("\(life.name) got message \(number) again, where unknown was asked for")
        }
        // Between its journal's last look and its death.
        if life.isKilled { words[number].mayComeAgain += 1 }
        // By ids and tickets: who waits for room isn't let in by the test's numbers.
        guard message.msgId != 0 else { return life.chain.takenWithoutId.append(number) }
        guard word.mayComeAgain == 0 else { return }
        let sender = word.sender.chain.number
        if let last = life.chain.lastTaken[sender], last > message.msgId {
            trace.fail("\(life.name) got message \(number) (\(message.msgId)) after \(last)")
        }
        life.chain.lastTaken[sender] = message.msgId
    }

    // MARK: Ends of processes

    /// A process is killed now.
    mutating func killed(_ life: ShakeLife) {
        life.isKilled = true
        life.chain.late = [:]
        for number in words.indices where words[number].outcome == nil && words[number].takenIn[life.chain.number] != nil {
            words[number].mayComeAgain += 1
        }
        for number in words.indices where words[number].sender === life && words[number].outcome == nil && !words[number].wantsReceipt {
            words[number].isDoubtful = true
        }
    }

    /// The next process goes on with what the journal had: all that was accepted and has no outcome must be there.
    mutating func restored(_ life: ShakeLife, from before: ShakeLife, _ pending: [SessionTicket]) {
        var found: Set<Int> = []
        for ticket in pending {
            guard let number = before.chain.words[ticket.msgId] else { continue }
            found.insert(number)
            life.words[ticket.number] = number
        }
        for (number, result) in before.chain.late where !found.contains(number) { settle(number, result) }
        before.chain.late = [:]
        for number in Set(before.chain.words.values) where !found.contains(number) {
            let word = words[number]
            if word.isAccepted, !word.isDoubtful, word.outcome == nil, word.wantsReceipt {
                trace.fail("message \(number) of \(before.name) was accepted and isn't in its journal")
            }
        }
        for number in found where words[number].outcome != nil {
            trace.fail("message \(number) has an outcome, and goes on from the journal")
        }
    }

    /// A new session begins where a journal should have gone on.
    func began(anewAfter before: ShakeLife) {
        for word in words where word.sender.chain === before.chain && word.isAccepted && !word.isDoubtful && word.wantsReceipt {
            trace.fail("message \(word.number) of \(before.name) was accepted, and its journal had no session")
            return
        }
    }

    /// The router forgot.
    func forgotten(_ life: ShakeLife) {
        guard memoryLoss == .reportUnknown else { return }
        // Who waits for an outcome may be told before the events are.
        for word in words where word.sender.chain === life.chain && (word.outcome == nil || word.outcome == .unknown) {
            life.chain.excused.insert(word.number)
        }
    }

    // MARK: The end

    func checkAll(_ lives: [ShakeLife]) {
        for word in words { check(word) }
        for life in lives { checkOrder(life.chain.takenWithoutId) }
    }

    private func checkOrder(_ taken: [Int]) {
        var last: [Int: UInt64] = [:]
        for word in taken.map({ words[$0] }) where !word.isDoubtful {
            if let before = last[word.sender.number], before > word.place {
                trace.fail("message \(word.number) of \(word.sender.name), without receipt, came late")
            }
            last[word.sender.number] = word.place
        }
    }

    private func check(_ word: ShakeWord) {
        let name = "message \(word.number) of \(word.sender.name)"
        guard word.isAccepted || word.isDoubtful else {
            if word.taken > 0 { trace.fail("\(name) was refused, and was taken") }
            return
        }
        guard let outcome = word.outcome else {
            if !word.isDoubtful { trace.fail("\(name) has no outcome") }
            return
        }
        // A twin sends what its journal had as well.
        if word.sender.chain.hasTwin, outcome != .delivered { return }
        let isExcused = word.sender.isClosed || word.sender.chain.excused.contains(word.number)
        switch outcome {
        case .delivered: if word.taken == 0 { trace.fail("\(name) is delivered, and nobody took it") }
        case .cancelled: if word.taken > 0 { trace.fail("\(name) is cancelled, and was taken") }
        case .notSent:
            if word.taken > 0 { trace.fail("\(name) is called not sent, and was taken") }
            if word.wantsReceipt, !isExcused { trace.fail("\(name) was given up while its session lives") }
        case .unknown: if word.wantsReceipt, !isExcused { trace.fail("\(name) is unknown without a reason") }
        }
    }
}
