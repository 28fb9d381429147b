/// Whoever has a ``LoopTimer``; called on the loop's thread.
public protocol LoopTimerOwner: AnyObject, Sendable {
    /// The deadline is over; the timer is disarmed.
    func timerFired(at now: Instant)
}

/// A timer on the loop, confined to the loop's thread. It holds its owner until it's cancelled.
public final class LoopTimer: TimerHandler {
    private let loop: EventLoop
    private let owner: any LoopTimerOwner
    private var token: TimerToken?

    /// A timer that isn't armed.
    public init(on loop: EventLoop, owner: any LoopTimerOwner) {
        self.loop = loop
        self.owner = owner
        token = loop.addTimer(self)
    }

    /// Arms it anew; ``Instant/distantFuture`` disarms it.
    public func set(to deadline: Instant) { if let token { loop.setTimer(token, to: deadline) } }

    /// Ends it.
    public func cancel() {
        if let token { loop.removeTimer(token) }
        token = nil
    }

    func timerFired(at now: Instant) { owner.timerFired(at: now) }
}

extension EventLoop {
    /// The start of the tick under way; on the loop's thread.
    public var currentInstant: Instant { now }
}
