import Foundation
import SocketCore
import TestSupport
import Testing

/// The programs that speak foreign dialects, and those that ask in them, where they are installed.
private enum ForeignPrograms {
    static let daemonsAreInstalled = ["miniupnpd", "avahi-daemon", "mactelnetd"].allSatisfy(isInstalled)
    static let clientsAreInstalled = ["gssdp-discover", "avahi-browse", "mndp", "dbus-daemon"].allSatisfy(isInstalled)

    private static func isInstalled(_ name: String) -> Bool {
        ["/usr/sbin", "/usr/bin", "/sbin"].contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
}

/// Other people's routers, by the programs that Debian packages: each is found, named and shown once.
@Suite(
    "Foreign dialects on a LAN",
    .enabled(
        if: TestLAN.isWanted && ForeignPrograms.daemonsAreInstalled,
        "needs root, WIFI_LAN_TESTS=1, and miniupnpd, avahi-daemon and mactelnet-server (.ci/setup.sh lan installs them)"),
    .serialized, .timeLimit(.minutes(3)))
struct DialectLANTests {
    static let attic = TestLAN.Host("attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"])
    static let cellar = TestLAN.Host("cellar", mac: "02:00:5e:00:53:02", addresses: ["192.0.2.2/24"])
    static let garden = TestLAN.Host("garden", mac: "02:00:5e:00:53:03", addresses: ["192.0.2.3/24"])
    static let controller = TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1")

    /// Starts miniupnpd on a host; it wants an outer interface with an address that looks public.
    private func gateway(_ lan: TestLAN, _ host: String, named name: String, uuid: String, in folder: URL) async throws -> ChildProcess {
        try await lan.run(
            host, ["sh", "-ec", "ip link add wan0 type veth peer name wan1; ip addr add 198.51.100.1/24 dev wan0; ip link set wan0 up"],
            mustSucceed: true
        )
        let file = folder.appendingPathComponent("\(host).conf")
        let lines = [
            "ext_ifname=wan0", "listening_ip=eth0", "enable_natpmp=no", "enable_upnp=yes", "uuid=\(uuid)", "friendly_name=\(name)",
            "manufacturer_name=Example", "model_name=AX-2", "model_number=3", "serial=1", "ext_ip=1.1.1.1",
            "allow 1024-65535 0.0.0.0/0 1024-65535",
        ]
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
        return try lan.start(host, ["miniupnpd", "-d", "-f", file.path, "-P", folder.appendingPathComponent("\(host).pid").path])
    }

    private func responder(_ lan: TestLAN, _ host: String, in folder: URL) throws -> ChildProcess {
        let file = folder.appendingPathComponent("avahi.conf")
        let text = """
            [server]
            host-name=attic
            allow-interfaces=eth0
            enable-dbus=no
            [publish]
            publish-workstation=yes

            """
        try Data(text.utf8).write(to: file)
        // A /run of its own: a killed daemon's file with a number that another process has by now would keep this one from starting.
        let script = "mount -t tmpfs none /run; mkdir -p /run/avahi-daemon; exec avahi-daemon --no-drop-root --no-chroot -f \(file.path)"
        return try lan.start(host, ["unshare", "--mount", "sh", "-ec", script])
    }

    private func neighbourDiscovery(_ lan: TestLAN, _ host: String) throws -> ChildProcess {
        try lan.start(host, ["unshare", "--uts", "sh", "-c", "hostname \(host); exec mactelnetd -f -n"])
    }

    /// Asks until all that is wanted shows, since the daemons start in their own time.
    private func devices(_ lan: TestLAN, until isComplete: ([JSONValue]) -> Bool) async throws -> [JSONValue] {
        var found: [JSONValue] = []
        for _ in 0..<8 {
            let result = try await lan.run("ctl", [BuiltTool.path, "doctor", "--json", "--for", "2500ms"])
            found = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"]?.stringValue == "device" }
            if isComplete(found) { break }
        }
        return found
    }

    private func dialects(_ device: JSONValue?) -> [String] { device?["dialects"]?.arrayValue?.compactMap(\.stringValue) ?? [] }

    /// `discover` shows the same devices as rows, and the gateway among them is the choice.
    private func rows(_ lan: TestLAN) async throws {
        let home = try TemporaryDirectory()
        let words = ["discover", "--json", "--dialect", "all", "--for", "2500ms", "--bssid", "none", "--home", home.path]
        let result = try await lan.run("ctl", [BuiltTool.path] + words)
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        let rows = lines.filter { $0["type"] == "router" }
        #expect(result.status == 0 && rows.count == 3, "\(result.text)\(result.errorText)")
        let attic = rows.first { $0["mac"]?.stringValue == Self.attic.mac }
        #expect(dialects(attic) == ["ssdp", "mdns", "mndp"] && attic?["evidence"]?["gateway"] == true, "\(result.text)")
        let selected = lines.first { $0["type"] == "selected" }
        #expect(selected?["mac"]?.stringValue == Self.attic.mac && selected?["why"] == "gateway", "\(result.text)")
        #expect(lines.last?["dialects"]?["mndp"] == 2 && lines.last?["dialects"]?["native"] == 0, "\(result.text)")
    }

    /// Three hosts: one speaks three dialects, the others one each.
    private func withDaemons(_ body: (TestLAN) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("dialects-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestLAN.with([Self.attic, Self.cellar, Self.garden, Self.controller]) { lan in
            let running = [
                try await gateway(lan, "attic", named: "Attic gateway", uuid: "2f402f80-da50-11e1-9b23-000000000001", in: folder),
                try responder(lan, "attic", in: folder), try neighbourDiscovery(lan, "attic"),
                try await gateway(lan, "cellar", named: "Cellar gateway", uuid: "2f402f80-da50-11e1-9b23-000000000002", in: folder),
                try neighbourDiscovery(lan, "garden"),
            ]
            try await body(lan)
            withExtendedLifetime(running) {}
        }
    }

    private func isComplete(_ list: [JSONValue]) -> Bool {
        list.count == 3 && list.contains { dialects($0).count == 3 } && list.contains { $0["name"]?.stringValue == "Cellar gateway" }
    }

    @Test("miniupnpd, avahi-daemon and mactelnetd are found and named, and three of them on one host are one row")
    func daemons() async throws {
        try await withDaemons { lan in
            let found = try await devices(lan, until: isComplete)
            let byMAC = Dictionary(found.compactMap { device in device["mac"]?.stringValue.map { ($0, device) } }) { first, _ in first }
            #expect(found.count == 3, "\(found)")
            #expect(dialects(byMAC[Self.attic.mac]) == ["ssdp", "mdns", "mndp"], "\(found)")
            #expect(byMAC[Self.attic.mac]?["name"]?.stringValue == "attic")
            #expect(dialects(byMAC[Self.cellar.mac]) == ["ssdp"], "\(found)")
            #expect(byMAC[Self.cellar.mac]?["name"]?.stringValue == "Cellar gateway")
            #expect(byMAC[Self.cellar.mac]?["vendor"]?.stringValue == "Example")
            #expect(dialects(byMAC[Self.garden.mac]) == ["mndp"], "\(found)")
            #expect(byMAC[Self.garden.mac]?["name"]?.stringValue == "garden")
            try await rows(lan)
        }
    }

    @Test(
        "the packages' own clients see the same devices: gssdp-discover, avahi-browse and mndp",
        .enabled(if: ForeignPrograms.clientsAreInstalled, "needs gupnp-tools, avahi-utils, mactelnet-client and dbus"))
    func clients() async throws {
        try await withDaemons { lan in
            let found = try await devices(lan, until: isComplete)
            let ours = { (dialect: String, key: String) in
                Set(found.filter { dialects($0).contains(dialect) }.compactMap { $0[key]?.stringValue })
            }
            #expect(ours("ssdp", "mac").count == 2 && ours("mdns", "mac").count == 1 && ours("mndp", "mac").count == 2, "\(found)")
            let gateways = try await ForeignClients.ssdp(lan, "ctl")
            #expect(gateways.addresses == ours("ssdp", "address"), "\(gateways.text)\(found)")
            let hosts = try await ForeignClients.mdns(lan, "ctl")
            #expect(hosts.addresses.isSuperset(of: ours("mdns", "address")) && hosts.names == ours("mdns", "name"), "\(hosts.text)\(found)")
            let neighbours = try await ForeignClients.mndp(lan, "ctl")
            #expect(neighbours.macs == ours("mndp", "mac") && neighbours.names == ours("mndp", "name"), "\(neighbours.text)\(found)")
        }
    }
}
