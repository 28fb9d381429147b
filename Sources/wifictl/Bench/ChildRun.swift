import Glibc
import SocketCore

/// Another program, run to its end, or to the end of the task that waits for it.
enum ChildRun {
    /// How it went.
    enum Result: Equatable {
        /// There's no such program.
        case notStarted
        /// It ran; by a signal counts as 128 and the signal's number, as in a shell.
        case ended(status: Int32)
    }

    /// How often a cancellation is looked for.
    private static let interval = Duration.milliseconds(10)
    /// From the wish that it ends to its end by force.
    private static let patience = Duration.milliseconds(300)

    /// Runs a program found on the search path; what it says goes to standard error, as it's no data of ours.
    ///
    /// When the task is cancelled, the program is ended, with all that it has started.
    static func run(_ words: [String]) -> Result {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        // Its group isn't the terminal's: asking for input there would stop it for ever.
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        let (child, failure) = ChildSpawn.start(words[0], words, .ownGroup, &actions)
        guard failure == 0 else { return .notStarted }
        var status: Int32 = 0
        var asked: Instant?
        while true {
            let reaped = waitpid(child, &status, WNOHANG)
            if reaped == child { break }
            guard reaped == 0 || errno == EINTR else { return .notStarted }
            if Task.isCancelled {
                if let asked {
                    if SystemCalls.monotonicNow() - asked > patience { kill(-child, SIGKILL) }
                } else {
                    asked = SystemCalls.monotonicNow()
                    kill(-child, SIGTERM)
                }
            }
            SystemCalls.sleep(interval)
        }
        // What it left behind, where it was ended half way.
        if asked != nil { kill(-child, SIGKILL) }
        let signal = status & 0x7F
        return .ended(status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
    }
}
