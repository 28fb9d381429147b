import SocketCore

/// The ways in which routers can be asked who they are; the raw value is the word for `--dialect`.
public enum Dialect: String, Hashable, Sendable, CaseIterable {
    /// This toolkit's own (protocol.md, section 4).
    case native
    /// UPnP's simple service discovery, for Internet gateway devices.
    case ssdp
    /// DNS service discovery over multicast DNS (RFC 6762, RFC 6763).
    case mdns
    /// MikroTik's neighbour discovery.
    case mndp
    /// Ubiquiti's discovery, versions 1 and 2.
    case ubnt

    /// The foreign dialect of that name; nil for ``native``, which the scan itself speaks.
    public var foreign: (any DiscoveryDialect)? {
        switch self {
        case .native: nil
        case .ssdp: SSDPDialect()
        case .mdns: MDNSDialect()
        case .mndp: MNDPDialect()
        case .ubnt: UbiquitiDialect()
        }
    }
}

/// Other people's discovery: which datagrams ask, and what an answer says. Values without state, sockets or clock.
///
/// For every link the shell opens one socket, sends ``probes(isV4:)`` from it, and gives what comes, there and on the port of
/// ``listening``, to ``parse(_:from:)``.
public protocol DiscoveryDialect: Sendable {
    /// Which one.
    var dialect: Dialect { get }
    /// The port that answers come to beside the asking socket's own; nil when they all come to that.
    var listening: UInt16? { get }
    /// What to send on each interface, in this order; empty where the dialect doesn't know the address family.
    func probes(isV4: Bool) -> [DialectProbe]
    /// What a datagram says; nil for requests (one's own among them), for devices that the dialect doesn't look for and for
    /// whatever is malformed.
    func parse(_ datagram: [UInt8], from source: Endpoint) -> DeviceDescription?
}

/// One datagram that asks.
public struct DialectProbe: Hashable, Sendable {
    /// A group, or 255.255.255.255: to be sent through the interface, and to its directed broadcast addresses too.
    public var destination: Endpoint
    /// What is sent.
    public var bytes: [UInt8]

    /// A probe.
    public init(_ bytes: [UInt8], to destination: Endpoint) {
        self.destination = destination
        self.bytes = bytes
    }

    /// Whether it is for everybody on the link, so that the socket must be allowed to.
    public var isBroadcast: Bool { destination.address == .v4(0xFFFF_FFFF) }

    /// The same question to one device.
    public func redirected(to address: IPAddress) -> DialectProbe { DialectProbe(bytes, to: Endpoint(address, port: destination.port)) }
}
