import Synchronization

/// What happened in a world, for whoever looks into a failure, and what went wrong first.
final class ShakeTrace: Sendable {
    private struct State {
        var lines: [String] = []
        var failure: String?
        /// Who waits for what now.
        var doing: [String: String] = [:]
    }

    private static let most = 4_000
    private let state = Mutex(State())

    func note(_ line: @autoclosure () -> String) {
        let line = line()
        state.withLock { state in
            if state.lines.count < ShakeTrace.most { state.lines.append(line) }
        }
    }

    /// The first failure counts.
    func fail(_ what: String) {
        state.withLock { state in
            state.lines.append("FAILED: \(what)")
            if state.failure == nil { state.failure = what }
        }
    }

    /// Somebody begins something that takes as long as it takes; nil when it's done.
    func doing(_ who: String, _ what: String?) { state.withLock { $0.doing[who] = what } }

    var failure: String? { state.withLock { $0.failure } }
    var lines: [String] { state.withLock { $0.lines } }
    /// Who waits for what.
    var waits: String { state.withLock { $0.doing.map { "\($0) in \($1)" }.sorted().joined(separator: ", ") } }
}
