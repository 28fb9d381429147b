import Glibc
import SocketCore

// What each system tells in its own way, told as not known: discovery, sessions and trust work without it, and grades and evidence say
// "unknown". docs/porting.md has what each of these should ask on Darwin.

/// Reads the kernel's neighbour table.
public enum NeighbourTable {
    /// None are known.
    public static func read() throws(RoutingTableError) -> [NeighbourEntry] { [] }
}

/// Reads the kernel's default routes.
public enum DefaultGateways {
    /// None are known.
    public static func read() throws(RoutingTableError) -> [DefaultRoute] { [] }
}

extension NetworkInterfaces {
    /// Systems differ in how a hardware address looks.
    static func hardwareAddress(_ address: UnsafePointer<sockaddr>) -> MACAddress? { nil }

    /// The bits that Linux and the BSDs have in common; the one for multicast they give to different things, so that all count as having it.
    static func flags(_ bits: UInt32) -> NetworkInterface.Flags {
        let names: [(UInt32, NetworkInterface.Flags)] = [
            (0x01, .up), (0x02, .broadcast), (0x08, .loopback), (0x10, .pointToPoint), (0x40, .running),
        ]
        return names.reduce(into: .multicast) { flags, name in if bits & name.0 != 0 { flags.insert(name.1) } }
    }

    /// Systems differ in where it stands.
    static func broadcastAddress(_ entry: ifaddrs) -> UnsafePointer<sockaddr>? { nil }
}

extension WirelessLink {
    /// Not known.
    public static func read() -> WirelessReport { WirelessReport(interfaces: [], absence: .noWirelessSupport) }

    /// None are heard.
    public static func signals() -> [MACAddress: Double] { [:] }

    /// The one report that there is.
    public static func reports(on loop: EventLoop = .shared) -> AsyncStream<WirelessReport> {
        AsyncStream { continuation in
            continuation.yield(read())
        }
    }
}

/// Tells when interfaces, addresses or default routes may have changed.
public enum NetworkChanges {
    /// Ends at once.
    public static func stream(on loop: EventLoop = .shared) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}

extension NetworkDoctor {
    static func kind(_ interface: NetworkInterface) -> DoctorFacts.Kind {
        if interface.flags.contains(.loopback) { return .loopback }
        return interface.flags.contains(.pointToPoint) ? .tunnel : .wired
    }

    static func multicastRoute(_ group: IPAddress) throws(RoutingTableError) -> DoctorFacts.MulticastRoute { .unread }

    static func holders(of port: UInt16) -> [DoctorFacts.Holder] { [] }

    static func filter() -> DoctorFacts.Filter { .unreadable }

    static func firewalls() -> [String] { [] }

    static func largestBuffer() -> Int? { nil }
}
