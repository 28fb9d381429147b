import SocketCore

/// A router that this controller knows, also over its own restarts.
public struct KnownRouter: Equatable, Sendable {
    /// Whether it can be reached now, as far as scans have told. Not kept on disk: after a restart nothing is known.
    public enum Presence: Hashable, Sendable {
        /// Not heard in this run.
        case remembered
        /// Heard then.
        case present(lastHeard: Instant)
        /// It said goodbye.
        case left
        /// It fell silent.
        case silent
    }

    /// What it last said about itself.
    public var router: RouterDescription
    /// The name that it gave over a connection on which it had proven whose it is; nil before there was one. Whatever datagrams call it
    /// since, this is what it's called.
    public var provenName: String?
    /// Where it was last heard; link-local IPv6 without its scope, which another start may number differently.
    public var address: IPAddress
    /// The name of the interface that it was last heard on.
    public var interface: String
    /// It answered a probe of our own at least once.
    public var isConfirmed: Bool
    /// It was seen with TLS, so that plaintext later is a reason for suspicion (protocol.md, section 6).
    public var hasSpokenTLS: Bool
    /// Rises with each time that any router is heard: what was heard longest ago has the lowest.
    public var heardOrder: Int
    /// When it was heard last, by this machine's clock, which may be wrong: for people to read. nil where no clock was there.
    public var lastSeen: WallTime?
    /// See ``Presence``.
    public var presence: Presence

    /// A known router.
    public init(
        router: RouterDescription, address: IPAddress, interface: String, isConfirmed: Bool, hasSpokenTLS: Bool = false,
        heardOrder: Int = 0, lastSeen: WallTime? = nil, provenName: String? = nil, presence: Presence = .remembered
    ) {
        self.router = router.withoutUptime
        self.provenName = provenName
        if let provenName { self.router.name = provenName }
        self.address = address.unscoped
        self.interface = interface
        self.isConfirmed = isConfirmed
        self.hasSpokenTLS = hasSpokenTLS || router.tls
        self.heardOrder = heardOrder
        self.lastSeen = lastSeen
        self.presence = presence
    }

    /// True when the router was heard and hasn't gone since.
    public var isPresent: Bool { if case .present = presence { true } else { false } }
}
