import SocketCore

/// What a scan looks for and how long.
public struct DiscoveryConfiguration: Sendable {
    /// How long to scan; nil watches until ``DiscoveryCore/stop(now:)``.
    public var duration: Duration?
    /// The Wi-Fi link's addresses (associated BSSIDs, the access point's MLD address); empty when unknown.
    public var link: Set<MACAddress>
    /// Whether the first router that is graded `exact` or `radio`, or that is the one in ``mac``, ends the scan.
    public var endsAtMatch: Bool
    /// Only this router is asked to answer.
    public var mac: MACAddress?
    /// Ask these instead of the group (`--to`); each from the links of its family.
    public var targets: [Endpoint]
    /// The span over which routers spread their replies, in milliseconds; grows by itself where hundreds answer.
    public var maxWaitMilliseconds: Int
    /// Routers known from earlier: replies in their name are kept when there are too many of all. Told to nobody.
    public var expected: Set<MACAddress> = []
    /// Where routers listen.
    public var port: UInt16
    /// The IPv4 group.
    public var groupV4: IPAddress
    /// The IPv6 group, without interface.
    public var groupV6: IPAddress

    /// A configuration; by default a scan of 3 seconds for everything.
    public init(
        duration: Duration? = .seconds(3), link: Set<MACAddress> = [], endsAtMatch: Bool = false, mac: MACAddress? = nil,
        targets: [Endpoint] = [], maxWaitMilliseconds: Int = 100, port: UInt16 = DiscoveryDatagram.port,
        groupV4: IPAddress = DiscoveryDatagram.groupV4, groupV6: IPAddress = DiscoveryDatagram.groupV6
    ) {
        self.duration = duration
        self.link = link
        self.endsAtMatch = endsAtMatch
        self.mac = mac
        self.targets = targets
        self.maxWaitMilliseconds = maxWaitMilliseconds
        self.port = port
        self.groupV4 = groupV4
        self.groupV6 = groupV6
    }
}

/// What a scan keeps at most, whatever strangers send.
public enum DiscoveryBounds {
    /// More than any LAN holds: a /20 full of routers.
    public static let routers = 4096
    /// Who says that it's which router: four places for each of those.
    public static let claims = 4 * routers
    /// Four answers from each router; in a watch a period of ``period``. Whoever has said little is heard beyond it.
    public static let replies = 16_384
    /// Half of the above: one source that floods can't use up what the others need.
    public static let repliesPerSource = replies / 2
    /// What each source may say when all together have said too much: a router's answers to all probes of a scan.
    public static let repliesUnderFlood = 64
    /// Sources that are told apart: a /16 full of forgers.
    public static let sources = 65_536
    /// Half of the routers. A host that simulates a thousand of them stays below. When all places are taken, the busiest sources give way.
    public static let routersPerSource = routers / 2
    /// What the default gateway keeps beyond that: a host that simulates fifty routers is no likely gateway.
    public static let routersOfGateway = 64
    /// What a neighbour that the kernel knows keeps.
    public static let routersOfNeighbour = 16
    /// Announcements need no nonce, so anybody can send them: they fill a quarter of the table at most.
    public static let announcedRouters = routers / 4
    /// Half of those from one IPv4 address or IPv6 /64.
    public static let announcedPerNetwork = announcedRouters / 2
    /// Honest ones are IPv4, global, unique local and link-local IPv6 on two interfaces; the rest of a /24 may be somebody who answers in its
    /// name from every address of the subnet.
    public static let placesPerRouter = 256
    /// TCP ports that one place may offer in a router's name: its own, that of before a restart, and forged ones beside them.
    public static let offersPerPlace = 4
    /// Answers to a probe that was sent to one place alone: the router's own, and another router's at the same address.
    public static let directAnswers = 4
    /// Addresses that are asked anew within ``followUpSpan``, since replies from there contradict each other, or are too many; each
    /// of them once.
    public static let contestedAddresses = 32
    /// All rounds of ten seconds and follow-ups besides; what is older is stale anyway.
    public static let noncesPerLink = 64
    /// A reply to an older probe is stale (protocol.md, section 4).
    public static let nonceLifetime: Duration = .seconds(10)
    /// Interfaces, each with two sockets, on the largest machine that also sits in a LAN.
    public static let links = 256
    /// Unicast probes a round to gateways, neighbours or routers that fell silent: they must not become a scan of the network.
    public static let unicastsPerRound = 32
    /// Unicast probes within ``followUpSpan`` that announcements and byes may cause.
    public static let followUps = 32
    /// See ``followUps``.
    public static let followUpSpan: Duration = .seconds(1)
    /// The time between rounds of a watch, and the span in which its budgets are renewed.
    public static let period: Duration = .seconds(10)
}
