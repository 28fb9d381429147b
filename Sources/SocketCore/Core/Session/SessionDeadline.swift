/// When a session must next be told the time, and why.
public struct SessionDeadline: Equatable, Sendable {
    /// Why: one case a timer.
    public enum Reason: Equatable, Sendable {
        /// Nothing is waited for.
        case none
        /// The connection under way must stand.
        case connect
        /// The other side's hello must have come.
        case hello
        /// A heartbeat is due.
        case heartbeat
        /// No byte has come for too long.
        case silence
        /// A receipt is overdue.
        case resend
        /// It's time to dial again.
        case reconnect
        /// Closing: receipts have been waited for long enough; shut the sending half.
        case linger
        /// Closing has taken long enough.
        case drain
        /// The router forgets a session that nobody came back to.
        case memory
    }

    /// The instant; ``Instant/distantFuture`` for none.
    public var at: Instant
    /// What happens then.
    public var reason: Reason

    static let none = SessionDeadline(at: .distantFuture, reason: .none)

    @inline(__always)
    mutating func lower(to at: Instant, _ reason: Reason) {
        if at < self.at { self = SessionDeadline(at: at, reason: reason) }
    }
}
