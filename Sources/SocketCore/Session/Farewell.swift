/// A connection that is given up in order: our half is shut, the peer is heard out for a while, then it's closed.
///
/// Closing right away would reset the connection whenever something of the peer's lies unread, and what was written last could be lost
/// on its way. What the peer says now is dropped: it's never receipted, so that the session's next connection brings it again.
final class Farewell: StreamOwner, TimerHandler {
    private let stream: Stream
    private var timer: TimerToken?
    private var onEnd: (() -> Void)?
    /// Whoever waits until the connection is closed.
    var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var isOver = false

    /// Begins at once; `onEnd` is called when the connection is closed, never from within this call.
    init(_ stream: Stream, within span: Duration, onEnd: @escaping () -> Void) {
        self.stream = stream
        self.onEnd = onEnd
        stream.owner = self
        stream.isReading = true
        let timer = stream.loop.addTimer(self)
        stream.loop.setTimer(timer, to: stream.loop.now + span)
        self.timer = timer
        stream.finishWriting()
    }

    func streamOpened(_ stream: Stream) {}
    func stream(_ stream: Stream, received bytes: RawSpan) {}
    func streamIsWritable(_ stream: Stream) {}
    func streamEnded(_ stream: Stream, _ end: StreamEnd) { finish() }
    func timerFired(at now: Instant) { finish() }

    private func finish() {
        if let timer { stream.loop.removeTimer(timer) }
        timer = nil
        stream.close()
        isOver = true
        for waiter in waiters { waiter.resume() }
        waiters = []
        let last = onEnd
        onEnd = nil
        last?()
    }
}
