import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery
@testable import wifictl

/// `discover --dialect`: rows of other makers' devices beside those of the native dialect.
@Suite("discover in other dialects", .serialized, .timeLimit(.minutes(10)))
struct DiscoverDialectTests {
    private static let mac = MACAddress(2, 0, 0x5E, 0, 0x53, 1)

    private func device(_ mac: MACAddress?, at last: UInt32, isRouter: Bool = true, gateway: Bool = false, _ dialects: Dialect...)
        -> FoundDevice
    {
        let place = DiscoveredRouter.Place(.v4(0xC000_0200 + last), interface: 2)
        let descriptions = dialects.map { ($0, DeviceDescription($0, mac: mac, name: "Attic", isRouter: isRouter)) }
        let device = DialectDevice(
            places: [place], claimedMACs: mac.map { [$0] } ?? [], neighbour: nil,
            descriptions: Dictionary(uniqueKeysWithValues: descriptions), lastHeard: .zero)
        return FoundDevice(
            device: device, grading: device.grading(link: [Self.mac]), evidence: Evidence(gateway: gateway), interface: "eth0")
    }

    private func router(_ mac: MACAddress, at last: UInt32, gateway: Bool = false) -> FoundRouter {
        let description = RouterDescription(mac: mac, name: "Attic")
        let place = DiscoveredRouter.Place(.v4(0xC000_0200 + last), interface: 2)
        return FoundRouter(
            discovered: DiscoveredRouter(router: description, place: place), grading: Grading.of(description, link: [Self.mac]),
            evidence: Evidence(gateway: gateway), interface: "eth0")
    }

    @Test func `a device is a row of its own unless a router is the same, and only as a router or the gateway`() {
        let cases: [(FoundDevice, [[Dialect]])] = [
            (device(Self.mac, at: 9, .ssdp, .mdns), [[.native, .ssdp, .mdns]]), (device(nil, at: 1, .ubnt), [[.native, .ubnt]]),
            (device(nil, at: 9, .ubnt), [[.native], [.ubnt]]), (device(nil, at: 9, isRouter: false, .mdns), [[.native]]),
            (device(nil, at: 9, isRouter: false, gateway: true, .mdns), [[.native], [.mdns]]),
            (device(nil, at: 1, isRouter: false, .mdns), [[.native, .mdns]]),
        ]
        for (device, expected) in cases {
            #expect(DiscoverRow.rows([router(Self.mac, at: 1)], [device]).map(\.dialects) == expected, "\(device)")
        }
    }

    @Test func `a foreign device is chosen only where the native routers give no choice`() {
        let other = MACAddress(0, 0, 0x5E, 0, 0x53, 0x77)
        let foreign = device(Self.mac, at: 9, .ubnt)
        let beside = Selection.choose(amongRows: DiscoverRow.rows([router(other, at: 1)], [foreign]))
        #expect(beside == Selection(Self.mac, .exact, .certain))
        let behind = Selection.choose(amongRows: DiscoverRow.rows([router(other, at: 1, gateway: true)], [foreign]))
        #expect(behind == Selection(other, .gateway, .assumed))
        #expect(Selection.choose(amongRows: [.foreign(device(nil, at: 9, gateway: true, .ssdp))]).mac == nil)
    }

    @Test func `a device is found by its dialect alone, with the keys of a router`() async throws {
        let device = try UbiquitiDevice(mac: [2, 0, 0x5E, 0, 0x53, 1], name: "Attic")
        try await device.start()
        let words = ["discover", "--interface", "lo", "--for", "1200ms", "--dialect", "ubnt", "--to", "\(UbiquitiDevice.address)"]
        let found = try DiscoverLines(try await BuiltTool.run(words + ["--bssid", "02:00:5e:00:53:01", "--json"]))
        #expect(found.status == 0 && found.selected["why"] == "exact")
        let row = try #require(found.routers.first)
        #expect(found.routers.count == 1 && row["name"] == "Attic" && row["dialect"] == "ubnt" && row["tcp"] == .null)
        #expect(row["grade"] == "exact" && row["address"] == "127.0.0.2" && row["vendor"] == "Ubiquiti", "\(row.text)")
        #expect(found.summary["dialects"]?.text == #"{"ubnt":1}"# && found.summary["probes"] == 0)
    }

    @Test func `one device in two dialects is one row, in the table too`() async throws {
        let device = try UbiquitiDevice(mac: [2, 0, 0x5E, 0, 0x53, 1], name: "Loft")
        try await device.start()
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let words = [
            "discover", "--interface", "lo", "--port", "\(port)", "--for", "1200ms", "--dialect", "native,ubnt", "--to", "127.0.0.2",
        ]
        let shown = try await BuiltTool.run(words)
        #expect(shown.status == 0 && shown.text.contains("native,ubnt") && !shown.text.contains("Loft"), "\(shown.text)")
        #expect(shown.errorText.hasPrefix("1 router (native 1, ubnt 1) in "), "\(shown.errorText)")
        _ = try await child.summary()
    }

    @Test func `a word that is no dialect is answered with the nearest`() async throws {
        let slip = try await BuiltTool.run(["discover", "--dialect", "native,mdsn"])
        #expect(slip.status == 64 && slip.errorText.contains("did you mean mdns?"), "\(slip.errorText)")
        #expect(try ValueKind.dialects.parse("all") == Dialect.allCases)
    }
}

struct NaturalOrderTests {
    @Test func `numbers in names count by their value`() {
        let names = [
            "Attic", "attic 2", "Attic 010", "Attic 10", "Attic 10b", "Attic 18446744073709551616", "Router", "Router 2", "Router 10",
        ]
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let shuffled = names.shuffled(using: &generator)
            #expect(shuffled.sorted { NaturalOrder($0) < NaturalOrder($1) } == names, "seed \(seed)")
        }
    }
}
