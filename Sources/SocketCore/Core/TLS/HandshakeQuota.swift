/// Keeps unfinished handshakes few, so that neither memory nor honest newcomers suffer from a flood of them.
///
/// A source has at most ``perSource`` under way; one more is refused. When there are ``total`` over all, a newcomer takes the place of the
/// oldest of those whose source has the most: a flood from few sources displaces itself, and one from many has to open ``total``
/// connections in the time of one honest handshake (some milliseconds) to displace that one.
public struct HandshakeQuota<Source: Hashable & Sendable>: Sendable {
    /// Handshakes that one source may have under way: a phone opens one or two.
    public static var perSource: Int { 16 }
    /// Handshakes under way over all: each holds at most some 100 KB (see `TLSEngine.longestHandshake`).
    public static var total: Int { 256 }

    /// One handshake under way.
    public struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// What becomes of a newcomer.
    public enum Admission: Equatable, Sendable {
        /// It may begin; the other, if any, is to be closed and needn't be reported as finished.
        case admitted(Ticket, displacing: Ticket?)
        /// Its source has too many: close it.
        case refused
    }

    private var next: UInt64 = 0
    private var sources: [Ticket: Source] = [:]
    /// Oldest first.
    private var tickets: [Source: [Ticket]] = [:]
    /// Newcomers refused so far.
    public private(set) var refusedCount = 0
    /// Handshakes displaced so far.
    public private(set) var displacedCount = 0

    /// Nothing under way.
    public init() {}

    /// Handshakes under way.
    public var count: Int { sources.count }

    /// A newcomer from `source`.
    public mutating func admit(_ source: Source) -> Admission {
        guard (tickets[source]?.count ?? 0) < Self.perSource else {
            refusedCount += 1
            return .refused
        }
        let displaced = sources.count >= Self.total ? oldestOfBusiest() : nil
        if let displaced {
            finish(displaced)
            displacedCount += 1
        }
        let ticket = Ticket(number: next)
        next += 1
        sources[ticket] = source
        tickets[source, default: []].append(ticket)
        return .admitted(ticket, displacing: displaced)
    }

    /// A handshake is done, or its connection gone. Harmless when it was displaced.
    public mutating func finish(_ ticket: Ticket) {
        guard let source = sources.removeValue(forKey: ticket) else { return }
        tickets[source]?.removeAll { $0 == ticket }
        if tickets[source]?.isEmpty == true { tickets[source] = nil }
    }

    private func oldestOfBusiest() -> Ticket? {
        let busiest = tickets.values.max { left, right in
            // Among sources with equally many, the one whose oldest is the oldest.
            (left.count, right.first?.number ?? 0) < (right.count, left.first?.number ?? 0)
        }
        return busiest?.first
    }
}
