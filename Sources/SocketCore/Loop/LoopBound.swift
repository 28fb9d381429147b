/// Carries a value of the loop's thread through code that the compiler can't see is on it: from a handler's call into an
/// actor of the same loop.
///
/// Sendable though the value isn't: it's given out on the loop's thread alone, which every access checks.
struct LoopBound<Value>: @unchecked Sendable {
    private let loop: EventLoop
    private let stored: Value

    init(_ value: Value, on loop: EventLoop) {
        self.loop = loop
        stored = value
    }

    /// The value; on the loop's thread.
    var value: Value {
        precondition(loop.isCurrent, "a value of the loop's thread, asked for elsewhere")
        return stored
    }
}
