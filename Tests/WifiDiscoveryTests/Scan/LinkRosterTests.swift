import SocketCore
import Testing

@testable import WifiDiscovery

struct LinkRosterTests {
    private static let start = Instant(nanoseconds: 1_000)

    private func need(_ interface: UInt32, v4 isV4: Bool = true, at last: UInt32 = 7) -> LinkRoster.Need {
        LinkRoster.Need(
            key: LinkRoster.Key(interface: interface, isV4: isV4), name: "eth\(interface)", bind: isV4 ? .any : .anyV6,
            addresses: [.v4(0xC000_0200 + last)], broadcasts: [.v4(0xC000_02FF)])
    }

    @Test func `an interface that comes is opened once`() {
        var roster = LinkRoster()
        #expect(roster.update([need(1), need(1, v4: false)], now: Self.start) == [.open(need(1)), .open(need(1, v4: false))])
        #expect(roster.update([need(1), need(1, v4: false), need(2)], now: Self.start) == [.open(need(2))])
        #expect(roster.deadline == nil)
    }

    @Test func `one that is away for a moment is asked anew, and one that stays away is closed`() {
        var roster = LinkRoster()
        _ = roster.update([need(1), need(2)], now: Self.start)
        #expect(roster.update([need(2)], now: Self.start).isEmpty)
        #expect(roster.deadline == Self.start + LinkRoster.grace)
        let before = Self.start + LinkRoster.grace + .nanoseconds(-1)
        #expect(roster.due(now: before).isEmpty)
        #expect(roster.update([need(1), need(2)], now: before) == [.renew(need(1))])
        #expect(roster.deadline == nil)
        _ = roster.update([need(2)], now: before)
        // Further changes don't put the end off.
        #expect(roster.update([need(2)], now: before + .seconds(1)).isEmpty)
        #expect(roster.due(now: before + LinkRoster.grace) == [.close(need(1).key, name: "eth1")])
        #expect(!roster.holds(1) && roster.holds(2) && roster.deadline == nil)
        #expect(roster.update([need(1), need(2)], now: before + .seconds(9)) == [.open(need(1))])
    }

    @Test func `another address makes it ask anew, and what couldn't be opened is tried again`() {
        var roster = LinkRoster()
        _ = roster.update([need(1)], now: Self.start)
        #expect(roster.update([need(1, at: 8)], now: Self.start) == [.renew(need(1, at: 8))])
        #expect(roster.update([need(1, at: 8)], now: Self.start).isEmpty)
        roster.failed(need(1).key)
        #expect(roster.update([need(1, at: 8)], now: Self.start) == [.open(need(1, at: 8))])
    }
}
