import SocketCore

/// Says why discovery may fail on this machine.
public enum NetworkDoctor {
    /// How a doctor looks.
    public struct Options: Sendable {
        /// Interfaces by name; empty means all.
        public var interfaces: [String] = []
        /// Where routers listen.
        public var port = DiscoveryDatagram.port
        /// The group that the self-probe is sent to, of either family.
        public var group = DiscoveryDatagram.groupV4
        /// How long other people's devices are listened for; zero doesn't ask them.
        public var listening: Duration = .seconds(2)

        /// Everything.
        public init() {}
    }

    /// What a doctor found.
    public struct Report: Sendable {
        /// One for each thing that was looked at.
        public var findings: [DoctorFinding]
        /// Devices that answered in a foreign dialect.
        public var others: [FoundDevice]
        /// The Wi-Fi link.
        public var wireless: WirelessReport

        /// The likely causes of a failure.
        public var causes: [DoctorFinding] { findings.filter { $0.verdict == .cause } }
    }

    /// Looks at everything; what can't be read is said, and spoils nothing.
    public static func examine(_ options: Options = Options()) async -> Report {
        var facts = DoctorFacts()
        facts.port = options.port
        do throws(SystemError) { facts.interfaces = try NetworkInterfaces.current() } catch { facts.unread["interfaces"] = "\(error)" }
        for interface in facts.interfaces { facts.names[interface.index] = interface.name }
        if !options.interfaces.isEmpty { facts.interfaces.removeAll { !options.interfaces.contains($0.name) } }
        facts.isNarrowed = !options.interfaces.isEmpty
        for interface in facts.interfaces { facts.kinds[interface.name] = kind(interface) }
        facts.wireless = await WirelessLink.settled()
        for interface in facts.interfaces where interface.obstacle == nil || interface.obstacle == .loopback && facts.isLoopbackScanned {
            facts.probes[interface.name] = await SelfProbe.run(interface, port: options.port, group: options.group)
        }
        await askGateways(of: facts)
        facts.others = await others(options)
        // Only now: asking has made the kernel look for its neighbours.
        do throws(RoutingTableError) {
            facts.gateways = try DefaultGateways.read()
            facts.multicastRoute = try multicastRoute(options.group)
            facts.neighbours = try NeighbourTable.read()
        } catch { facts.unread["routing tables"] = "\(error)" }
        facts.holders = holders(of: options.port)
        facts.filter = filter()
        facts.firewalls = firewalls()
        facts.largestBuffer = largestBuffer()
        return Report(findings: Diagnosis.findings(facts), others: facts.others, wireless: facts.wireless)
    }

    /// Makes the kernel find out whether the gateways answer; on a quiet machine nobody may have sent them anything.
    private static func askGateways(of facts: DoctorFacts) async {
        let usable = Set(facts.interfaces.filter { $0.obstacle == nil }.map(\.index))
        // A failure to read shows with the routing tables, which are read again.
        guard let gateways = try? DefaultGateways.read() else { return }
        await GatewayCall.make(gateways.filter { usable.contains($0.interface) }, port: facts.port) { try NeighbourTable.read() }
    }

    private static func others(_ options: Options) async -> [FoundDevice] {
        guard options.listening > .zero else { return [] }
        var asking = DialectDiscovery.Options()
        asking.interfaces = options.interfaces
        // A failure to scan shows in the interfaces' own findings.
        return (try? await DialectDiscovery(asking).scan(for: options.listening))?.devices ?? []
    }
}
