import SocketCore
import TestSupport
import Testing

/// Machines with several interfaces, some of them of no use.
@Suite("Interfaces on a LAN", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(3)))
struct InterfaceLANTests {
    static let attic = TestLAN.Host("attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"])
    static let cellar = TestLAN.Host("cellar", mac: "02:00:5e:20:53:02", addresses: ["198.51.100.1/24"], plug: "second")
    static let second = TestLAN.Bridge("second", mac: "00:00:5e:00:53:b2", isApart: true)

    @Test("two interfaces with a router on each: both are found, chosen and talked to, wherever the default route leads")
    func two() async throws {
        let controller = TestLAN.Host(
            "ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "198.51.100.1",
            others: [.init("eth1", mac: "02:00:5e:00:53:f1", addresses: ["198.51.100.100/24"], plug: "second")])
        try await TestLAN.with([Self.attic, Self.cellar, controller], bridges: [Self.second]) { lan in
            let running = [
                try await lan.startRouter("attic", ["--bssid", "0a:00:5e:10:53:11"]),
                try await lan.startRouter("cellar", ["--bssid", "0a:00:5e:30:53:12"]),
            ]
            for (bssid, host) in [("0a:00:5e:10:53:11", Self.attic), ("0a:00:5e:30:53:12", Self.cellar)] {
                let found = try await lan.discover(["--for", "2s", "--bssid", bssid])
                #expect(found.macs == [Self.attic.mac, Self.cellar.mac], "\(found.text)")
                #expect(found[Self.attic.mac]?["interface"] == "eth0" && found[Self.cellar.mac]?["interface"] == "eth1", "\(found.text)")
                #expect(found.selected["mac"] == .string(host.mac) && found.selected["why"] == "radio", "\(found.text)")
                #expect(found[Self.attic.mac]?["evidence"]?["gateway"] == false, "\(found.text)")
                #expect(found[Self.cellar.mac]?["evidence"]?["gateway"] == true, "\(found.text)")
                #expect(found.summary["interfaces"] == ["eth0", "eth1"], "\(found.text)")
            }
            let home = try TemporaryDirectory()
            for host in [Self.attic, Self.cellar] {
                let sent = try await lan.run("ctl", [BuiltTool.path, "send", host.mac, "hello", "--json", "--home", home.path])
                #expect(sent.status == 0 && sent.text.contains(#""outcome":"delivered""#), "\(sent.text)\(sent.errorText)")
            }
            withExtendedLifetime(running) {}
        }
    }

    @Test("an interface without address, one with a self-assigned one, a container bridge and a VPN spoil nothing and are named")
    func useless() async throws {
        let garden = TestLAN.Host("garden", mac: "02:00:5e:40:53:03", addresses: ["169.254.3.3/16"], plug: "second")
        let controller = TestLAN.Host(
            "ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1",
            others: [
                .init("eth1", mac: "02:00:5e:00:53:f1", plug: "second"),
                .init("eth2", mac: "02:00:5e:00:53:f2", addresses: ["169.254.7.7/16"], plug: "second"),
            ])
        try await TestLAN.with([Self.attic, garden, controller], bridges: [Self.second]) { lan in
            let more = [
                "ip link add docker0 type bridge", "ip address add 172.17.0.1/16 brd + dev docker0", "ip link set docker0 up",
                "ip link add vethc type veth peer name inside", "ip link set vethc master docker0 up", "ip link set inside up",
                "ip tuntap add tun0 mode tun", "ip address add 10.8.0.2 peer 10.8.0.1 dev tun0", "ip link set tun0 up",
                "ip link add eth3 type bridge",
            ]
            try await lan.run("ctl", ["sh", "-ec", more.joined(separator: "\n")], mustSucceed: true)
            let running = [try await lan.startRouter("attic"), try await lan.startRouter("garden")]
            let found = try await lan.discover(["--for", "3s", "--bssid", "none"])
            #expect(found.macs == [Self.attic.mac, garden.mac], "\(found.text)")
            #expect(found[garden.mac]?["interface"] == "eth2", "\(found.text)")
            #expect(found.selected["mac"] == .string(Self.attic.mac) && found.selected["why"] == "gateway", "\(found.text)")
            let reasons = found.summary["failedInterfaces"]
            #expect(reasons?["eth1"] == "has no address" && reasons?["eth3"] == "is down", "\(found.text)")
            // Nobody uses the tunnel, so that it has no carrier either.
            #expect(reasons?["tun0"] == "has no carrier", "\(found.text)")
            // A bridge of containers is a LAN like any other, and asked.
            let scanned = found.summary["interfaces"]?.arrayValue?.compactMap(\.stringValue) ?? []
            #expect(Set(scanned).isSuperset(of: ["docker0", "eth0", "eth2"]), "\(found.text)")
            withExtendedLifetime(running) {}
        }
    }

    @Test("the discovery port held by another program hinders neither a scan nor a watch, and a router says who is to go")
    func heldPort() async throws {
        let controller = TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"])
        try await TestLAN.with([Self.attic, controller]) { lan in
            let holder = """
                import socket
                a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(('', 19510))
                b = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); b.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                b.bind(('::', 19510)); print('held', flush=True); input()
                """
            let holding = try lan.start("ctl", ["python3", "-c", holder])
            _ = try await holding.line("held")
            let router = try await lan.startRouter("attic")
            let found = try await lan.discover(["--for", "1s", "--bssid", Self.attic.mac])
            #expect(found.status == 0 && found.selected["why"] == "exact", "\(found.text)")
            let watched = try await lan.run(
                "ctl", [BuiltTool.path, "discover", "--watch", "--for", "2s", "--json", "--bssid", "none", "--home", "/nonexistent"])
            #expect(watched.status == 0 && watched.text.contains(Self.attic.mac), "\(watched.text)\(watched.errorText)")
            #expect(watched.text.contains(#""group on eth0":""#), "\(watched.text)")
            let own = try await lan.run("ctl", [BuiltTool.path, "router", "--mac", "02:00:5e:00:53:99"])
            #expect(own.status == 2 && own.errorText.contains("cannot bind UDP 19510"), "\(own.errorText)")
            withExtendedLifetime((holding, router)) {}
        }
    }

    @Test("a LAN without IPv4: routers are found without being asked specially, chosen, and talked to")
    func onlyIPv6() async throws {
        let hosts = [
            TestLAN.Host("attic", mac: "02:00:5e:00:53:01"), TestLAN.Host("cellar", mac: "02:00:5e:20:53:02"),
            TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0"),
        ]
        try await TestLAN.with(hosts) { lan in
            try await lan.run(
                "ctl", ["ip", "-6", "route", "add", "default", "via", hosts[0].linkLocal, "dev", "eth0"], mustSucceed: true)
            let running = [try await lan.startRouter("attic"), try await lan.startRouter("cellar")]
            let found = try await lan.discover(["--for", "2s", "--bssid", "none"])
            #expect(found.macs == [hosts[0].mac, hosts[1].mac], "\(found.text)")
            #expect(found.routers.allSatisfy { $0["address"]?.stringValue?.hasSuffix("%eth0") == true }, "\(found.text)")
            #expect(found.routers.allSatisfy { $0["evidence"]?["neighbour"] == "match" }, "\(found.text)")
            #expect(found.selected["mac"] == .string(hosts[0].mac) && found.selected["why"] == "gateway", "\(found.text)")
            let home = try TemporaryDirectory()
            let sent = try await lan.run("ctl", [BuiltTool.path, "send", hosts[1].mac, "hello", "--json", "--home", home.path])
            #expect(sent.status == 0 && sent.text.contains(#""outcome":"delivered""#), "\(sent.text)\(sent.errorText)")
            withExtendedLifetime(running) {}
        }
    }
}
