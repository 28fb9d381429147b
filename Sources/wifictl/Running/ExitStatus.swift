/// How the tool ends, for scripts.
enum ExitStatus: Int32, Sendable {
    /// Done, or found.
    case success = 0
    /// Nothing found, or not all delivered or proven.
    case negative = 1
    /// An error; the last line on standard error says what, where and what to try.
    case failure = 2
    /// Wrong usage.
    case usage = 64
    /// Ended by Ctrl-C, or by SIGTERM or SIGHUP where it isn't meant to run until then.
    case interrupted = 130
}
