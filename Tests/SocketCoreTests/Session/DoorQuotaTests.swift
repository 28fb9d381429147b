import Testing

@testable import SocketCore

struct DoorQuotaTests {
    /// One of many IPv4 hosts.
    private static func host(_ number: Int) -> IPAddress { .v4(0x0A00_0000 | UInt32(number)) }
    /// One of many addresses of an IPv6 /64.
    private static func member(_ number: Int, of network: UInt64 = 0x2001_0DB8_0000_0001, scope: UInt32 = 0) -> IPAddress {
        .v6(high: network, low: UInt64(number), scope: scope)
    }

    private func enter(_ quota: inout DoorQuota, _ source: IPAddress) throws -> DoorQuota.Ticket {
        guard case .admitted(let ticket, _) = quota.admit(source) else { throw Refused() }
        return ticket
    }
    private struct Refused: Error {}

    @Test func `one address has sixteen handshakes under way and no more, until one is done`() throws {
        var quota = DoorQuota.handshakes
        var tickets: [DoorQuota.Ticket] = []
        for _ in 0..<16 { tickets.append(try enter(&quota, Self.host(1))) }
        let answers = [quota.admit(Self.host(1)), quota.admit(Self.host(1))]
        #expect(answers == [.refused, .refused] && quota.refusedCount == 2)
        quota.finish(tickets[3])
        quota.finish(tickets[3])
        let again = quota.admit(Self.host(1))
        #expect(again != .refused && quota.count == 16)
    }

    @Test func `one address has its share of greetings, and its oldest silent one gives way`() throws {
        var quota = DoorQuota.greetings
        var tickets: [DoorQuota.Ticket] = []
        for _ in 0..<quota.perSource { tickets.append(try enter(&quota, Self.host(1))) }
        let other = try enter(&quota, Self.host(2))
        for turn in 0..<100 {
            guard case .admitted(_, let displaced?) = quota.admit(Self.host(1)) else { throw Refused() }
            #expect(displaced == tickets[turn] && displaced != other)
        }
        #expect(quota.count == quota.perSource + 1 && quota.displacedCount == 100 && quota.refusedCount == 0)
    }

    @Test(arguments: [DoorQuota.handshakes, .greetings])
    func `a flood from few sources displaces itself, not the honest`(of kind: DoorQuota) throws {
        var quota = kind
        let honest = try enter(&quota, Self.host(0))
        for number in 0..<10_000 {
            if case .admitted(_, let displaced) = quota.admit(Self.host(1 + number % 40)) { #expect(displaced != honest) }
            #expect(quota.count <= quota.total)
        }
        _ = try enter(&quota, Self.host(1_000))
    }

    @Test(arguments: [DoorQuota.handshakes, .greetings])
    func `a host that has a whole IPv6 network displaces itself, however many of its addresses it comes from`(of kind: DoorQuota) throws {
        var quota = kind
        let honest = [try enter(&quota, Self.host(1)), try enter(&quota, Self.member(1, of: 0x2001_0DB8_0000_0002))]
        for number in 0..<5_000 {
            guard case .admitted(_, let displaced) = quota.admit(Self.member(number)) else { throw Refused() }
            #expect(displaced.map(honest.contains) != true)
        }
        #expect(quota.count == quota.total)
        // A newcomer from elsewhere costs the flood a place.
        guard case .admitted(let late, .some) = quota.admit(Self.host(2)) else { throw Refused() }
        for number in 5_000..<10_000 { #expect(quota.admit(Self.member(number)) != .admitted(late, displacing: late)) }
        #expect(quota.count == quota.total)
    }

    @Test func `in one network, as on one link, the address with the most gives way first`() throws {
        var quota = DoorQuota.handshakes
        let honest = try enter(&quota, Self.member(1, of: 0xFE80 << 48, scope: 2))
        for number in 0..<quota.total - 1 { _ = quota.admit(Self.member(2 + number % 16, of: 0xFE80 << 48, scope: 2)) }
        for number in 0..<1_000 {
            if case .admitted(_, let displaced) = quota.admit(Self.member(2 + number % 32, of: 0xFE80 << 48, scope: 2)) {
                #expect(displaced != honest)
            }
        }
        // Another link is another network.
        #expect(Self.member(1, of: 0xFE80 << 48, scope: 2).network != Self.member(1, of: 0xFE80 << 48, scope: 3).network)
    }

    @Test func `a flood from many sources needs as many connections as there are places to displace one`() throws {
        var quota = DoorQuota.handshakes
        for number in 0..<1_000 { _ = quota.admit(Self.host(number)) }
        let honest = try enter(&quota, Self.host(5_000))
        for number in 2_000..<(2_000 + quota.total - 1) {
            if case .admitted(_, let displaced) = quota.admit(Self.host(number)) { #expect(displaced != honest) }
        }
        #expect(quota.count == quota.total)
    }
}

/// Who gives way when all sessions of a listener are taken.
struct SessionPlacesTests {
    private static let places = 160
    private func kept(_ host: Int, _ number: Int, gone: Int64? = nil, owes: Bool = false) -> SessionPlaces.Kept {
        SessionPlaces.Kept(
            source: .v4(10, 0, UInt8(host >> 8), UInt8(host & 255)), offlineSince: gone.map { Instant(nanoseconds: $0) }, owes: owes,
            number: UInt64(number))
    }
    private func source(_ host: Int) -> IPAddress { .v4(10, 0, UInt8(host >> 8), UInt8(host & 255)) }

    @Test func `one network that has taken all places loses its newest connected sessions to newcomers, down to its part`() {
        var all = (0..<Self.places).map { kept(1, $0) }
        let first = SessionPlaces.giveWay(among: all, to: source(2), places: Self.places)
        #expect(first == Array((Self.places - 10..<Self.places).reversed()))
        // It gets nothing for itself.
        #expect(SessionPlaces.giveWay(among: all, to: source(1), places: Self.places).isEmpty)
        // 80 of others: each has its part then.
        all = (0..<80).map { kept(1, $0) } + (0..<80).map { kept(2, 100 + $0) }
        #expect(SessionPlaces.giveWay(among: all, to: source(1), places: Self.places).isEmpty)
        #expect(SessionPlaces.giveWay(among: all, to: source(2), places: Self.places).isEmpty)
        #expect(SessionPlaces.giveWay(among: all, to: source(3), places: Self.places).count == 10)
    }

    @Test func `a flood costs nobody else the resumption`() {
        let honest = (0..<16).map { kept(100 + $0, $0, gone: 1) }
        let all = honest + (0..<Self.places - 16).map { kept(1, 50 + $0, gone: $0 < 5 ? 9 : nil) }
        // First the flood's own that are gone, though the honest are gone for longer; then its connected ones.
        #expect(SessionPlaces.giveWay(among: all, to: source(2), places: Self.places) == [16, 17, 18, 19, 20])
        #expect(SessionPlaces.giveWay(among: all, to: source(1), places: Self.places) == [16, 17, 18, 19, 20])
        let connected = honest + (0..<Self.places - 16).map { kept(1, 50 + $0) }
        #expect(SessionPlaces.giveWay(among: connected, to: source(1), places: Self.places).isEmpty)
        let lost = SessionPlaces.giveWay(among: connected, to: source(2), places: Self.places)
        #expect(lost.count == 10 && lost.allSatisfy { $0 >= 16 })
    }

    @Test func `without a flood those gone give way, the ones that owe nothing first, the longest gone first`() {
        let all = (0..<Self.places).map { kept($0, $0, gone: $0 % 2 == 0 ? Int64(1_000 - $0) : nil, owes: $0 % 4 == 0) }
        let gone = SessionPlaces.giveWay(among: all, to: source(500), places: Self.places)
        #expect(gone == [158, 154, 150, 146, 142, 138, 134, 130, 126, 122])
        // One's own before anybody else's.
        #expect(SessionPlaces.giveWay(among: all, to: source(4), places: Self.places) == [4])
    }
}
