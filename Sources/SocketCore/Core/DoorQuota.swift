/// Keeps the connections few that nobody knows yet (unfinished handshakes, hellos that haven't come), so that neither memory nor honest
/// newcomers suffer from a flood of them.
///
/// One address has at most ``perSource`` of the places. What becomes of one more is the rules' choice. When ``total`` are taken, a newcomer
/// takes the place of the oldest of the network that has the most, and there of the address that has the most; a network is an IPv4 address
/// or an IPv6 /64, since a host has as many addresses of a /64 as it likes. So a flood from few networks displaces itself. Those who share
/// their /64 or their address with it, and all if it comes from many networks, are displaced only when it fills every place anew in the time
/// of one honest greeting (some milliseconds).
public struct DoorQuota: Sendable {
    /// What becomes of a newcomer whose address has its share.
    public enum AtShare: Sendable {
        /// It's refused, so that those under way end: what costs as much as a handshake mustn't be begun without end.
        case refusesNewest
        /// It takes the place of the oldest of its own address: what costs nothing is given another chance.
        case displacesOldest
    }

    /// One connection under way.
    public struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// What becomes of a newcomer.
    public enum Admission: Equatable, Sendable {
        /// It may begin; the other, if any, is to be closed and needn't be reported as finished.
        case admitted(Ticket, displacing: Ticket?)
        /// Its address has too many: close it.
        case refused
    }

    /// TLS handshakes: a phone opens one or two, and each holds at most some 100 KB (see `TLSEngine.longestHandshake`).
    public static var handshakes: DoorQuota { DoorQuota(perSource: 16, total: 256, atShare: .refusesNewest) }
    /// Connections in the clear that haven't said hello: each holds at most 4 KiB, and a crowd behind one address may knock at once.
    public static var greetings: DoorQuota { DoorQuota(perSource: 256, total: 1_024, atShare: .displacesOldest) }

    /// Connections that one address may have under way.
    public let perSource: Int
    /// Connections under way over all.
    public let total: Int
    private let atShare: AtShare
    private var next: UInt64 = 0
    private var sources: [Ticket: IPAddress] = [:]
    private var networks: [IPAddress: Network] = [:]
    /// Newcomers refused so far.
    public private(set) var refusedCount = 0
    /// Connections displaced so far.
    public private(set) var displacedCount = 0

    private struct Network {
        var count = 0
        /// Oldest first.
        var tickets: [IPAddress: [Ticket]] = [:]

        /// The oldest of the address with the most; among addresses with equally many, the oldest of all.
        var oldestOfBusiest: Ticket? {
            let busiest = tickets.values.max { left, right in
                (left.count, right.first?.number ?? 0) < (right.count, left.first?.number ?? 0)
            }
            return busiest?.first
        }
    }

    /// Nothing under way.
    public init(perSource: Int, total: Int, atShare: AtShare) {
        self.perSource = perSource
        self.total = total
        self.atShare = atShare
    }

    /// Connections under way.
    public var count: Int { sources.count }

    /// A newcomer from `source`.
    public mutating func admit(_ source: IPAddress) -> Admission {
        let network = source.network
        var displaced: Ticket?
        if let own = networks[network]?.tickets[source], own.count >= perSource {
            guard case .displacesOldest = atShare else {
                refusedCount += 1
                return .refused
            }
            displaced = own.first
        } else if sources.count >= total {
            displaced = oldestOfBusiest()
        }
        if let displaced {
            finish(displaced)
            displacedCount += 1
        }
        let ticket = Ticket(number: next)
        next += 1
        sources[ticket] = source
        networks[network, default: Network()].count += 1
        networks[network]?.tickets[source, default: []].append(ticket)
        return .admitted(ticket, displacing: displaced)
    }

    /// A greeting is done, or its connection gone. Harmless when it was displaced.
    public mutating func finish(_ ticket: Ticket) {
        guard let source = sources.removeValue(forKey: ticket) else { return }
        let network = source.network
        networks[network]?.count -= 1
        networks[network]?.tickets[source]?.removeAll { $0 == ticket }
        if networks[network]?.tickets[source]?.isEmpty == true { networks[network]?.tickets[source] = nil }
        if networks[network]?.count == 0 { networks[network] = nil }
    }

    private func oldestOfBusiest() -> Ticket? {
        let most = networks.values.reduce(0) { max($0, $1.count) }
        let oldest = networks.values.lazy.filter { $0.count == most }.compactMap(\.oldestOfBusiest)
        return oldest.min { $0.number < $1.number }
    }
}
