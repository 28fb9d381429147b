import Glibc

/// Starts other programs, each as a shell would: with no signal blocked and none ignored, whatever the thread that starts it has. A child
/// that inherits this tool's blocked signals can't be ended by anything but SIGKILL.
enum ChildSpawn {
    /// Whose signals from the terminal a child gets.
    enum Company {
        /// A process group of its own, which can be ended as a whole: what a script has started included.
        case ownGroup
        /// A session of its own: closing the terminal doesn't end it.
        case ownSession
    }

    /// POSIX_SPAWN_SETSID, which the C library declares for GNU sources alone.
    private static let ownSession: Int32 = 0x80

    /// - Parameters:
    ///   - path: the program; looked for on the search path where it's a bare name.
    ///   - words: its arguments, its own name first.
    ///   - company: see ``Company``.
    ///   - actions: what becomes of the descriptors.
    /// - Returns: its process id, or the error number.
    static func start(
        _ path: String, _ words: [String], _ company: Company, _ actions: inout posix_spawn_file_actions_t
    ) -> (process: pid_t, failure: Int32) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let ownCompany = company == .ownGroup ? POSIX_SPAWN_SETPGROUP : ownSession
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | ownCompany))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let failure = posix_spawnp(&process, path, &actions, &attributes, &arguments, environ)
        return (process, failure)
    }
}
