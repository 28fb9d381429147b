import SocketCore

/// How a router behaves in groups and in tests.
public struct ResponderConfiguration: Sendable {
    /// Whether replies go to the group in place of the probe's source.
    public var repliesToGroup: Bool
    /// Whether announcements and goodbyes are sent.
    public var announces: Bool
    /// Whether probes from beyond the link are refused; only tests have a reason to answer them.
    public var onlyOnLink: Bool

    /// By default as protocol.md says.
    public init(repliesToGroup: Bool = false, announces: Bool = true, onlyOnLink: Bool = true) {
        self.repliesToGroup = repliesToGroup
        self.announces = announces
        self.onlyOnLink = onlyOnLink
    }
}

/// Faults that a simulated router shows on purpose.
public struct ReplyFaults: Sendable {
    /// The share of replies that get lost, 0...1.
    public var loss: Double
    /// Added to each reply's wait.
    public var delay: Duration
    /// Sends each reply twice.
    public var duplicates: Bool
    /// Answers with a nonce that nobody asked with.
    public var wrongNonce: Bool

    /// By default none.
    public init(loss: Double = 0, delay: Duration = .zero, duplicates: Bool = false, wrongNonce: Bool = false) {
        self.loss = loss
        self.delay = delay
        self.duplicates = duplicates
        self.wrongNonce = wrongNonce
    }
}

/// A datagram for the shell to send from the router's port.
public struct OutgoingReply: Equatable, Sendable {
    /// Where it goes.
    public enum Destination: Equatable, Sendable {
        /// To the source of a probe, out by the interface that it came in by.
        case source(Endpoint, interface: UInt32)
        /// To the group, on every interface.
        case group
    }

    /// The router that speaks.
    public var router: MACAddress
    /// Where it goes.
    public var destination: Destination
    /// The datagram.
    public var bytes: [UInt8]

    /// A datagram.
    public init(router: MACAddress, destination: Destination, bytes: [UInt8]) {
        self.router = router
        self.destination = destination
        self.bytes = bytes
    }
}

/// What became of one datagram, for whoever wants to print it.
public enum ProbeOutcome: Equatable, Sendable {
    /// Replies are under way from that many routers; the probe was this one.
    case answered(by: Int, Probe, msgId: UInt32)
    /// No router was asked, or all have answered enough.
    case silent(Probe, msgId: UInt32)
    /// The same probe once more.
    case repeated
    /// The source is no neighbour on the interface that the probe came in by.
    case offLink
    /// Another router's message.
    case notAProbe
    /// No discovery message.
    case invalid(DatagramError)
}

/// What a group of routers counted.
public struct ResponderCounters: Equatable, Sendable {
    /// Probes that were looked at.
    public var probes = 0
    /// Replies handed to the shell.
    public var replies = 0
    /// Probes that came again.
    public var repeated = 0
    /// Probes from beyond the link.
    public var offLink = 0
    /// Replies not given because of a rate limit.
    public var rateLimited = 0
    /// Replies lost on purpose.
    public var lost = 0
    /// Replies for which the probe was too short.
    public var unanswerable = 0
    /// Announcements handed to the shell.
    public var announcements = 0
    /// Datagrams that are no discovery message, by reason.
    public var invalid: [DatagramError.Reason: Int] = [:]

    /// Nothing counted yet.
    public init() {}
}
