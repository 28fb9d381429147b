import SocketCore

/// What the system says about this machine and its network, as facts; ``Diagnosis`` weighs them.
struct DoctorFacts {
    /// What an interface is made of, as far as the system tells.
    enum Kind: String {
        case wired
        case wifi
        case bridge
        case virtual
        case tunnel
        case loopback
    }

    /// How a datagram of our own fared.
    enum Probe: Equatable {
        case arrived
        case lost
        /// The system refused to send it, or to listen.
        case refused(String)
    }

    /// The ways in which a datagram was sent through one interface to ourselves.
    struct Probes: Equatable {
        /// To the group and the discovery port, as a probe goes out.
        var group: Probe
        /// To the group and a port of the kind that replies come to.
        var reply: Probe
        /// To the interface's own address, as unicast.
        var unicast: Probe
    }

    /// By which interface the kernel would send to the group if none were named.
    enum MulticastRoute: Equatable {
        case unread
        case none
        case by(UInt32)
    }

    /// A process that holds a socket.
    struct Holder: Hashable {
        /// nil when this user may not know.
        var process: String?
        var uid: UInt32
    }

    /// Whether the packet filter's rules could be read.
    enum Filter: Equatable {
        case none
        case chains([FilterChain])
        case unreadable
    }

    /// Those that are looked at.
    var interfaces: [NetworkInterface] = []
    /// The names of all interfaces by their index, the others' too.
    var names: [UInt32: String] = [:]
    /// Whether the user named interfaces: what is named is scanned, this machine alone included.
    var isNarrowed = false
    var kinds: [String: Kind] = [:]
    var probes: [String: Probes] = [:]
    var gateways: [DefaultRoute] = []
    var multicastRoute = MulticastRoute.unread
    var neighbours: [NeighbourEntry] = []
    var holders: [Holder] = []
    var filter = Filter.none
    /// A firewall's own program is there (`firewalld`, `ufw`), by name.
    var firewalls: [String] = []
    var wireless = WirelessReport(interfaces: [], absence: .noInterface)
    /// The largest receive buffer that the system grants, in bytes; nil when not readable.
    var largestBuffer: Int?
    /// Devices that answered in a foreign dialect.
    var others: [FoundDevice] = []
    var port: UInt16 = DiscoveryDatagram.port
    /// What couldn't be read, and why.
    var unread: [String: String] = [:]

    /// Whether a scan asks on this machine alone: it was named, or there's nothing else to ask on.
    var isLoopbackScanned: Bool { isNarrowed || interfaces.allSatisfy { $0.obstacle != nil } }
}
