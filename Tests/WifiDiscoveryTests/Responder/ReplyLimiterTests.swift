import SocketCore
import Testing

@testable import WifiDiscovery

/// A host has as many addresses of an IPv6 /64 as it likes: it must not use up what others need.
struct ReplyLimiterTests {
    private static func member(_ number: Int) -> IPAddress { .v6(high: 0xFE80 << 48, low: UInt64(number), scope: 2) }

    @Test func `one IPv6 network gets half of a second's answers, whatever addresses ask`() {
        var limiter = ReplyLimiter()
        var answered = 0
        for number in 0..<1_000 where limiter.admit(Self.member(number), now: .zero) { answered += 1 }
        #expect(answered == ReplyLimiter.perNetworkAndSecond)
        var others = 0
        for number in 0..<1_000 where limiter.admit(.v4(0x0A00_0000 + UInt32(number)), now: .zero) { others += 1 }
        #expect(others == ReplyLimiter.perSecond - ReplyLimiter.perNetworkAndSecond)
        // What left or was dropped gives its place back, the network's too.
        for number in 0..<answered {
            if number % 2 == 0 { limiter.left(Self.member(number), now: .zero) } else { limiter.release(Self.member(number)) }
        }
        let again = limiter.admit(Self.member(5_000), now: .zero + .seconds(1))
        #expect(again)
    }

    @Test func `one IPv6 network fills half of the table of other dialects' devices`() {
        var table = DialectTable()
        func take(_ address: IPAddress) -> DialectTable.Change {
            table.take(
                DeviceDescription(.ssdp, isRouter: true), at: DiscoveredRouter.Place(address, interface: 2), neighbour: nil, now: .zero)
        }
        var refused = 0
        for number in 0..<6_000 where take(Self.member(number)) == .refused { refused += 1 }
        #expect(refused == 6_000 - DialectTable.devicesPerNetwork)
        #expect(take(.v4(10, 0, 0, 1)) != .refused)
        // What is forgotten gives its place back.
        let lost = table.forget(interface: 2, isV4: false).lost
        #expect(lost.count == DialectTable.devicesPerNetwork)
        #expect(take(Self.member(9_000)) != .refused)
    }
}
