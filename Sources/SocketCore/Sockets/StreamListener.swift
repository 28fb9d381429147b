import Glibc

/// Whoever takes a listener's connections; called on the loop's thread.
protocol ListenerOwner: AnyObject, Sendable {
    /// A connection came in; it reads once it's given an owner.
    func listener(_ listener: StreamListener, accepted stream: Stream)
    /// Accepting failed; the listener goes on by itself. Out of descriptors: it waits a while first.
    func listener(_ listener: StreamListener, failed error: SystemError)
}

/// A listening socket on the loop, TCP or local to this machine; confined to the loop's thread.
final class StreamListener: ReadinessHandler, TimerHandler {
    /// Connections accepted in one tick, so that a burst of newcomers doesn't keep those who are in waiting.
    private static let acceptsPerTick = 64
    /// How long to leave newcomers in the kernel's queue after descriptors ran out: some session will have ended by then.
    private static let pause = Duration.milliseconds(100)

    let loop: EventLoop
    /// Where it listens, with the port that the kernel chose; no address where it listens at a path.
    let local: Endpoint
    private let isAtPath: Bool
    private var owner: (any ListenerOwner)?
    private var descriptor: FileDescriptor?
    private var token: PollToken?
    private var timer: TimerToken?

    /// Opens, binds and listens; on the loop's thread.
    init(on loop: EventLoop, bind endpoint: Endpoint, owner: any ListenerOwner) throws(SystemError) {
        let descriptor = try TCPSocket.listen(on: endpoint)
        let number = descriptor.number
        self.loop = loop
        self.owner = owner
        isAtPath = false
        local = try SystemCalls.localEndpoint(number)
        self.descriptor = consume descriptor
        token = try loop.add(number, interest: .readable, handler: self)
    }

    /// Listens for processes of this machine at a path; on the loop's thread.
    init(on loop: EventLoop, path: String, owner: any ListenerOwner) throws(SystemError) {
        let descriptor = try SystemCalls.listenLocal(path)
        let number = descriptor.number
        self.loop = loop
        self.owner = owner
        isAtPath = true
        local = Endpoint(.any, port: 0)
        self.descriptor = consume descriptor
        token = try loop.add(number, interest: .readable, handler: self)
    }

    /// Stops listening; connections accepted already go on.
    func close() {
        if let token { loop.remove(token) }
        if let timer { loop.removeTimer(timer) }
        token = nil
        timer = nil
        owner = nil
        descriptor = nil
    }

    func ready(_ readiness: Readiness) {
        for _ in 0..<StreamListener.acceptsPerTick {
            guard let number = descriptor?.number else { return }
            do throws(SystemError) {
                guard let (accepted, peer) = try SystemCalls.accept(number) else { return }
                let connection = FileDescriptor(owning: accepted)
                let stream =
                    isAtPath ? try Stream.local(connection, on: loop) : try Stream.accepted(connection, from: peer, on: loop)
                owner?.listener(self, accepted: stream)
            } catch {
                if error.isOutOfDescriptors { rest() }
                owner?.listener(self, failed: error)
                return
            }
        }
    }

    /// Level-triggered readiness would spin while nothing can be accepted.
    private func rest() {
        watch([])
        wakeLater()
    }

    func timerFired(at now: Instant) {
        // A kernel too short of memory to listen again is asked again: a listener must not fall silent for good.
        if !watch(.readable) { wakeLater() }
    }

    private func wakeLater() {
        let timer = timer ?? loop.addTimer(self)
        self.timer = timer
        loop.setTimer(timer, to: loop.now + StreamListener.pause)
    }

    /// - Returns: false when it couldn't be changed; the owner has been told then.
    @discardableResult
    private func watch(_ interest: Readiness) -> Bool {
        guard let token else { return true }
        do throws(SystemError) {
            try loop.update(token, interest: interest)
            return true
        } catch {
            owner?.listener(self, failed: error)
            return false
        }
    }
}
