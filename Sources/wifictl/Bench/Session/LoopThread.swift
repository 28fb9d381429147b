import Glibc
import SocketCore

/// An event loop's thread, as what it is to a measurement: something on a core that uses CPU time.
actor LoopThread {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ name: String) throws { loop = try EventLoop(name: name) }

    /// Keeps the thread on one core.
    func pin(to core: Int) { SystemCalls.pinThread(to: core) }

    /// The clock of the thread's CPU time, readable from any thread.
    func cpuClock() throws -> CPUClock { try CPUClock.ofCallingThread() }

    /// Runs something that may block, on the thread.
    func run<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }
}

/// How much CPU time a thread has used.
struct CPUClock: Sendable {
    fileprivate let clock: clockid_t

    var nanoseconds: UInt64 { CPUClock.read(clock) }

    /// Never inlined: libc promises that `pthread_self` always answers the same, which the optimiser takes to hold for an async function
    /// that goes on on another thread.
    @inline(never)
    static func ofCallingThread() throws -> CPUClock {
        var clock = clockid_t()
        guard pthread_getcpuclockid(pthread_self(), &clock) == 0 else {
            throw SessionBench.Failure(description: "no CPU clock of a thread")
        }
        return CPUClock(clock: clock)
    }

    static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
