import Synchronization

/// The wish to end, raised once by Ctrl-C, SIGTERM or an output that can't be written.
final class CancellationSignal: Sendable {
    enum Cause: Sendable, Equatable {
        case interrupt
        /// The reader of standard output has gone, which is its good right.
        case closedPipe
        /// Standard output's device refuses; the text says why.
        case unwritable(String)
    }

    private struct State {
        var cause: Cause?
        var nextKey = 0
        var handlers: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    /// Why an end is wished for, or nil as long as nobody wishes it.
    var cause: Cause? { state.withLock { $0.cause } }

    var isRaised: Bool { cause != nil }

    /// For loops without a suspension point: throws `CancellationError` once the signal is raised.
    func check() throws(CancellationError) {
        if isRaised { throw CancellationError() }
    }

    /// Returns when the signal is raised, or when the waiting task is cancelled.
    func wait() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let key = onRaise { continuation.finish() }
        for await _ in stream {}
        forget(key)
    }

    /// Calls `handler` once, when the signal is raised; at once if it already is. Returns a key for `forget`.
    @discardableResult
    func onRaise(_ handler: @escaping @Sendable () -> Void) -> Int? {
        let key: Int? = state.withLock { state in
            guard state.cause == nil else { return nil }
            state.nextKey += 1
            state.handlers[state.nextKey] = handler
            return state.nextKey
        }
        if key == nil { handler() }
        return key
    }

    func forget(_ key: Int?) {
        guard let key else { return }
        state.withLock { _ = $0.handlers.removeValue(forKey: key) }
    }

    /// Raises the signal; false when it was raised before.
    @discardableResult
    func raise(_ cause: Cause) -> Bool {
        let handlers: [@Sendable () -> Void]? = state.withLock { state in
            guard state.cause == nil else { return nil }
            state.cause = cause
            defer { state.handlers = [:] }
            return Array(state.handlers.values)
        }
        for handler in handlers ?? [] { handler() }
        return handlers != nil
    }
}
