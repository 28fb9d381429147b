import SocketCore

/// One socket of one interface, through which probes leave and replies come.
public struct DiscoveryLink: Equatable, Sendable {
    /// The shell's number for the socket.
    public struct ID: Hashable, Comparable, Sendable {
        /// The number.
        public var rawValue: Int
        /// The socket of that number.
        public init(_ rawValue: Int) { self.rawValue = rawValue }
        /// Orders by number.
        public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
    }

    /// The socket.
    public var id: ID
    /// The interface's index.
    public var interface: UInt32
    /// The interface's name.
    public var name: String
    /// Whether the socket speaks IPv4; IPv6 otherwise.
    public var isV4: Bool
    /// Directed broadcast addresses, tried where the group stays silent.
    public var broadcasts: [IPAddress]
    /// Gateways and neighbours, tried last, in this order.
    public var fallbacks: [IPAddress]

    /// A link.
    public init(
        id: ID, interface: UInt32, name: String, isV4: Bool, broadcasts: [IPAddress] = [], fallbacks: [IPAddress] = []
    ) {
        self.id = id
        self.interface = interface
        self.name = name
        self.isV4 = isV4
        self.broadcasts = broadcasts
        self.fallbacks = fallbacks
    }
}
