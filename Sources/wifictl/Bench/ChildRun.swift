import Glibc

/// Another program, run to its end.
enum ChildRun {
    /// How it went.
    enum Result: Equatable {
        /// There's no such program.
        case notStarted
        /// It ran; by a signal counts as 128 and the signal's number, as in a shell.
        case ended(status: Int32)
    }

    /// Runs a program found on the search path; what it says goes to standard error, as it's no data of ours.
    static func run(_ words: [String]) -> Result {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        guard posix_spawnp(&child, words[0], &actions, nil, &arguments, environ) == 0 else { return .notStarted }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return .notStarted }
        }
        let signal = status & 0x7F
        return .ended(status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal)
    }
}
