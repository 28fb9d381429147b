/// What only the loop's thread touches.
final class LoopState {
    /// One read takes at most this much: large enough that a burst costs few system calls, small enough to stay in the cache.
    static let readBufferSize = 64 * 1024

    var poller: Poller
    var timers = TimerQueue()
    var ending: [any TickHandler] = []
    var now = SystemCalls.monotonicNow()
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: LoopState.readBufferSize, alignment: 64)
    lazy var datagrams = DatagramBatch()

    private var timerHandlers: [(any TimerHandler)?] = []
    private let bell: Bell

    init() throws(SystemError) {
        bell = try Bell()
        poller = try Poller()
        _ = try poller.add(bell.number, interest: .readable, handler: bell)
    }

    /// Ends a wait, from any thread: the descriptor never changes, and signalling it touches nothing else.
    func wake() { SystemCalls.signal(bell.number) }

    deinit { readBuffer.deallocate() }

    func addTimer(_ handler: any TimerHandler) -> TimerToken {
        let token = timers.add()
        if token.slot == timerHandlers.count { timerHandlers.append(handler) } else { timerHandlers[token.slot] = handler }
        return token
    }

    func removeTimer(_ token: TimerToken) {
        timers.remove(token)
        timerHandlers[token.slot] = nil
    }

    func poll(mayWait: Bool) {
        let count: Int
        do { count = try poller.wait(milliseconds: mayWait ? timeout() : 0) } catch {
            // epoll_wait fails only for a broken descriptor or pointer: nothing could ever be served again.
            fatalError("\(error)")
        }
        now = SystemCalls.monotonicNow()
        for index in 0..<count {
            if let (handler, readiness) = poller.ready(at: index) { handler.ready(readiness) }
        }
    }

    func fireTimers() {
        while let token = timers.popDue(at: now) { timerHandlers[token.slot]?.timerFired(at: now) }
    }

    func endTick() {
        guard !ending.isEmpty else { return }
        var handlers: [any TickHandler] = []
        swap(&handlers, &ending)
        for handler in handlers { handler.tickEnded(at: now) }
    }

    /// Milliseconds until the next timer, rounded up so that the loop doesn't spin through the last fraction.
    private func timeout() -> Int32 {
        guard timers.next < .distantFuture else { return -1 }
        let left = (timers.next - SystemCalls.monotonicNow()).inNanoseconds
        return left <= 0 ? 0 : Int32(clamping: (left + 999_999) / 1_000_000)
    }
}

/// The descriptor that ends a wait. An object of its own: the poller holds on to its handlers, and the state, which holds the poller,
/// would hold itself.
private final class Bell: ReadinessHandler {
    private let descriptor: FileDescriptor
    var number: Int32 { descriptor.number }

    init() throws(SystemError) { descriptor = try SystemCalls.makeEventDescriptor() }

    /// It has only to be emptied.
    func ready(_ readiness: Readiness) { SystemCalls.drain(number) }
}
