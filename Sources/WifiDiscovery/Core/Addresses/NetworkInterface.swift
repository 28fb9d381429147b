import SocketCore

/// A network interface as the system describes it; a value, so that cores can judge one.
public struct NetworkInterface: Hashable, Sendable {
    /// An address with its network.
    public struct Address: Hashable, Sendable {
        /// The address; link-local IPv6 with its scope.
        public var address: IPAddress
        /// Leading bits that name the network.
        public var prefixLength: Int
        /// The directed broadcast address; nil where there is none.
        public var broadcast: IPAddress?

        /// An address.
        public init(_ address: IPAddress, prefixLength: Int, broadcast: IPAddress? = nil) {
            self.address = address
            self.prefixLength = prefixLength
            self.broadcast = broadcast
        }
    }

    /// What the interface is and can do.
    public struct Flags: OptionSet, Hashable, Sendable {
        /// The set's bits.
        public let rawValue: Int
        /// A set of those bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Switched on.
        public static let up = Flags(rawValue: 1)
        /// It has a carrier: a cable, an association.
        public static let running = Flags(rawValue: 2)
        /// It leads to this machine only.
        public static let loopback = Flags(rawValue: 4)
        /// It leads to one other machine: a VPN, a modem.
        public static let pointToPoint = Flags(rawValue: 8)
        /// It carries multicast.
        public static let multicast = Flags(rawValue: 16)
        /// It carries broadcast.
        public static let broadcast = Flags(rawValue: 32)
    }

    /// Why an interface is no place to look for routers.
    public enum Obstacle: String, Hashable, Sendable {
        /// Switched off.
        case down
        /// No carrier.
        case noCarrier
        /// It has no address, so nothing could answer.
        case noAddress
        /// Neither multicast nor broadcast.
        case unicastOnly
        /// A tunnel: what lies beyond is no LAN.
        case pointToPoint
        /// This machine itself.
        case loopback
    }

    /// The system's number; 0 is none.
    public var index: UInt32
    /// The system's name.
    public var name: String
    /// Its own hardware address; nil for tunnels and loopback.
    public var mac: MACAddress?
    /// Its addresses, IPv4 first.
    public var addresses: [Address]
    /// See ``Flags``.
    public var flags: Flags

    /// An interface.
    public init(index: UInt32, name: String, mac: MACAddress? = nil, addresses: [Address] = [], flags: Flags = []) {
        self.index = index
        self.name = name
        self.mac = mac
        self.addresses = addresses
        self.flags = flags
    }

    /// Why not to scan here by itself; nil for a usable LAN. One that the user names may be scanned in spite of `loopback`,
    /// `pointToPoint` and `unicastOnly`.
    public var obstacle: Obstacle? {
        if !flags.contains(.up) { return .down }
        if flags.contains(.loopback) { return .loopback }
        if !flags.contains(.running) { return .noCarrier }
        if addresses.isEmpty { return .noAddress }
        if flags.contains(.pointToPoint) { return .pointToPoint }
        return flags.isDisjoint(with: [.multicast, .broadcast]) ? .unicastOnly : nil
    }

    /// IPv4 directed broadcast addresses, each once. /31 and /32 networks have none.
    public var broadcasts: [IPAddress] {
        var found: [IPAddress] = []
        for address in addresses where address.prefixLength < 31 {
            if let broadcast = address.broadcast, broadcast.isV4, !found.contains(broadcast) { found.append(broadcast) }
        }
        return found
    }

    /// True when `source` can be a neighbour on this interface: it lies in one of its networks, or is link-local. Its own
    /// networks' broadcast addresses and everything that is no single host are not.
    public func isOnLink(_ source: IPAddress) -> Bool {
        guard !source.isMulticast, !source.isUnspecified, source != .v4(0xFFFF_FFFF) else { return false }
        if source.isLoopback { return flags.contains(.loopback) }
        if addresses.contains(where: { $0.broadcast == source }) { return false }
        if source.isLinkLocal { return true }
        return addresses.contains { $0.address.isInSameNetwork(as: source, prefixLength: $0.prefixLength) }
    }
}
