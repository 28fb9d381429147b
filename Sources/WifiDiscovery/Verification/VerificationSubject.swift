import SocketCore

extension RouterVerifier {
    /// Whom to ask.
    public struct Subject: Hashable, Sendable {
        /// Places that are asked for one router at most: all that a scan keeps in its name, and the protocol's own port at each address.
        public static let mostPlaces = DiscoveryBounds.placesPerRouter * (DiscoveryBounds.offersPerPlace + 1)

        /// Who it claims to be.
        public var mac: MACAddress
        /// Its session listener.
        public var endpoint: Endpoint
        /// Whether TLS is offered in its name; one that offers none isn't asked.
        public var offersTLS: Bool
        /// Where else somebody answers in its name: asked where the first place proves nothing.
        public var alternates: [Endpoint]
        /// Whether more speaks for it than its own word: it's asked early where they are many.
        public var isPlausible = false
        /// Whether a reply in its name speaks of child access points: a reason to ask it, no more.
        public var hasChildren = false
        /// Our own MAC on its network, for it to say behind which access point we sit; nil doesn't ask.
        public var station: MACAddress?

        /// A router by what it claims.
        public init(mac: MACAddress, endpoint: Endpoint, offersTLS: Bool, alternates: [Endpoint] = []) {
            self.mac = mac
            self.endpoint = endpoint
            self.offersTLS = offersTLS
            self.alternates = Array(alternates.prefix(Subject.mostPlaces - 1))
        }

        /// A router that a scan found. A reply proves nothing, so one that offers no TLS or another port hides no listener that a second
        /// reply offers; the protocol's own port is tried at each address as well.
        public init(_ found: FoundRouter) {
            let router = found.discovered
            let first = router.sessionEndpoint
            let secure = router.offers.filter(\.tls).map(\.endpoint)
            if let best = secure.contains(first) ? first : secure.first {
                let standard = secure.map { Endpoint($0.address, port: DiscoveryDatagram.port) }
                var seen: Set<Endpoint> = [best]
                let others = (secure + standard).filter { seen.insert($0).inserted }
                self.init(mac: found.mac, endpoint: best, offersTLS: true, alternates: others)
            } else {
                self.init(mac: found.mac, endpoint: first, offersTLS: router.router.tls)
            }
            hasChildren = !router.router.children.isEmpty
            isPlausible = found.evidence.gateway || found.evidence.neighbour == .match || found.grade == .exact
        }
    }
}
