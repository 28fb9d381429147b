import Synchronization

/// Counts, and lets one task at a time wait for a count.
final class Tally: Sendable {
    private struct State {
        var total = 0
        var waiter: (goal: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    /// One more.
    func add() {
        let reached: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.total += 1
            guard let waiter = state.waiter, state.total >= waiter.goal else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        reached?.resume()
    }

    /// Returns once that many were counted, at once if they were.
    func reached(_ goal: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.total < goal { state.waiter = (goal, continuation) }
                return state.total >= goal
            }
            if isReached { continuation.resume() }
        }
    }
}
