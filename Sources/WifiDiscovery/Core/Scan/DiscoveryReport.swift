import SocketCore

/// What a scan has to say.
public enum DiscoveryEvent: Equatable, Sendable {
    /// A router that wasn't known.
    case found(DiscoveredRouter)
    /// Something about a known router changed.
    case updated(DiscoveredRouter, DiscoveredRouter.Changes)
    /// A router is gone; unless it was evicted, only while watching.
    case lost(DiscoveredRouter, Loss)
    /// The scan is over; nothing comes after it.
    case finished(Finish)

    /// Why a router is gone.
    public enum Loss: String, Hashable, Sendable {
        /// It said goodbye, and a probe to it stayed unanswered.
        case bye
        /// It no longer answers.
        case expired
        /// The only interface that it was reachable by is gone.
        case interfaceGone
        /// There are too many, and less speaks for it than for others, or its source has said more than others.
        case evicted
    }

    /// Why a scan is over.
    public enum Finish: Hashable, Sendable {
        /// The caller's time is over.
        case timeUp
        /// What the caller waited for was found.
        case matched(MACAddress)
        /// The caller stopped it.
        case stopped
        /// There is no interface to scan.
        case noInterface
    }
}

/// More replies than a scan keeps: somebody forges them, or the network is larger than any.
public struct Flood: Equatable, Sendable {
    /// Addresses that replies came from; one host can use all of its network's.
    public var sources: Int
    /// The address with the most.
    public var loudest: IPAddress
    /// How many replies came from there, at least.
    public var replies: Int
}

/// What a scan counted.
public struct DiscoveryCounters: Equatable, Sendable {
    /// Probes handed to the shell.
    public var probes = 0
    /// Replies that were believed.
    public var replies = 0
    /// Replies by the same router to the same probe from the same place.
    public var duplicates = 0
    /// Replies to nothing that was asked on that socket in the last 10 s: late, replayed or forged.
    public var stale = 0
    /// Datagrams that are no discovery message, by reason.
    public var invalid: [DatagramError.Reason: Int] = [:]
    /// Messages over a bound: too many replies, from one source or in all, or the table full.
    public var rateLimited = 0
    /// Claims that gave way to others, from sources that had made fewer or with more that speaks for them.
    public var displaced = 0
    /// Who said too much, at the end of a scan; nil when nothing was ``displaced`` or ``rateLimited``.
    public var flood: Flood?
    /// Announcements heard.
    public var announcements = 0
    /// Goodbyes heard.
    public var byes = 0
    /// Probes that the system refused to send.
    public var sendFailures = 0

    /// Invalid datagrams of every kind.
    public var invalidCount: Int { invalid.values.reduce(0, +) }

    /// Nothing counted yet.
    public init() {}
}

/// A probe for the shell to send.
public struct OutgoingProbe: Equatable, Sendable {
    /// Through this socket.
    public var link: DiscoveryLink.ID
    /// To this address.
    public var destination: Endpoint
    /// This datagram.
    public var bytes: [UInt8]

    /// A probe.
    public init(link: DiscoveryLink.ID, destination: Endpoint, bytes: [UInt8]) {
        self.link = link
        self.destination = destination
        self.bytes = bytes
    }
}
