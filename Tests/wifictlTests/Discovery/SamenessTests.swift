import SocketCore
import Testing

@testable import WifiDiscovery
@testable import wifictl

/// What the index finds is what looking through everything finds.
@Suite struct SamenessTests {
    private static func place(_ generator: inout SeededGenerator) -> DiscoveredRouter.Place {
        .init(.v4(0xC000_0200 + UInt32.random(in: 1...12, using: &generator)), interface: .random(in: 1...2, using: &generator))
    }

    private static func mac(_ generator: inout SeededGenerator) -> MACAddress {
        MACAddress(2, 0, 0x5E, 0, 0x53, UInt8.random(in: 1...12, using: &generator))
    }

    private static func device(_ generator: inout SeededGenerator) -> FoundDevice {
        let description = DeviceDescription(.ssdp, name: "Other", isRouter: generator.chance(0.6))
        let device = DialectDevice(
            places: (0..<Int.random(in: 1...2, using: &generator)).map { _ in place(&generator) },
            claimedMACs: generator.chance(0.5) ? [mac(&generator)] : [], neighbour: nil, descriptions: [.ssdp: description],
            lastHeard: .zero)
        return FoundDevice(
            device: device, grading: device.grading(link: []), evidence: Evidence(gateway: generator.chance(0.2)), interface: "eth0")
    }

    private static func router(_ mac: MACAddress, _ generator: inout SeededGenerator) -> FoundRouter {
        let description = RouterDescription(
            mac: mac, name: "Ours", radios: generator.chance(0.5) ? [.init(bssid: Self.mac(&generator), ssid: "Home")] : [])
        var discovered = DiscoveredRouter(router: description, place: place(&generator))
        if generator.chance(0.3) { discovered.alternates = [place(&generator)] }
        return FoundRouter(
            discovered: discovered, grading: Grading.of(description, link: []), evidence: Evidence(), interface: "eth0")
    }

    @Test("rows are those that comparing all with all gives", arguments: 0..<100 as Range<UInt64>)
    func rows(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let routers = (1...4).map { Self.router(MACAddress(2, 0, 0x5E, 0, 0x53, UInt8($0)), &generator) }
        let devices = (0..<8).map { _ in Self.device(&generator) }
        let expected =
            routers.map { router in
                DiscoverRow.native(router, also: devices.contains { $0.device.isSame(as: router.discovered) } ? [.ssdp] : [])
            }
            + devices.filter { device in
                DiscoverRow.isRow(device) && !routers.contains { device.device.isSame(as: $0.discovered) }
            }.map(DiscoverRow.foreign)
        #expect(DiscoverRow.rows(routers, devices) == expected, "seed \(seed)")
    }

    @Test("devices that come, join and go are those of a plain list", arguments: 0..<100 as Range<UInt64>)
    func devices(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (watch, list) = (WatchDevices(), [FoundDevice]())
        for step in 0..<60 {
            let device = Self.device(&generator)
            let addresses = Set(device.device.places.map(\.address))
            let same = list.filter { !addresses.isDisjoint(with: $0.device.places.map(\.address)) }
            list.removeAll { one in same.contains(one) }
            if generator.chance(0.7) {
                #expect(watch.put(device).replaced.map(\.device) == same, "seed \(seed), step \(step)")
                list.append(device)
            } else {
                #expect(watch.remove(device).map(\.device) == same, "seed \(seed), step \(step)")
            }
            #expect(watch.all == list, "seed \(seed), step \(step)")
            let router = Self.router(Self.mac(&generator), &generator)
            #expect(
                watch.same(as: router).map(\.device) == list.filter { $0.device.isSame(as: router.discovered) },
                "seed \(seed), step \(step)")
        }
    }
}
