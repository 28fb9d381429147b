import Glibc
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into a `CancellationSignal`; a second one ends the process at once.
///
/// A handler writes to a pipe and a thread reads it. Blocking the signals and waiting for them in that thread isn't enough:
/// the runtime unblocks all signals in the main thread when it parks it, and their default action then ends the process.
enum SignalThread {
    /// The end of the pipe that the handler writes to: the one thing that it can reach.
    private static let wake = Atomic<Int32>(-1)

    /// Starts listening. When that isn't possible, the signals keep their plain meaning.
    static func start(raising signal: CancellationSignal) {
        Glibc.signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wake.store(ends[1], ordering: .releasing)
        guard OwnThread.run({ [descriptor = ends[0]] in listen(to: descriptor, raising: signal) }) else { return }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            let saved = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(SignalThread.wake.load(ordering: .relaxed), &byte, 1)
            errno = saved
        }
        action.sa_flags = Int32(SA_RESTART)
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
        // Whoever started it by nohup wants it to outlive the terminal.
        var before = sigaction()
        sigaction(SIGHUP, nil, &before)
        if unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) != unsafeBitCast(SIG_IGN, to: Int.self) {
            sigaction(SIGHUP, &action, nil)
        }
    }

    private static func listen(to descriptor: Int32, raising signal: CancellationSignal) {
        var byte: UInt8 = 0
        while true {
            guard read(descriptor, &byte, 1) == 1 else { continue }
            let cause: CancellationSignal.Cause = byte == UInt8(SIGINT) ? .interrupt : .termination
            guard !signal.raise(cause) else { continue }
            // A terminal that closes sends SIGHUP twice where the shell passes it on: that is no second wish.
            guard byte != UInt8(SIGHUP), [.interrupt, .termination].contains(signal.cause) else { continue }
            _exit(ExitStatus.interrupted.rawValue)
        }
    }
}
