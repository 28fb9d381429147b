import SocketCore
import Testing

@testable import WifiDiscovery

struct DiagnosisTests {
    private let lan = NetworkInterface(
        index: 2, name: "eth0", addresses: [.init(.v4(192, 0, 2, 9), prefixLength: 24, broadcast: .v4(192, 0, 2, 255))],
        flags: [.up, .running, .multicast, .broadcast])
    private let gateway = DefaultRoute(gateway: .v4(192, 0, 2, 1), interface: 2, metric: 0)

    private func neighbour(_ last: UInt8, state: UInt16) -> NeighbourEntry {
        NeighbourEntry(
            address: .v4(192, 0, 2, last), interface: 2, mac: state == 2 ? MACAddress(0, 0, 0x5E, 0, 0x53, last) : nil, state: state)
    }

    /// A machine with nothing wrong.
    private var healthy: DoctorFacts {
        var facts = DoctorFacts()
        facts.interfaces = [NetworkInterface(index: 1, name: "lo", flags: [.up, .running, .loopback]), lan]
        facts.probes = ["eth0": .init(group: .arrived, reply: .arrived, unicast: .arrived)]
        facts.multicastRoute = .by(2)
        facts.gateways = [gateway]
        facts.neighbours = [neighbour(1, state: 2), neighbour(7, state: 2)]
        facts.largestBuffer = 8 << 20
        return facts
    }

    private func causes(_ facts: DoctorFacts) -> [DoctorFinding.Check] {
        Diagnosis.findings(facts).filter { $0.verdict == .cause }.map(\.check)
    }

    @Test func `A healthy machine has no cause and every check a sentence`() {
        let findings = Diagnosis.findings(healthy)
        #expect(causes(healthy).isEmpty)
        #expect(findings.allSatisfy { !$0.detail.isEmpty && !$0.detail.hasSuffix(".") })
        #expect(
            findings.map(\.check) == [
                .interface, .network, .route, .route, .selfProbe, .firewall, .port, .wifi, .isolation, .limits, .others,
            ])
    }

    @Test func `Nothing to scan is a cause, whatever keeps the interfaces from it`() {
        var facts = healthy
        for flags: NetworkInterface.Flags in [[], [.up], [.up, .running]] {
            facts.interfaces[1].flags = flags
            #expect(causes(facts).contains(.network))
        }
        facts.interfaces[1] = lan
        facts.interfaces[1].addresses = []
        #expect(causes(facts).contains(.network))
        facts.interfaces[1].addresses = [.init(.v4(169, 254, 3, 4), prefixLength: 16)]
        #expect(causes(facts) == [.network])
    }

    @Test func `This machine alone is a network only for those who ask for it`() {
        var facts = healthy
        facts.interfaces = [NetworkInterface(index: 1, name: "lo", flags: [.up, .running, .loopback])]
        let network = { (facts: DoctorFacts) in Diagnosis.findings(facts).first { $0.check == .network } }
        // Nothing else is there: it's scanned, but that explains why no router is found.
        #expect(facts.isLoopbackScanned && network(facts)?.verdict == .cause && network(facts)?.detail.contains("lo") == true)
        facts.isNarrowed = true
        #expect(network(facts)?.verdict == .fine && network(facts)?.detail == "scanned: lo, which is this machine alone")
    }

    @Test func `Routes name their interface, also where the look is narrowed to another`() {
        var facts = healthy
        facts.names = [1: "lo", 2: "eth0"]
        facts.interfaces.removeLast()
        let details = Diagnosis.findings(facts).filter { $0.check == .route }.map(\.detail)
        #expect(details.count == 2 && details.allSatisfy { $0.contains("eth0") }, "\(details)")
    }

    @Test(arguments: [
        (DoctorFacts.Probe.lost, DoctorFacts.Probe.lost), (.arrived, .lost), (.lost, .arrived), (.refused("sendmsg: x"), .arrived),
    ])
    func `A datagram that is swallowed or refused is a cause with advice`(group: DoctorFacts.Probe, reply: DoctorFacts.Probe) throws {
        var facts = healthy
        facts.probes["eth0"] = .init(group: group, reply: reply, unicast: .arrived)
        facts.firewalls = ["ufw"]
        #expect(causes(facts) == [.selfProbe])
        let finding = try #require(Diagnosis.findings(facts).first { $0.check == .selfProbe })
        #expect(finding.subject == "eth0")
        #expect(finding.advice.contains("ufw") || finding.advice.contains("--to"))
    }

    @Test func `Unicast that is swallowed or refused is a cause, whatever multicast does`() {
        for (unicast, words) in [(DoctorFacts.Probe.lost, "unicast"), (.refused("sendmsg: x"), "sendmsg: x")] {
            var facts = healthy
            facts.probes["eth0"] = .init(group: .arrived, reply: .arrived, unicast: unicast)
            #expect(causes(facts) == [.selfProbe])
            #expect(Diagnosis.findings(facts).first { $0.check == .selfProbe }?.detail.contains(words) == true)
        }
    }

    @Test func `No route for multicast is worth a note, since probes need none`() {
        var facts = healthy
        facts.multicastRoute = .none
        let finding = Diagnosis.findings(facts).first { $0.check == .route && $0.subject == "multicast" }
        #expect(finding?.verdict == .note && finding?.advice.contains("224.0.0.0/4") == true)
        facts.multicastRoute = .unread
        #expect(!Diagnosis.findings(facts).contains { $0.subject == "multicast" })
    }

    @Test func `The kernel's answer about a way out is read`() {
        #expect(RouteQuestion.request(0xEFFF_1333, sequence: 1).bytes.suffix(8) == [8, 0, 1, 0, 239, 255, 19, 51])
        var answer = NetlinkRequest(type: 24, isDump: false, sequence: 1, head: [UInt8](repeating: 0, count: 12))
        answer.add(4, UInt32(3))
        #expect(NetlinkMessage.all(in: answer.bytes).compactMap(RouteQuestion.interface) == [3])
    }

    @Test func `Isolation is suspected where the gateway answers and nobody else`() {
        var facts = healthy
        facts.kinds["eth0"] = .wifi
        facts.neighbours = [neighbour(1, state: 2), neighbour(7, state: 0x20), neighbour(8, state: 1)]
        #expect(causes(facts) == [.isolation])
        facts.kinds["eth0"] = .wired
        #expect(causes(facts).isEmpty)
        facts.kinds["eth0"] = .wifi
        facts.neighbours[2] = neighbour(8, state: 2)
        #expect(causes(facts).isEmpty)
        facts.neighbours = [neighbour(1, state: 2), neighbour(251, state: 0x40), neighbour(252, state: 0x40)]
        #expect(causes(facts).isEmpty)
        facts.neighbours = [neighbour(1, state: 0x20)]
        #expect(causes(facts) == [.isolation])
        // Nobody has sent it anything: that says nothing of it.
        facts.neighbours = []
        let unasked = Diagnosis.findings(facts).first { $0.check == .isolation }
        #expect(unasked?.verdict == .unknown && unasked?.detail.contains("isn't known") == true)
    }

    @Test func `What can't be read is unknown, not fine`() {
        var facts = healthy
        facts.filter = .unreadable
        facts.largestBuffer = nil
        facts.unread = ["routing tables": "refused"]
        let unknown = Diagnosis.findings(facts).filter { $0.verdict == .unknown }
        #expect(unknown.map(\.check) == [.firewall, .limits, .limits])
        #expect(causes(facts).isEmpty)
    }

    @Test func `Whoever holds the port is named as far as is known`() throws {
        var facts = healthy
        facts.holders = [.init(process: "dnsmasq (17)", uid: 0), .init(process: nil, uid: 1_000)]
        let finding = try #require(Diagnosis.findings(facts).first { $0.check == .port })
        #expect(finding.detail == "UDP 19510 is held by a process of user 1000, dnsmasq (17)")
        #expect(finding.verdict == .note)
    }

    @Test func `Lines of the UDP table`() throws {
        let line =
            " 1798: 0100007F:4C36 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0 403631 2 00000000ed86edc2 5        "
        let entry = try #require(UDPTableEntry(line))
        #expect(entry.port == 19510 && entry.uid == 1_000 && entry.inode == 403_631 && entry.drops == 5)
        let v6 = "  12: 00000000000000000000000000000000:4C36 00000000000000000000000000000000:0000 07 0:0 00:0 0 0 0 9 2 0 0"
        #expect(UDPTableEntry(v6)?.port == 19510)
        #expect(UDPTableEntry("   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid") == nil)
        #expect(UDPTableEntry("") == nil)
    }

    @Test func `Chains of the packet filter, as the kernel lists them`() {
        func chain(_ type: String, hook: UInt32?, policy: UInt32?) -> FilterChain? {
            var request = NetlinkRequest(type: 10 << 8 | 3, isDump: false, sequence: 1, head: [2, 0, 0, 0])
            request.add(1, "t")
            request.add(3, "c")
            if let hook {
                var inside = NetlinkRequest(type: 0, isDump: false, sequence: 0, head: [])
                inside.add(1, hook.bigEndian)
                request.add(4 | 0x8000, Array(inside.bytes[16...]))
            }
            if let policy { request.add(5, policy.bigEndian) }
            request.add(7, type)
            return NetlinkMessage.all(in: request.bytes).first.flatMap(FilterChain.init)
        }
        #expect(chain("filter", hook: 1, policy: 0)?.drops == true)
        #expect(chain("filter", hook: 3, policy: 1)?.drops == false)
        #expect(chain("filter", hook: 3, policy: nil)?.hook == .output)
        #expect(chain("nat", hook: 1, policy: 0) == nil)
        #expect(chain("filter", hook: 2, policy: 0) == nil)
        #expect(chain("filter", hook: nil, policy: nil) == nil)
    }
}
