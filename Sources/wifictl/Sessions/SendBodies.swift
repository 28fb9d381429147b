/// The bodies of one `send`, given to its run in their order, and the wait for what becomes of them.
struct SendBodies {
    /// The router had its time.
    struct TimeIsUp: Error {}

    private let words: [String]
    private let takesLines: Bool
    private let file: String?
    private let largest: Int
    private let patience: Duration
    private let cancellation: CancellationSignal

    /// First `words`, then the lines of standard input, then a whole file, none with more than `largest` bytes. `patience`: how long to
    /// wait for a router from which nothing comes.
    init(words: [String], takesLines: Bool, file: String?, largest: Int, patience: Duration, _ cancellation: CancellationSignal) {
        self.words = words
        self.takesLines = takesLines
        self.file = file
        self.largest = largest
        self.patience = patience
        self.cancellation = cancellation
    }

    /// Returns when every body has ended, and every expected answer has come, or when no session will come about.
    ///
    /// The time runs while the router is waited for, and begins anew with what comes from it: a pipe may pause for hours, and a long one
    /// take hours.
    /// - Throws: `TimeIsUp`; `ToolError` when a body can't be read or is refused; `CancellationError`.
    func send(over run: SendRun) async throws {
        func waiting(_ work: @Sendable @escaping () async throws -> Void) async throws {
            let start = ContinuousClock.now
            let isDone: Void? = try await SessionTool.withDeadline({ max(start, await run.lastSign) + patience }, work)
            guard isDone != nil else { throw TimeIsUp() }
        }
        var line = 0
        for word in words {
            line += 1
            try await waiting { [line] in try await run.send(Array(word.utf8), line: line) }
        }
        if takesLines {
            let lines = try InputLines(InputFile(nil, cancellation: interruption(by: run)), limit: largest)
            do {
                for try await text in lines where !text.isEmpty {
                    line += 1
                    try await waiting { [line] in try await run.send(text, line: line) }
                }
            } catch is CancellationError where run.isRefused.isRaised && !cancellation.isRaised {}
        }
        if let file {
            let content = try InputFile(file, cancellation: cancellation).all(limit: largest)
            try await waiting { [line] in try await run.send(content, line: line + 1) }
        }
        try await waiting { await run.finish() }
    }

    /// Raised by the user, and when no session will come about: nobody should go on typing then.
    private func interruption(by run: SendRun) -> CancellationSignal {
        let signal = CancellationSignal()
        cancellation.onRaise { [cancellation] in signal.raise(cancellation.cause ?? .interrupt) }
        run.isRefused.onRaise { signal.raise(.interrupt) }
        return signal
    }
}
