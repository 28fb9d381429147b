import Glibc

/// The line that tells how far a run has come, on standard error: overwritten each second on a terminal, else a new one now and then.
struct Progress {
    private let total: Int
    private let clock: ContinuousClock
    private let start: ContinuousClock.Instant
    private let isTerminal = isatty(STDERR_FILENO) != 0
    private var next: ContinuousClock.Instant
    private var hasShown = false

    init(_ total: Int, _ clock: ContinuousClock) {
        self.total = total
        self.clock = clock
        start = clock.now
        next = start + .seconds(1)
    }

    mutating func show(seeds: Int, sessions: Int, failures: Int) {
        let now = clock.now
        guard now >= next else { return }
        next = now + (isTerminal ? .seconds(1) : .seconds(30))
        hasShown = true
        let rate = Int(Double(sessions) / ((now - start) / .seconds(1)))
        let line = "\(seeds) of \(total) seeds, \(sessions) sessions, \(rate) a second, \(failures) seeds failed"
        write(isTerminal ? "\r\(line)\u{1B}[K" : "\(line)\n")
    }

    /// A line that stays.
    func tell(_ text: String) { write(isTerminal ? "\r\(text)\u{1B}[K\n" : "\(text)\n") }

    func end() { if isTerminal, hasShown { write("\n") } }

    private func write(_ text: String) { _ = Glibc.write(STDERR_FILENO, text, text.utf8.count) }
}
