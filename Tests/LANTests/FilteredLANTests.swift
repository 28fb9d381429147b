import SocketCore
import TestSupport
import Testing

/// Networks that don't let through what discovery sends.
@Suite(
    "Discovery on filtered LANs", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(3)))
struct FilteredLANTests {
    static let attic = TestLAN.Host("attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"])
    static let cellar = TestLAN.Host("cellar", mac: "02:00:5e:20:53:02", addresses: ["192.0.2.2/24"])
    static let garden = TestLAN.Host("garden", mac: "02:00:5e:40:53:03", addresses: ["192.0.2.3/24"])
    static let controller = TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1")
    private static let macs = [attic.mac, cellar.mac, garden.mac]

    private func withRouters(_ body: (TestLAN) async throws -> Void) async throws {
        try await TestLAN.with([Self.attic, Self.cellar, Self.garden, Self.controller]) { lan in
            var running: [ChildProcess] = []
            for name in ["attic", "cellar", "garden"] { running.append(try await lan.startRouter(name)) }
            try await body(lan)
            withExtendedLifetime(running) {}
        }
    }

    private func drop(_ matches: [String], at hook: String) -> String {
        let rules = matches.map { "\($0) drop;" }.joined(separator: " ")
        return "table inet guard { chain passing { type filter hook \(hook) priority 0; \(rules) }; }"
    }

    @Test("where the group is blocked, on the routers' side or on ours, the directed broadcast finds all")
    func group() async throws {
        try await withRouters { lan in
            let groups = ["ip daddr 239.255.19.51", "ip6 daddr ff12::1951"]
            for name in ["attic", "cellar", "garden"] { try await lan.filter(name, drop(groups, at: "input")) }
            let found = try await lan.discover(["--for", "3s", "--bssid", Self.cellar.mac])
            #expect(found.macs == Self.macs && found.selected["why"] == "exact", "\(found.text)")
            for name in ["attic", "cellar", "garden"] { try await lan.filter(name, "") }
            try await lan.filter("ctl", drop(groups, at: "output"))
            let own = try await lan.discover(["--for", "3s", "--bssid", Self.cellar.mac])
            #expect(own.macs == Self.macs && own.selected["why"] == "exact", "\(own.text)")
            #expect((own.summary["sendFailures"]?.integerValue ?? 0) > 0, "\(own.text)")
        }
    }

    @Test("where broadcast is blocked as well, gateway and neighbours are asked one by one; others can't be found, and aren't")
    func broadcast() async throws {
        try await withRouters { lan in
            let matches = ["meta pkttype { multicast, broadcast } udp dport 19510"]
            for name in ["attic", "cellar", "garden"] { try await lan.filter(name, drop(matches, at: "input")) }
            // The kernel knows whom it has talked to.
            try await lan.run("ctl", ["ip", "neigh", "replace", "192.0.2.2", "lladdr", Self.cellar.mac, "dev", "eth0", "nud", "reachable"])
            let found = try await lan.discover(["--for", "4s", "--bssid", "none"])
            #expect(found.macs == [Self.attic.mac, Self.cellar.mac], "\(found.text)")
            #expect(found.selected["mac"] == .string(Self.attic.mac) && found.selected["why"] == "gateway", "\(found.text)")
            let direct = try await lan.discover(["--for", "1s", "--to", "192.0.2.3", "--bssid", "none"])
            #expect(direct.macs == [Self.garden.mac], "\(direct.text)")
        }
    }

    @Test(
        "a switch that snoops IGMP without a querier, and in the end forwards the group to nobody, hides no router",
        arguments: [true, false])
    func snooping(floods: Bool) async throws {
        try await withRouters { lan in
            var lines = ["ip link set br0 type bridge mcast_snooping 1 mcast_querier 0"]
            // Linux's own bridge floods groups while it knows no querier; a switch that has forgotten its members doesn't.
            if !floods {
                lines += ["attic", "cellar", "garden", "ctl"].map { "ip link set p-\($0) type bridge_slave mcast_flood off" }
            }
            try await lan.run("lan", ["sh", "-ec", lines.joined(separator: "\n")], mustSucceed: true)
            let found = try await lan.discover(["--for", "3s", "--bssid", Self.garden.mac])
            #expect(found.macs == Self.macs && found.selected["why"] == "exact", "\(found.text)")
        }
    }

    @Test("a scan that finds nothing ends on time with status 1 and says why: nobody answers, or nowhere to ask")
    func nothing() async throws {
        try await TestLAN.with([Self.controller]) { lan in
            let found = try await lan.discover(["--for", "1500ms", "--bssid", "none"])
            #expect(found.status == 1 && found.routers.isEmpty && found.selected["mac"] == .null, "\(found.text)")
            #expect(found.summary["finish"] == "timeUp" && found.text.contains("no router answered"), "\(found.text)")
            #expect((found.summary["ms"]?.doubleValue ?? 0) >= 1_500, "\(found.text)")
            try await lan.unplug("ctl")
            let cut = try await lan.discover(["--for", "1500ms", "--bssid", "none", "--interface", "eth0"])
            #expect(cut.status == 1 && cut.summary["finish"] == "noInterface", "\(cut.text)")
            #expect(cut.text.contains("no interface can be scanned") && cut.text.contains("eth0 has no carrier"), "\(cut.text)")
        }
    }
}
