import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct NeighbourTests {
    static let gateway = MACAddress(0, 0, 0x5E, 0, 0x53, 0xFE)

    /// A message as the kernel writes it, on a little-endian machine.
    static func message(_ type: UInt16, _ body: [UInt8]) -> NetlinkMessage {
        NetlinkMessage(type: type, flags: 2, sequence: 1, payload: body[...])
    }

    private func entries(_ name: String) throws -> [NeighbourEntry] {
        var reply = NetlinkReply(to: NeighbourEntry.request(sequence: try sequence(name)))
        for datagram in try Fixture.hexLines("netlink/getneigh-\(name).reply.hex") { _ = reply.take(datagram) }
        #expect(reply.ending == .complete)
        return reply.messages.compactMap(NeighbourEntry.init)
    }

    private func sequence(_ name: String) throws -> UInt32 {
        try #require(try Fixture.hexLines("netlink/getneigh-\(name).request.hex").first)[8...].native(UInt32.self, at: 0) ?? 0
    }

    @Test(
        "recorded neighbour tables are read",
        arguments: [("open", [2]), ("wpa2", [2]), ("crowd", [2]), ("odd-names", [2]), ("two-stations", [3, 2]), ("disconnected", [])])
    func recorded(name: String, interfaces: [UInt32]) throws {
        let expected = interfaces.map { NeighbourEntry(address: .v4(203, 0, 113, 1), interface: $0, mac: Self.gateway, state: 2) }
        #expect(try entries(name) == expected)
        #expect(expected.allSatisfy { $0.isUsable })
    }

    @Test func `every cut and flip of a recorded table is read or passed over`() throws {
        var generator = SeededGenerator(seed: 6)
        let datagram = try #require(try Fixture.hexLines("netlink/getneigh-two-stations.reply.hex").first)
        for length in 0..<datagram.count {
            _ = NetlinkMessage.all(in: Array(datagram[..<length])).compactMap(NeighbourEntry.init)
            for bit in 0..<8 {
                var flipped = datagram
                flipped[length] ^= 1 << bit
                _ = NetlinkMessage.all(in: flipped).compactMap(NeighbourEntry.init)
                _ = NetlinkMessage.all(in: flipped).flatMap(DefaultRoute.all)
            }
            let noise = (0..<64).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            #expect(NeighbourEntry(Self.message(28, noise)).map { $0.interface == noise[4...].native(UInt32.self, at: 0) } ?? true)
            _ = DefaultRoute.all(in: Self.message(24, [noise[0] % 16, 0] + noise[2..<7] + [1] + noise[8...]))
        }
    }

    @Test func `an IPv6 neighbour keeps its interface and one without an answer has no MAC`() {
        let head: [UInt8] = [10, 0, 0, 0, 5, 0, 0, 0, 0x20, 0, 0, 0]
        let address: [UInt8] = [20, 0, 1, 0, 0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
        let entry = NeighbourEntry(Self.message(28, head + address))
        #expect(entry == NeighbourEntry(address: .v6(high: 0xFE80 << 48, low: 1, scope: 5), interface: 5, mac: nil, state: 0x20))
        #expect(entry?.isUsable == false)
        #expect(NeighbourEntry(Self.message(28, head)) == nil)
        #expect(NeighbourEntry(Self.message(24, head + address)) == nil)
        #expect(NeighbourEntry(Self.message(28, [10])) == nil)
    }

    @Test func `default routes are told from others`() {
        let gateway: [UInt8] = [8, 0, 5, 0, 192, 0, 2, 1]
        let interface: [UInt8] = [8, 0, 4, 0, 3, 0, 0, 0]
        let metric: [UInt8] = [8, 0, 6, 0, 100, 0, 0, 0]
        func routes(prefix: UInt8 = 0, kind: UInt8 = 1, _ attributes: [UInt8]) -> [DefaultRoute] {
            DefaultRoute.all(in: Self.message(24, [2, prefix, 0, 0, 254, 3, 0, kind, 0, 0, 0, 0] + attributes))
        }
        #expect(routes(gateway + interface + metric) == [DefaultRoute(gateway: .v4(192, 0, 2, 1), interface: 3, metric: 100)])
        #expect(routes(gateway + interface) == [DefaultRoute(gateway: .v4(192, 0, 2, 1), interface: 3, metric: 0)])
        #expect(routes(prefix: 24, gateway + interface).isEmpty)
        #expect(routes(kind: 7, gateway + interface).isEmpty)
        #expect(routes(interface).isEmpty)
        #expect(routes([8, 0, 5, 0, 0, 0, 0, 0] + interface).isEmpty)
        // Two next hops, each with its own gateway.
        let hop = { (interface: UInt8, last: UInt8) -> [UInt8] in [16, 0, 0, 0, interface, 0, 0, 0, 8, 0, 5, 0, 192, 0, 2, last] }
        #expect(routes([36, 0, 9, 0] + hop(3, 1) + hop(4, 2)).map(\.interface) == [3, 4])
        #expect(routes([36, 0, 9, 0] + hop(3, 1) + [200, 0] + hop(4, 2).dropFirst(2)).map(\.interface) == [3])
    }

    @Test func `the system's own tables can be read`() throws {
        let interfaces = try NetworkInterfaces.current()
        let loopback = try #require(interfaces.first { $0.flags.contains(.loopback) })
        #expect(loopback.obstacle == .loopback || loopback.obstacle == .down)
        #expect(Set(interfaces.map(\.index)).count == interfaces.count)
        if let address = loopback.addresses.first(where: { $0.address == .loopback }) {
            #expect(address.prefixLength == 8 && address.broadcast == nil && loopback.isOnLink(.v4(127, 9, 9, 9)))
        }
        for entry in try NeighbourTable.read() { #expect(entry.interface != 0) }
        for route in try DefaultGateways.read() { #expect(!route.gateway.isUnspecified) }
        _ = try NetworkFacts.current()
    }
}
