import SocketCore

/// A router as a scan knows it.
public struct DiscoveredRouter: Equatable, Sendable {
    /// A place where the router answers, or is said to be.
    public struct Place: Hashable, Sendable {
        /// The datagram's source; link-local IPv6 with its scope. Never what a body names.
        public var address: IPAddress
        /// The index of the interface that it came in by.
        public var interface: UInt32

        /// A place.
        public init(_ address: IPAddress, interface: UInt32) {
            self.address = address
            self.interface = interface
        }
    }

    /// A session listener that answers in its name say it has; anybody on the network may have said so.
    public struct Offer: Hashable, Sendable {
        /// Where it listens.
        public var endpoint: Endpoint
        /// Whether it is to speak TLS.
        public var tls: Bool

        /// An offer.
        public init(_ endpoint: Endpoint, tls: Bool) {
            self.endpoint = endpoint
            self.tls = tls
        }
    }

    /// What changed since the router was last reported.
    public struct Changes: OptionSet, Hashable, Sendable {
        /// The set's bits.
        public let rawValue: Int
        /// A set of those bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// It answered a probe of our own for the first time.
        public static let confirmed = Changes(rawValue: 1)
        /// Its best place is another one.
        public static let address = Changes(rawValue: 2)
        /// It shows another boot.
        public static let rebooted = Changes(rawValue: 4)
        /// It says something else about itself.
        public static let description = Changes(rawValue: 8)
        /// Two devices with its MAC answered one probe, or no longer do.
        public static let conflict = Changes(rawValue: 16)
        /// It answers at one more place.
        public static let alternate = Changes(rawValue: 32)
    }

    /// What it says about itself.
    public var router: RouterDescription
    /// Its best place.
    public var place: Place
    /// Further places at which it answered, at most ``DiscoveryBounds/placesPerRouter`` with the best one.
    public var alternates: [Place]
    /// All listeners that were offered in its name, the best place's first and at most ``DiscoveryBounds/offersPerPlace`` a place; of a place
    /// first what answered a probe that was sent there alone. More than one a place means that somebody forges replies, or that it moved.
    public var offers: [Offer] = []
    /// It answered a probe of our own; false for one that was only announced.
    public var isConfirmed: Bool
    /// Two devices with this MAC answered one probe with different boots.
    public var isConflicted: Bool
    /// The shortest time from a probe to its answer, as this process noticed both; nil until a probe that asked for an answer at once was
    /// answered: the others ask for a random wait, which is no part of the way.
    public var roundTrip: Duration?
    /// When it was last heard.
    public var lastHeard: Instant

    /// Its best address.
    public var address: IPAddress { place.address }
    /// The interface of its best address.
    public var interface: UInt32 { place.interface }
    /// Where its sessions are opened: at its best place, by the port that its description names if that is offered there.
    public var sessionEndpoint: Endpoint {
        let named = Endpoint(place.address, port: router.tcp)
        let here = offers.filter { $0.endpoint.address == place.address }
        return here.contains { $0.endpoint == named } ? named : here.first?.endpoint ?? named
    }

    /// A router.
    public init(
        router: RouterDescription, place: Place, alternates: [Place] = [], isConfirmed: Bool = true, isConflicted: Bool = false,
        roundTrip: Duration? = nil, lastHeard: Instant = .zero
    ) {
        self.router = router
        self.place = place
        self.alternates = alternates
        self.isConfirmed = isConfirmed
        self.isConflicted = isConflicted
        self.roundTrip = roundTrip
        self.lastHeard = lastHeard
    }

    /// The same at the place where it has proven whose it is. What else is offered in its name, another address, another port or none with TLS,
    /// isn't its own word.
    public func proven(at endpoint: Endpoint) -> DiscoveredRouter {
        var own = self
        if place.address != endpoint.address {
            own.place = alternates.first { $0.address == endpoint.address } ?? Place(endpoint.address, interface: place.interface)
            own.alternates = [place] + alternates.filter { $0 != own.place }
        }
        (own.router.tcp, own.router.tls) = (endpoint.port, true)
        own.offers = [Offer(endpoint, tls: true)] + offers.filter { $0.endpoint != endpoint }
        return own
    }
}
