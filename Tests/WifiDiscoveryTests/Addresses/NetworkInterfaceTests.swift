import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct NetworkInterfaceTests {
    static let address = NetworkInterface.Address(.v4(192, 0, 2, 1), prefixLength: 24, broadcast: .v4(192, 0, 2, 255))

    static func interface(_ flags: NetworkInterface.Flags, _ addresses: [NetworkInterface.Address] = [address]) -> NetworkInterface {
        NetworkInterface(index: 2, name: "eth0", addresses: addresses, flags: flags)
    }

    static let cases: [(NetworkInterface, NetworkInterface.Obstacle?)] = [
        (interface([.up, .running, .multicast, .broadcast]), nil),
        (interface([.up, .running, .multicast]), nil),
        (interface([.up, .running, .broadcast]), nil),
        (interface([.running, .multicast]), .down),
        (interface([.up, .multicast]), .noCarrier),
        (interface([.up, .running, .multicast], []), .noAddress),
        (interface([.up, .running, .multicast, .pointToPoint]), .pointToPoint),
        (interface([.up, .running, .loopback]), .loopback),
        (interface([.up, .running]), .unicastOnly),
    ]

    @Test("an interface that is no LAN says why", arguments: cases)
    func obstacle(interface: NetworkInterface, expected: NetworkInterface.Obstacle?) {
        #expect(interface.obstacle == expected)
    }

    @Test func `broadcast addresses are listed once and only where there can be one`() {
        let addresses: [NetworkInterface.Address] = [
            Self.address, .init(.v4(192, 0, 2, 9), prefixLength: 24, broadcast: .v4(192, 0, 2, 255)),
            .init(.v4(198, 51, 100, 1), prefixLength: 31, broadcast: .v4(198, 51, 100, 1)), .init(.v4(203, 0, 113, 1), prefixLength: 32),
            .init(.v6(high: 0xFE80 << 48, low: 1, scope: 2), prefixLength: 64),
        ]
        #expect(Self.interface([.up, .broadcast], addresses).broadcasts == [.v4(192, 0, 2, 255)])
    }

    @Test func `neighbours are in one of its networks or link-local`() {
        let global = NetworkInterface.Address(.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0), prefixLength: 64)
        let interface = Self.interface([.up, .multicast], [Self.address, global])
        for on in [
            IPAddress.v4(192, 0, 2, 77), .v4(169, 254, 1, 1), .v6(high: 0xFE80 << 48, low: 9, scope: 2),
            .v6(high: 0x2001_0DB8 << 32, low: 7, scope: 0),
        ] {
            #expect(interface.isOnLink(on), "\(on)")
        }
        for off in [
            IPAddress.v4(192, 0, 3, 1), .loopback, .any, .anyV6, .v4(224, 0, 0, 1), .v4(192, 0, 2, 255),
            .v6(high: 0x2001_0DB9 << 32, low: 7, scope: 0),
        ] {
            #expect(!interface.isOnLink(off), "\(off)")
        }
    }
}
