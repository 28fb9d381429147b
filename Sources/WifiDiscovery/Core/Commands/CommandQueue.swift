import SocketCore

/// How a command ended: exactly one a command.
public enum CommandOutcome: Equatable, Sendable {
    /// The device answered.
    case answered(Result<JSONValue, DeviceFault>)
    /// No answer came to any of the tries.
    case timedOut(tries: Int)
    /// Another command before it timed out: the link is bad, and waiting for each in turn would only take longer.
    case linkBad
    /// The session ended for good, or the caller took it back.
    case cancelled
    /// The manager moved to another router before the answer came.
    case movedAway
}

/// Names a command in its queue.
public struct CommandNumber: Hashable, Sendable {
    let value: UInt64
}

/// When a command without an answer is sent again (design: commands and status).
public struct CommandSchedule: Equatable, Sendable {
    /// How long an answer is waited for after each try before it counts as late.
    public var wait = Duration.seconds(1)
    /// The pauses after the waits, each followed by another try. A late answer still counts.
    public var pauses: [Duration] = [.seconds(2), .seconds(5)]

    /// Send, wait 1 s, after 2 s more send again, wait 1 s, after 5 s more send a last time, wait 1 s.
    public init() {}
}

/// Requests to one router, one under way at a time, the rest waiting in order.
///
/// Inputs: ``enqueue(now:)``, ``sent(_:as:)``, ``answered(_:_:now:)``, ``cancel(_:now:)``, ``pause(now:)``, ``resume(now:)``, ``end(_:)``,
/// ``advance(to:)``. After each: ``takeActions()``, and call ``advance(to:)`` no later than ``deadline``.
public struct CommandQueue: Sendable {
    /// What the shell is to do, in order.
    public enum Action: Equatable, Sendable {
        /// Send this command as a message and tell its id to ``CommandQueue/sent(_:as:)``.
        case send(CommandNumber)
        /// Tell whoever asked.
        case finish(CommandNumber, CommandOutcome)
    }

    /// Commands that wait in all: far more than an app has open, few enough to be nothing.
    public static let largestCount = 256

    private let schedule: CommandSchedule
    private var waiting: [CommandNumber] = []
    private var current: CommandNumber?
    private var tries = 0
    private var nextStep = Instant.distantFuture
    /// The ids of the current command's tries: an answer to any of them is its answer.
    private var ids: [UInt32] = []
    private var actions: [Action] = []
    private var pausedAt: Instant?
    private var lastNumber: UInt64 = 0
    /// Answers to nothing that's under way: late, or never asked for.
    public private(set) var lateAnswers: UInt64 = 0
    /// Commands that timed out since the last success; whoever moves between routers looks at it.
    public private(set) var timeoutsInARow = 0

    /// An empty queue.
    public init(schedule: CommandSchedule = CommandSchedule()) { self.schedule = schedule }

    /// When ``advance(to:)`` must be called.
    public var deadline: Instant { pausedAt == nil ? nextStep : .distantFuture }
    /// Commands that haven't ended.
    public var count: Int { waiting.count + (current == nil ? 0 : 1) }
    /// Whether this one is under way.
    public func isCurrent(_ number: CommandNumber) -> Bool { current == number }

    /// Adds a command at the end; nil when ``largestCount`` wait already.
    public mutating func enqueue(now: Instant) -> CommandNumber? {
        guard count < CommandQueue.largestCount else { return nil }
        lastNumber += 1
        let number = CommandNumber(value: lastNumber)
        waiting.append(number)
        startNext(now)
        return number
    }

    /// Tells the id that a try went out with.
    public mutating func sent(_ number: CommandNumber, as id: UInt32) {
        if current == number { ids.append(id) }
    }

    /// An answer came in.
    public mutating func answered(_ id: UInt32, _ result: Result<JSONValue, DeviceFault>, now: Instant) {
        guard ids.contains(id) else {
            lateAnswers += 1
            return
        }
        timeoutsInARow = 0
        finishCurrent(.answered(result))
        startNext(now)
    }

    /// Takes a command back, wherever it is.
    public mutating func cancel(_ number: CommandNumber, now: Instant) {
        if current == number {
            finishCurrent(.cancelled)
            startNext(now)
        } else if let index = waiting.firstIndex(of: number) {
            waiting.remove(at: index)
            actions.append(.finish(number, .cancelled))
        }
    }

    /// The link rests, and with it all waiting: nothing is due and nothing new begins until ``resume(now:)``.
    public mutating func pause(now: Instant) { pausedAt = pausedAt ?? now }

    /// The link is back: what was waited for gets the rest of its time.
    public mutating func resume(now: Instant) {
        guard let since = pausedAt else { return }
        pausedAt = nil
        if nextStep < .distantFuture { nextStep = nextStep + (now - since) }
        startNext(now)
    }

    /// The session is over, or rests: everything ends.
    public mutating func end(_ outcome: CommandOutcome = .cancelled) {
        finishCurrent(outcome)
        finishWaiting(outcome)
    }

    /// Takes the steps that are due.
    public mutating func advance(to now: Instant) {
        guard now >= deadline, let current else { return }
        if tries <= schedule.pauses.count {
            attempt(current, now)
        } else {
            timeoutsInARow += 1
            finishCurrent(.timedOut(tries: tries))
            finishWaiting(.linkBad)
        }
    }

    /// What is to be done, once.
    public mutating func takeActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    private mutating func startNext(_ now: Instant) {
        guard current == nil, pausedAt == nil, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        current = next
        attempt(next, now)
    }

    private mutating func attempt(_ number: CommandNumber, _ now: Instant) {
        let pause = tries < schedule.pauses.count ? schedule.pauses[tries] : .zero
        tries += 1
        nextStep = now + schedule.wait + pause
        actions.append(.send(number))
    }

    private mutating func finishCurrent(_ outcome: CommandOutcome) {
        guard let number = current else { return }
        actions.append(.finish(number, outcome))
        current = nil
        tries = 0
        ids = []
        nextStep = .distantFuture
    }

    private mutating func finishWaiting(_ outcome: CommandOutcome) {
        actions += waiting.map { .finish($0, outcome) }
        waiting = []
    }
}
