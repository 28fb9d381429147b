import SocketCore
import TestSupport
import Testing

/// An extender that translates MACs: whoever is behind it shows its address, and not their own.
@Suite("An extender on a LAN", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(3)))
struct ExtenderLANTests {
    static let attic = TestLAN.Host("attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"], plug: "extender")
    static let cellar = TestLAN.Host("cellar", mac: "02:00:5e:20:53:02", addresses: ["192.0.2.2/24"], plug: "extender")
    static let garden = TestLAN.Host("garden", mac: "02:00:5e:40:53:03", addresses: ["192.0.2.3/24"])
    static let controller = TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1")
    static let extender = TestLAN.Bridge("extender", mac: "00:00:5e:00:53:e1")

    /// What leaves for the main switch shows the extender's address; what comes for it goes to whom its IP address names.
    private static func translation(_ hosts: [TestLAN.Host]) -> String {
        let back = hosts.flatMap { host -> [String] in
            let address = host.addresses[0].split(separator: "/")[0]
            return [
                "ether daddr \(extender.mac) ip daddr \(address) ether daddr set \(host.mac)",
                "ether daddr \(extender.mac) arp daddr ip \(address) arp daddr ether set \(host.mac) ether daddr set \(host.mac)",
            ]
        }
        let lines =
            [
                "table netdev mat {", "chain leaving { type filter hook egress device \"uplink\" priority 0;",
                "ether saddr set \(extender.mac)",
            ]
            + ["arp saddr ether set \(extender.mac)", "}", "chain arriving { type filter hook ingress device \"uplink\" priority 0;"]
            + back + ["}", "}"]
        return lines.joined(separator: "\n")
    }

    @Test("routers behind it are found, doubted and still chosen; those beside it are not doubted")
    func translated() async throws {
        let hosts = [Self.attic, Self.cellar, Self.garden, Self.controller]
        try await TestLAN.with(hosts, bridges: [Self.extender]) { lan in
            try await lan.filter("extender", Self.translation([Self.attic, Self.cellar]))
            var running: [ChildProcess] = []
            for (index, name) in ["attic", "cellar", "garden"].enumerated() {
                running.append(try await lan.startRouter(name, ["--bssid", "0a:00:5e:10:53:1\(index)"]))
            }
            let found = try await lan.discover(["--for", "3s", "--group", "239.255.19.51", "--bssid", "0a:00:5e:10:53:11"])
            #expect(found.macs == [Self.attic.mac, Self.cellar.mac, Self.garden.mac], "\(found.text)")
            let shown = try await lan.run("ctl", ["ip", "neigh", "show", "192.0.2.2"])
            #expect(shown.text.contains("lladdr \(Self.extender.mac)"), "\(shown.text)")
            let neighbours = found.routers.map { $0["evidence"]?["neighbour"]?.stringValue }
            #expect(neighbours == ["repeaterSuspected", "repeaterSuspected", "match"], "\(found.text)")
            #expect(found.selected["mac"] == .string(Self.cellar.mac) && found.selected["why"] == "radio", "\(found.text)")
            #expect(found.selected["certainty"] == "certain", "\(found.text)")
            let home = try TemporaryDirectory()
            let sent = try await lan.run("ctl", [BuiltTool.path, "send", Self.cellar.mac, "hello", "--json", "--home", home.path])
            #expect(sent.status == 0 && sent.text.contains(#""outcome":"delivered""#), "\(sent.text)\(sent.errorText)")
            withExtendedLifetime(running) {}
        }
    }

    @Test("one alone behind it is a mismatch, and chosen as the gateway all the same")
    func alone() async throws {
        try await TestLAN.with([Self.attic, Self.garden, Self.controller], bridges: [Self.extender]) { lan in
            try await lan.filter("extender", Self.translation([Self.attic]))
            let running = [try await lan.startRouter("attic"), try await lan.startRouter("garden")]
            let found = try await lan.discover(["--for", "2s", "--group", "239.255.19.51", "--bssid", "none"])
            #expect(found.macs == [Self.attic.mac, Self.garden.mac], "\(found.text)")
            #expect(found[Self.attic.mac]?["evidence"]?["neighbour"] == "mismatch", "\(found.text)")
            #expect(found.selected["mac"] == .string(Self.attic.mac) && found.selected["why"] == "gateway", "\(found.text)")
            withExtendedLifetime(running) {}
        }
    }
}
