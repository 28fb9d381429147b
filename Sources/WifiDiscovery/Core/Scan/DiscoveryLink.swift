import SocketCore

/// One socket of one interface, through which probes leave and replies come.
public struct DiscoveryLink: Equatable, Sendable {
    /// The shell's number for the socket.
    public struct ID: Hashable, Comparable, Sendable {
        /// The number.
        public var rawValue: Int
        /// The socket of that number.
        public init(_ rawValue: Int) { self.rawValue = rawValue }
        /// Orders by number.
        public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
    }

    /// The socket.
    public var id: ID
    /// The interface's index.
    public var interface: UInt32
    /// The interface's name.
    public var name: String
    /// Whether the socket speaks IPv4; IPv6 otherwise.
    public var isV4: Bool
    /// Directed broadcast addresses, tried where the group stays silent.
    public var broadcasts: [IPAddress]
    /// Gateways and neighbours, tried last, in this order.
    public var fallbacks: [IPAddress]

    /// A link.
    public init(
        id: ID, interface: UInt32, name: String, isV4: Bool, broadcasts: [IPAddress] = [], fallbacks: [IPAddress] = []
    ) {
        self.id = id
        self.interface = interface
        self.name = name
        self.isV4 = isV4
        self.broadcasts = broadcasts
        self.fallbacks = fallbacks
    }
}

/// A link with what the scan remembers about it.
struct LinkState {
    var link: DiscoveryLink
    var nonces = NonceBook()
    var nextRound: Instant
    var round = 0
    /// Rounds in a row that everybody was asked in and nobody answered.
    var silentRounds = 0
    var heardSinceRound = false
    var askedEverybody = false
    /// The last send failure; forgotten when a reply comes.
    var failure: String?

    init(_ link: DiscoveryLink, now: Instant) {
        self.link = link
        nextRound = now
    }
}

/// The probes of one link that may still be answered.
struct NonceBook {
    struct Asked: Equatable {
        var nonce: HexToken
        var msgId: UInt32
        var sentAt: Instant
        /// Probes that left together, on whichever links, have one epoch: "one probe" for the conflict rule.
        var epoch: Int
    }

    private var asked: [Asked] = []

    mutating func remember(_ new: Asked) {
        asked.removeAll { new.sentAt - $0.sentAt > DiscoveryBounds.nonceLifetime }
        if asked.count == DiscoveryBounds.noncesPerLink { asked.removeFirst() }
        asked.append(new)
    }

    func find(_ nonce: HexToken, msgId: UInt32, now: Instant) -> Asked? {
        asked.last { $0.nonce == nonce && $0.msgId == msgId && now - $0.sentAt <= DiscoveryBounds.nonceLifetime }
    }
}

/// When the rounds of a link come: 0, 0.25, 0.75, 1.75 … s, the gaps doubling up to the period of a watch.
enum ProbeSchedule {
    static let firstGap: Duration = .milliseconds(250)
    /// Controllers that were switched on together drift apart.
    static let jitter = 0.1

    static func gap(afterRound round: Int, random unit: Double) -> Duration {
        // 250 ms doubled six times is over the period.
        let plain = round < 6 ? firstGap.scaled(by: Double(1 << round)) : DiscoveryBounds.period
        return min(plain, DiscoveryBounds.period).scaled(by: 1 - jitter + 2 * jitter * unit)
    }
}
