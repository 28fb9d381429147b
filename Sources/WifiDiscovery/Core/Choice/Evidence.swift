import SocketCore

/// What the system knows about a reply's source, beside the grade and never mixed into it (protocol.md, section 5).
public struct Evidence: Hashable, Sendable {
    /// The kernel's neighbour entry for the source against the claimed MAC.
    public enum Neighbour: String, Hashable, Sendable, CaseIterable {
        /// The same address.
        case match
        /// Another one. Lowers trust, never removes a router: extenders rewrite MACs.
        case mismatch
        /// Another one, and it looks like an extender's work.
        case repeaterSuspected
        /// No entry: off-link, not resolved yet, or not readable.
        case unknown
    }

    /// The source address is its interface's default gateway.
    public var gateway: Bool
    /// See ``Neighbour``.
    public var neighbour: Neighbour
    /// No other router answered.
    public var onlyResponder: Bool
    /// In a session the router said that it sees this station, or behind which child; nil when not asked.
    public var seesStation: Bool?

    /// Evidence; nothing known by default.
    public init(gateway: Bool = false, neighbour: Neighbour = .unknown, onlyResponder: Bool = false, seesStation: Bool? = nil) {
        self.gateway = gateway
        self.neighbour = neighbour
        self.onlyResponder = onlyResponder
        self.seesStation = seesStation
    }
}

/// What the system knows about the network around, as facts: the shell reads them, ``judge(_:)`` weighs them.
public struct NetworkFacts: Equatable, Sendable {
    /// An address on one interface.
    public struct Place: Hashable, Sendable {
        /// The address without its scope.
        public var address: IPAddress
        /// The interface's index.
        public var interface: UInt32

        /// A place.
        public init(_ address: IPAddress, interface: UInt32) {
            self.address = address.unscoped
            self.interface = interface
        }
    }

    /// Default gateways.
    public var gateways: Set<Place>
    /// The neighbour table: the hardware address behind each place.
    public var neighbours: [Place: MACAddress]

    /// Facts; none by default.
    public init(gateways: Set<Place> = [], neighbours: [Place: MACAddress] = [:]) {
        self.gateways = gateways
        self.neighbours = neighbours
    }

    /// Facts from the kernel's tables; neighbours that nobody answered for are left out.
    public init(routes: [DefaultRoute], neighbours entries: [NeighbourEntry]) {
        self.init(gateways: Set(routes.map { Place($0.gateway, interface: $0.interface) }))
        for entry in entries where entry.isUsable { neighbours[Place(entry.address, interface: entry.interface)] = entry.mac }
    }

    /// The evidence for each of the routers, in their order. Routers that were only announced don't count as responders.
    public func judge(_ routers: [DiscoveredRouter]) -> [Evidence] {
        let responders = routers.count { $0.isConfirmed }
        var claims: [MACAddress: Set<MACAddress>] = [:]
        for router in routers {
            guard let entry = neighbours[place(router)] else { continue }
            claims[entry, default: []].insert(router.router.mac)
        }
        return routers.map { router in
            let entry = neighbours[place(router)]
            return Evidence(
                gateway: gateways.contains(place(router)),
                neighbour: NetworkFacts.compare(entry, router.router, sharedBy: entry.flatMap { claims[$0]?.count } ?? 0),
                onlyResponder: responders == 1 && router.isConfirmed)
        }
    }

    private func place(_ router: DiscoveredRouter) -> Place { Place(router.address, interface: router.interface) }

    /// An extender shows one address for all that lies behind it, or keeps the lower three octets and puts its own
    /// manufacturer's, or just the U/L bit, above them.
    private static func compare(_ entry: MACAddress?, _ router: RouterDescription, sharedBy claimants: Int) -> Evidence.Neighbour {
        guard let entry, entry.isUsableAsDevice else { return .unknown }
        if entry == router.mac { return .match }
        let sameLowerHalf = entry.bits & 0xFF_FFFF == router.mac.bits & 0xFF_FFFF
        return claimants > 1 || sameLowerHalf ? .repeaterSuspected : .mismatch
    }
}

extension NetworkFacts {
    /// Whom to ask by unicast where the group stays silent: the interface's gateways first, then its neighbours.
    func fallbacks(on interface: UInt32, isV4: Bool) -> [IPAddress] {
        let fits = { (place: Place) in place.interface == interface && place.address.isV4 == isV4 }
        let sorted = { (places: [Place]) in places.filter(fits).map(\.address).sorted { $0.description < $1.description } }
        let first = sorted(Array(gateways))
        return first + sorted(Array(neighbours.keys)).filter { !first.contains($0) }
    }
}
