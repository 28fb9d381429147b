import Glibc
import Synchronization

#if canImport(CLinux)
    import CLinux
#endif

/// Whoever has a timer on the loop; called on the loop's thread.
protocol TimerHandler: AnyObject {
    func timerFired(at now: Instant)
}

/// Whoever gathers work during a tick and does it at its end, such as writing what many handlers added.
public protocol TickHandler: AnyObject {
    /// The tick's descriptors, timers and jobs have been served.
    func tickEnded(at now: Instant)
}

/// One thread with one epoll: the executor of all sessions and of discovery.
///
/// Actors that run here (`unownedExecutor`) are entered straight from readiness, without a hop between socket and
/// state. Tasks that talk to them a lot should prefer this loop as task executor too: `Task(executorPreference: loop)`;
/// else each resumption goes over the global pool and back.
///
/// A tick: wait for descriptors and timers, tell their owners, run the jobs that became ready, then let everybody write
/// once what the tick has gathered.
///
/// Sendable though its state is mutable: the inbox is behind a lock, the thread's identity is the thread's own, and everything in
/// `confined` is touched on the loop's thread alone, which every entry to it checks.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// Jobs run between two looks at the descriptors, so that a task that never waits can't starve the sockets.
    private static let jobsPerTick = 1_024

    private struct Inbox {
        var jobs: [UnownedJob] = []
        var isPolling = false
        var isStopping = false
    }

    private let inbox = Mutex(Inbox())
    private let confined: LoopState
    private let residence: LoopResidence

    /// A loop for everybody who doesn't bring one; started at first use, never stopped.
    public static let shared: EventLoop = {
        do { return try EventLoop(name: "wifi-shared") } catch {
            // Without epoll and a thread no part of the library can do anything.
            fatalError("cannot start the event loop: \(error)")
        }
    }()

    /// Starts a loop on a thread of its own; it runs until ``stop()``.
    ///
    /// - Throws: ``SystemError`` when the kernel gives no epoll, no eventfd or no thread.
    public init(name: String = "wifi-loop") throws(SystemError) {
        confined = try LoopState()
        residence = try LoopResidence(of: confined)
        let box = Unmanaged.passRetained(Start(loop: self, name: name))
        var started = pthread_t()
        let code = pthread_create(&started, nil, { argument in Start.run(argument) }, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw SystemError(function: "pthread_create", code: code)
        }
        pthread_detach(started)
    }

    /// Asks the loop to end; jobs already enqueued are still run. Jobs enqueued later never are: end what lives on the loop first.
    public func stop() {
        inbox.withLock { $0.isStopping = true }
        confined.wake()
    }

    /// True on the loop's own thread.
    public var isCurrent: Bool { residence.isHere }

    // MARK: Executor

    /// Takes a job from any thread; wakes the loop only when it may be asleep.
    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let mustWake = inbox.withLock { inbox in
            inbox.jobs.append(unowned)
            defer { inbox.isPolling = false }
            return inbox.isPolling
        }
        if mustWake { confined.wake() }
    }

    /// What lets `assumeIsolated` hold on this thread outside of a task.
    public func checkIsolated() {
        precondition(isCurrent, "called off the event loop's thread")
    }

    /// See ``checkIsolated()``.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    // MARK: For handlers, on the loop's thread

    /// The start of the tick under way: one clock reading serves all of it.
    var now: Instant { state.now }

    /// Scratch memory for one read at a time, shared by all connections: nothing in it outlives the call that read it.
    var readBuffer: UnsafeMutableRawBufferPointer { state.readBuffer }

    /// Scratch memory for datagrams, shared like ``readBuffer``.
    var datagrams: DatagramBatch { state.datagrams }

    func add(_ descriptor: Int32, interest: Readiness, handler: any ReadinessHandler) throws(SystemError) -> PollToken {
        try state.poller.add(descriptor, interest: interest, handler: handler)
    }

    func update(_ token: PollToken, interest: Readiness) throws(SystemError) { try state.poller.update(token, interest: interest) }
    func remove(_ token: PollToken) { state.poller.remove(token) }

    func addTimer(_ handler: any TimerHandler) -> TimerToken { state.addTimer(handler) }
    func setTimer(_ token: TimerToken, to deadline: Instant) { state.timers.set(token, to: deadline) }
    /// How many timers wait for a deadline; on the loop's thread.
    var armedTimers: Int { state.timers.armedCount }
    func removeTimer(_ token: TimerToken) { state.removeTimer(token) }
    /// Timers that exist, armed or not, and descriptors that are watched, the loop's own among them; on the loop's thread.
    package var residents: (timers: Int, descriptors: Int) { (state.timers.timerCount, state.poller.count) }

    /// Calls the handler once when this tick ends. The handler keeps itself from asking twice.
    public func atEndOfTick(_ handler: any TickHandler) { state.ending.append(handler) }

    private var state: LoopState {
        precondition(isCurrent, "the loop's state is its thread's alone")
        return confined
    }

    // MARK: The thread

    private final class Start {
        let loop: EventLoop
        let name: String
        init(loop: EventLoop, name: String) {
            self.loop = loop
            self.name = name
        }
        static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let argument else { return nil }
            let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
            start.loop.residence.moveIn()
            SystemCalls.nameThisThread(start.name)
            start.loop.run()
            return nil
        }
    }

    private func run() {
        while true {
            let (idle, stopping) = inbox.withLock { inbox in
                inbox.isPolling = inbox.jobs.isEmpty && confined.ending.isEmpty
                return (inbox.isPolling, inbox.isStopping)
            }
            if stopping && idle { return }
            confined.poll(mayWait: idle && !stopping)
            inbox.withLock { $0.isPolling = false }
            confined.fireTimers()
            runJobs()
            confined.endTick()
        }
    }

    private func runJobs() {
        var left = EventLoop.jobsPerTick
        var batch: [UnownedJob] = []
        while left > 0 {
            inbox.withLock { swap(&$0.jobs, &batch) }
            if batch.isEmpty { return }
            for job in batch {
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
            left -= batch.count
            batch.removeAll(keepingCapacity: true)
        }
    }
}
