import Glibc
import Synchronization

/// Turns SIGINT and SIGTERM into a `CancellationSignal`; a second one ends the process at once.
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
        action.__sigaction_handler.sa_handler = { _ in
            let saved = errno
            var byte: UInt8 = 0
            _ = write(SignalThread.wake.load(ordering: .relaxed), &byte, 1)
            errno = saved
        }
        action.sa_flags = Int32(SA_RESTART)
        sigaction(SIGINT, &action, nil)
        sigaction(SIGTERM, &action, nil)
    }

    private static func listen(to descriptor: Int32, raising signal: CancellationSignal) {
        var byte: UInt8 = 0
        while true {
            guard read(descriptor, &byte, 1) == 1 else { continue }
            if !signal.raise(.interrupt), signal.cause == .interrupt { _exit(ExitStatus.interrupted.rawValue) }
        }
    }
}
