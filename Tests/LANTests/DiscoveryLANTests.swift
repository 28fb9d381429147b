import SocketCore
import TestSupport
import Testing

/// Discovery with real multicast and real MACs: three routers, and a controller behind a child access point of another brand.
@Suite("Discovery on a LAN", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(3)))
struct DiscoveryLANTests {
    static let routers = [
        (host: "attic", mac: "02:00:5e:00:53:01", bssid: "0a:00:5e:10:53:11", address: "192.0.2.1"),
        (host: "cellar", mac: "02:00:5e:20:53:02", bssid: "0a:00:5e:30:53:12", address: "192.0.2.2"),
        (host: "garden", mac: "02:00:5e:40:53:03", bssid: "0a:00:5e:50:53:13", address: "192.0.2.3"),
    ]
    static let child = "00:00:5e:00:53:c1"

    struct Lines {
        let status: Int32
        let routers: [JSONValue]
        let selected: JSONValue
        let summary: JSONValue
    }

    /// The LAN with its three routers running; attic is the gateway.
    func withRouters(_ body: (TestLAN) async throws -> Void) async throws {
        var hosts = Self.routers.map { TestLAN.Host($0.host, mac: $0.mac, addresses: [$0.address + "/24"]) }
        hosts.append(
            TestLAN.Host(
                "ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: Self.routers[0].address, plug: "child"))
        try await TestLAN.with(hosts, bridges: [.init("child", mac: Self.child)]) { lan in
            var running: [ChildProcess] = []
            for router in Self.routers {
                let words = ["router", "--mac", router.mac, "--bssid", router.bssid, "--name", router.host, "--json"]
                let process = try lan.start(router.host, [BuiltTool.path] + words)
                running.append(process)
                _ = try await process.line("listening") { $0.contains(#""type":"listening""#) }
            }
            try await body(lan)
            for process in running { process.signal(2) }
            for process in running { #expect(try await process.result().status == 130) }
        }
    }

    func discover(_ lan: TestLAN, _ words: [String]) async throws -> Lines {
        let home = try TemporaryDirectory()
        let result = try await lan.run("ctl", [BuiltTool.path, "discover", "--json", "--home", home.path] + words)
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        return Lines(
            status: result.status, routers: lines.filter { $0["type"] == "router" },
            selected: try #require(lines.first { $0["type"] == "selected" }, "\(result.text)\(result.errorText)"),
            summary: try #require(lines.last))
    }

    @Test("all are listed, and the right one is chosen by MAC, by radio, and by gateway where only the child is known")
    func choice() async throws {
        try await withRouters { lan in
            let cases = [
                (bssid: Self.routers[1].mac, mac: Self.routers[1].mac, why: "exact", certainty: "certain"),
                (bssid: "0A-00-5E-50-53-13", mac: Self.routers[2].mac, why: "radio", certainty: "certain"),
                (bssid: Self.child, mac: Self.routers[0].mac, why: "gateway", certainty: "assumed"),
            ]
            for wanted in cases {
                let found = try await discover(lan, ["--for", "2s", "--bssid", wanted.bssid])
                #expect(found.status == 0)
                #expect(found.routers.compactMap { $0["mac"]?.stringValue } == Self.routers.map(\.mac))
                #expect(found.selected["mac"] == .string(wanted.mac), "\(wanted): \(found.selected.text)")
                #expect(found.selected["why"] == .string(wanted.why) && found.selected["certainty"] == .string(wanted.certainty))
                for router in found.routers {
                    // The child passes frames on as they are, so that the kernel sees each router's own MAC.
                    #expect(router["evidence"]?["neighbour"] == "match", "\(router.text)")
                    #expect(router["evidence"]?["gateway"] == .bool(router["mac"] == .string(Self.routers[0].mac)), "\(router.text)")
                    #expect(router["interface"] == "eth0" && router["confirmed"] == true && router["conflict"] == false)
                }
            }
        }
    }

    @Test("IPv6 alone finds all of them, with the scope that their addresses need")
    func overIPv6() async throws {
        try await withRouters { lan in
            let found = try await discover(lan, ["--for", "2s", "--group", "ff12::1951", "--bssid", Self.routers[2].bssid])
            #expect(found.routers.compactMap { $0["mac"]?.stringValue } == Self.routers.map(\.mac))
            for (router, host) in zip(found.routers, lan.hosts) {
                // Both in the one spelling of RFC 5952.
                let address = try #require(IPAddress(host.linkLocal))
                #expect(router["address"] == .string("\(address)%eth0"), "\(router.text)")
            }
            #expect(found.selected["mac"] == .string(Self.routers[2].mac) && found.selected["why"] == "radio")
            let direct = try await discover(lan, ["--for", "500ms", "--to", "\(lan.hosts[1].linkLocal)%eth0"])
            #expect(direct.routers.compactMap { $0["mac"]?.stringValue } == [Self.routers[1].mac])
        }
    }

    @Test("a session opens over IPv6, to the address as discover printed it")
    func sessionOverIPv6() async throws {
        try await withRouters { lan in
            let home = try TemporaryDirectory()
            let tool = { (words: [String]) in
                try await lan.run("ctl", [BuiltTool.path] + words + ["--home", home.path])
            }
            let found = try await tool(["discover", "--for", "3s", "--group", "ff12::1951", "--json"])
            #expect(found.status == 0, "\(found.text)\(found.errorText)")
            let sent = try await tool(["send", Self.routers[1].mac, "hello", "--json"])
            #expect(sent.status == 0 && sent.text.contains(#""outcome":"delivered""#), "\(sent.text)\(sent.errorText)")
        }
    }

    @Test("a third of all datagrams lost hides no router")
    func lossy() async throws {
        try await withRouters { lan in
            try await lan.lose("ctl", percent: 33, of: "meta l4proto udp")
            let found = try await discover(lan, ["--for", "3s", "--bssid", Self.routers[0].mac])
            #expect(found.routers.compactMap { $0["mac"]?.stringValue } == Self.routers.map(\.mac))
            #expect(found.selected["why"] == "exact")
        }
    }

    @Test("probes from beyond the link are not answered")
    func offLink() async throws {
        try await withRouters { lan in
            // An address that no router has a network for; the routers could answer it through their own gateway.
            try await lan.run("ctl", ["ip", "address", "add", "198.51.100.7/32", "dev", "lo"], mustSucceed: true)
            let script = """
                import json, random, socket, struct
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('198.51.100.7', 0))
                body = json.dumps({'probe': {'nonce': '0123456789abcdef', 'maxWait': 0, 'pad': '.' * 400}}).encode()
                s.sendto(struct.pack('>IHI', 7, 1, len(body)) + body, ('192.0.2.3', 19510)); s.settimeout(0.5)
                try: print(s.recvfrom(2000))
                except TimeoutError: print('silence')
                """
            #expect(try await lan.run("ctl", ["python3", "-c", script]).text == "silence\n")
        }
    }
}
