import FrameCodec

/// The bodies of one `send`, given to its run in their order, and the wait for what becomes of them.
struct SendBodies {
    /// The router had its time.
    struct TimeIsUp: Error {}

    private let words: [String]
    private let takesLines: Bool
    private let file: String?
    private let patience: Duration
    private let cancellation: CancellationSignal

    /// First `words`, then the lines of standard input, then a whole file. `patience`: how long to wait for the router in all.
    init(words: [String], takesLines: Bool, file: String?, patience: Duration, _ cancellation: CancellationSignal) {
        self.words = words
        self.takesLines = takesLines
        self.file = file
        self.patience = patience
        self.cancellation = cancellation
    }

    /// Returns when every body has ended, and every expected answer has come, or when no session will come about.
    ///
    /// The time runs while the router is waited for and stands still while input is: a pipe may pause for hours.
    /// - Throws: `TimeIsUp`; `ToolError` when a body can't be read or is refused; `CancellationError`.
    func send(over run: SendRun) async throws {
        let clock = ContinuousClock()
        var left = patience
        func waiting(_ work: @Sendable @escaping () async throws -> Void) async throws {
            let start = clock.now
            let isDone: Void? = try await SessionTool.withDeadline(left, work)
            guard isDone != nil else { throw TimeIsUp() }
            left -= clock.now - start
        }
        var line = 0
        for word in words {
            line += 1
            try await waiting { [line] in try await run.send(Array(word.utf8), line: line) }
        }
        if takesLines {
            let lines = try InputLines(InputFile(nil, cancellation: interruption(by: run)), limit: FrameLimits.defaultMaximumBodyLength)
            do {
                for try await text in lines where !text.isEmpty {
                    line += 1
                    try await waiting { [line] in try await run.send(text, line: line) }
                }
            } catch is CancellationError where run.isRefused.isRaised && !cancellation.isRaised {}
        }
        if let file {
            let content = try InputFile(file, cancellation: cancellation).all(limit: FrameLimits.defaultMaximumBodyLength)
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
