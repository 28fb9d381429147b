import SocketCore

/// The routers that a controller knows, and which one it uses. Scans are merged into it; it can be written down and read
/// back (see ``json`` and ``init(json:)``).
public struct DirectoryCore: Sendable {
    /// As many as a scan can find.
    public static let capacity = DiscoveryBounds.routers
    /// A router that wasn't heard for this long is no longer called present: an announcement and a half.
    public static let presenceLifetime: Duration = .seconds(90)

    /// What looking for a router came to.
    public enum Lookup: Equatable, Sendable {
        /// This one.
        case found(KnownRouter)
        /// Several have that name or address.
        case ambiguous([KnownRouter])
        /// Nobody has.
        case unknown
    }

    /// The router in use; nil when there is none.
    public private(set) var current: MACAddress?
    var routers: [MACAddress: KnownRouter] = [:]
    var heardOrder = 0

    /// An empty directory.
    public init() {}

    init(routers: [KnownRouter], current: MACAddress?) {
        for router in routers.sorted(by: { $0.heardOrder < $1.heardOrder }).suffix(DirectoryCore.capacity) {
            self.routers[router.router.mac] = router
            heardOrder = max(heardOrder, router.heardOrder)
        }
        if let current, self.routers[current] != nil { self.current = current }
    }

    // MARK: Queries

    /// All of them: the current one first, then by name, then by MAC.
    public var all: [KnownRouter] {
        routers.values.sorted {
            ($0.router.mac == current ? 0 : 1, $0.router.name, $0.router.mac) < (
                $1.router.mac == current ? 0 : 1, $1.router.name, $1.router.mac
            )
        }
    }

    /// The router with that MAC.
    public subscript(mac: MACAddress) -> KnownRouter? { routers[mac] }

    /// Looks one up. Names are compared without regard to case; an address needs a port only where several share it.
    public func find(_ reference: RouterReference) -> Lookup {
        let matches: [KnownRouter]
        switch reference {
        case .current: matches = current.flatMap { routers[$0] }.map { [$0] } ?? []
        case .mac(let mac): matches = routers[mac].map { [$0] } ?? []
        case .name(let name): matches = all.filter { $0.router.name.lowercased() == name.lowercased() }
        case .address(let address, let port):
            matches = all.filter { $0.address == address.unscoped && (port == nil || $0.router.tcp == port) }
        }
        return matches.count > 1 ? .ambiguous(matches) : matches.first.map(Lookup.found) ?? .unknown
    }

    // MARK: Inputs

    /// Forgets all but these.
    mutating func keepOnly(_ macs: Set<MACAddress>) { routers = routers.filter { macs.contains($0.key) } }

    /// Merges what a scan knows about a router.
    ///
    /// A router that was only announced never changes what one that answered has said.
    ///
    /// - Parameters:
    ///   - found: the router.
    ///   - interface: its interface's name.
    ///   - now: when it was heard.
    ///   - date: the same by the machine's clock, for ``KnownRouter/lastSeen``.
    /// - Returns: the router that had to make room, if one had to; false `isKnown` when there was no room.
    @discardableResult
    public mutating func merge(
        _ found: DiscoveredRouter, interface: String, now: Instant, date: WallTime? = nil
    ) -> (isKnown: Bool, evicted: MACAddress?) {
        let mac = found.router.mac
        let old = routers[mac]
        if let old, old.isConfirmed, !found.isConfirmed { return (true, nil) }
        var evicted: MACAddress?
        if old == nil, routers.count >= DirectoryCore.capacity {
            guard let victim = leastWanted(), found.isConfirmed || routers[victim]?.isConfirmed == false else { return (false, nil) }
            routers[victim] = nil
            evicted = victim
        }
        heardOrder += 1
        routers[mac] = KnownRouter(
            router: found.router, address: found.address, interface: interface, isConfirmed: found.isConfirmed,
            hasSpokenTLS: old?.hasSpokenTLS ?? false, heardOrder: heardOrder, lastSeen: date ?? old?.lastSeen,
            provenName: old?.provenName, presence: .present(lastHeard: now))
        return (true, evicted)
    }

    /// Merges a router that has proven whose it is. What is said at another place in its name isn't its own word: of a router that is known,
    /// such a description changes nothing but the place.
    ///
    /// - Parameters:
    ///   - found: the router.
    ///   - endpoint: where it has proven that.
    ///   - interface: its interface's name.
    ///   - now: when it was heard.
    ///   - date: the same by the machine's clock.
    public mutating func merge(
        _ found: DiscoveredRouter, provenAt endpoint: Endpoint, interface: String, now: Instant, date: WallTime? = nil
    ) {
        var own = found
        if found.sessionEndpoint != endpoint { own.router = routers[found.router.mac]?.router ?? found.router }
        merge(own.proven(at: endpoint), interface: interface, now: now, date: date)
    }

    /// Merges an event of a scan.
    public mutating func apply(_ event: DiscoveryEvent, interface: (UInt32) -> String, now: Instant) {
        switch event {
        case .found(let router), .updated(let router, _): merge(router, interface: interface(router.interface), now: now)
        case .lost(let router, let loss): routers[router.router.mac]?.presence = loss == .bye ? .left : .silent
        case .finished: break
        }
    }

    /// A session is a sign of life too, and the hello in it is more than a datagram's claim.
    ///
    /// - Parameters:
    ///   - mac: whose session stands.
    ///   - name: what the router calls itself in it; empty for nothing.
    ///   - isProven: it has proven on that connection whose it is.
    ///   - now: when that was.
    ///   - date: the same by the machine's clock.
    public mutating func heard(_ mac: MACAddress, says name: String, isProven: Bool, now: Instant, date: WallTime? = nil) {
        guard var router = routers[mac] else { return }
        heardOrder += 1
        router.heardOrder = heardOrder
        router.lastSeen = date ?? router.lastSeen
        router.presence = .present(lastHeard: now)
        router.isConfirmed = true
        router.hasSpokenTLS = router.hasSpokenTLS || isProven
        let name = DisplayText.clean(name, limit: DisplayText.maximumNameBytes)
        if isProven, !name.isEmpty {
            router.provenName = name
            router.router.name = name
        }
        routers[mac] = router
    }

    /// Calls routers silent that haven't been heard for ``presenceLifetime``. Nothing is forgotten.
    public mutating func expire(now: Instant) {
        for (mac, router) in routers {
            if case .present(let heard) = router.presence, now - heard >= DirectoryCore.presenceLifetime {
                routers[mac]?.presence = .silent
            }
        }
    }

    /// When ``expire(now:)`` will have something to do.
    public var deadline: Instant? {
        routers.values.compactMap { if case .present(let heard) = $0.presence { heard + DirectoryCore.presenceLifetime } else { nil } }
            .min()
    }

    /// Uses this router from now on, or none.
    ///
    /// - Returns: false when it isn't known; nothing changes then.
    @discardableResult
    public mutating func setCurrent(_ mac: MACAddress?) -> Bool {
        if let mac, routers[mac] == nil { return false }
        current = mac
        return true
    }

    /// Forgets a router.
    ///
    /// - Returns: false when it wasn't known.
    @discardableResult
    public mutating func forget(_ mac: MACAddress) -> Bool {
        if current == mac { current = nil }
        return routers.removeValue(forKey: mac) != nil
    }

    /// Who goes first: never the current one; those that never answered before those that did, those that aren't here before
    /// those that are, and then those that were heard longest ago.
    private func leastWanted() -> MACAddress? {
        routers.values.filter { $0.router.mac != current }.min {
            ($0.isConfirmed ? 1 : 0, $0.isPresent ? 1 : 0, $0.heardOrder) < ($1.isConfirmed ? 1 : 0, $1.isPresent ? 1 : 0, $1.heardOrder)
        }?.router.mac
    }
}
