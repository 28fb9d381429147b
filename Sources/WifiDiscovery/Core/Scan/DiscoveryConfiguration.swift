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
    /// Four answers from each of them; in a watch a period of ``period``.
    public static let replies = 16_384
    /// Half of the above: one source that floods can't use up what the others need.
    public static let repliesPerSource = replies / 2
    /// Half of the routers, for the same reason. A host that simulates a thousand of them stays below.
    public static let routersPerSource = routers / 2
    /// Announcements need no nonce, so anybody can send them: they fill a quarter of the table at most.
    public static let announcedRouters = routers / 4
    /// IPv4, global, unique local and link-local IPv6 on two interfaces.
    public static let placesPerRouter = 8
    /// TCP ports that one place may offer in a router's name: its own, that of before a restart, and forged ones beside them.
    public static let offersPerPlace = 4
    /// Answers to a probe that was sent to one place alone: the router's own, and another router's at the same address.
    public static let directAnswers = 4
    /// Addresses that are asked anew within ``followUpSpan``, since replies from there contradict each other; each of them once.
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
