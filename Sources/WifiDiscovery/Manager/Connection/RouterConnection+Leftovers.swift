import SocketCore

/// Messages of a session that nobody waits for: an earlier process has left them in the journal, or whoever sent them no longer waits.
public struct LeftoverMessages: Equatable, Sendable {
    /// Those without outcome.
    public internal(set) var pending: Set<SessionTicket> = []
    /// How the others ended while nobody waited, in that order.
    public internal(set) var outcomes: [MessageOutcome] = []

    mutating func hear(_ event: SessionEvent) {
        guard case .outcome(let outcome) = event, pending.remove(outcome.ticket) != nil else { return }
        outcomes.append(outcome)
    }
}

extension RouterConnection {
    /// Takes over what nobody waits for: the caller is told of it here, and from now on observes it. One caller gets it, the next none.
    ///
    /// - Returns: those without outcome, and how the others ended since somebody asked last.
    public func takeLeftovers() -> LeftoverMessages {
        defer { leftovers = LeftoverMessages() }
        return leftovers
    }

    /// Leaves messages of this session to whoever takes over next: their outcomes are kept for ``takeLeftovers()``.
    ///
    /// - Parameter tickets: messages whose outcomes the caller hasn't heard.
    public func leave(_ tickets: some Sequence<SessionTicket>) { leftovers.pending.formUnion(tickets) }
}
