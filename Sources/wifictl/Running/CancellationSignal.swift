import Glibc
import Synchronization

/// The wish to end, raised once by Ctrl-C, SIGTERM, SIGHUP or an output that can't be written.
final class CancellationSignal: Sendable {
    enum Cause: Sendable, Equatable {
        case interrupt
        /// SIGTERM or SIGHUP: how service managers, and terminals that close, end what they have started.
        case termination
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
    /// A pipe that becomes readable, and stays so, when the signal is raised; nil where the system had none left.
    private let pipe: (read: Int32, write: Int32)?

    init() {
        var ends: [Int32] = [-1, -1]
        pipe = Glibc.pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
        for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        guard let pipe else { return }
        close(pipe.read)
        close(pipe.write)
    }

    /// For poll(): readable once the signal is raised; -1, which poll() ignores, where there is none.
    var descriptor: Int32 { pipe?.read ?? -1 }

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
        if handlers != nil, let pipe { _ = write(pipe.write, [1], 1) }
        for handler in handlers ?? [] { handler() }
        return handlers != nil
    }
}
