import SocketCore
import Testing

@testable import WifiDiscovery

/// Each rule of a router's own, just on either side of where it begins.
@Suite struct ResponderEdgeTests {
    private typealias Group = ResponderGroupTests

    private func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test func `the eleventh answer to one source comes a second after the first, and not a millisecond sooner`() {
        var group = Group.group()
        for number in 1...10 { Group.ask(&group, Group.probe(UInt64(number)), at: at(number)) }
        #expect(group.takeDatagrams().count == 10)
        for (milliseconds, answers) in [(11, 0), (1_000, 0), (1_001, 1), (1_001, 0), (1_002, 1)] {
            Group.ask(&group, Group.probe(UInt64(1_000 + group.counters.probes)), at: at(milliseconds))
            #expect(group.takeDatagrams().count == answers, "at \(milliseconds) ms")
        }
    }

    @Test func `the 201st answer in a second goes to nobody, whoever asks`() {
        var group = Group.group()
        let source = { (number: Int) in Endpoint(.v4(192, 0, 2, UInt8(1 + number)), port: 9) }
        for number in 0..<200 { Group.ask(&group, Group.probe(UInt64(number + 1)), from: source(number)) }
        #expect(group.takeDatagrams().count == 200)
        for (milliseconds, answers) in [(999, 0), (1_000, 1)] {
            Group.ask(&group, Group.probe(UInt64(5_000 + milliseconds)), from: source(201), at: at(milliseconds))
            #expect(group.takeDatagrams().count == answers, "at \(milliseconds) ms")
        }
    }

    @Test(
        "on-link is the interface's own network, and not an address more",
        arguments: [
            (IPAddress.v4(192, 0, 2, 254), true), (.v4(192, 0, 2, 255), false), (.v4(192, 0, 1, 255), false),
            (.v4(192, 0, 3, 0), false), (.v4(169, 253, 255, 255), false), (.v4(169, 254, 0, 1), true), (.v4(169, 255, 0, 0), false),
            (.v6(high: 0xFE80 << 48, low: 1, scope: 4), true), (.v6(high: 0xFEC0 << 48, low: 1, scope: 0), false),
        ] as [(IPAddress, Bool)])
    func onLink(source: IPAddress, isAnswered: Bool) {
        var group = Group.group()
        Group.ask(&group, Group.probe(1), from: Endpoint(source, port: 9))
        #expect(group.takeDatagrams().count == (isAnswered ? 1 : 0))
        #expect(group.counters.offLink == (isAnswered ? 0 : 1))
    }

    @Test("replies are spread over the whole wait and never beyond it", arguments: [0, 1, 100, 2_000])
    func jitter(wait: Int) {
        var group = Group.group(1...400)
        Group.ask(&group, Group.probe(1, wait: wait))
        var times = group.takeDatagrams().map { _ in 0.0 }
        while let due = group.deadline {
            group.advance(now: due)
            times += group.takeDatagrams().map { _ in (due - .zero).inMilliseconds }
        }
        #expect(times.count == 400)
        #expect(times.allSatisfy { (0...Double(wait)).contains($0) }, "\(times.max() ?? 0)")
        #expect((times.min() ?? 0) <= 0.1 * Double(wait) && (times.max() ?? 0) >= 0.9 * Double(wait))
    }

    @Test func `of 64 known routers the last one is silent too, and its neighbour in number isn't`() {
        var group = Group.group(1...65)
        Group.ask(&group, Group.probe(1, known: (1...64).map { SimulatedLAN.mac($0) }))
        #expect(group.takeDatagrams().map(\.router) == [SimulatedLAN.mac(65)])
    }

    @Test func `a reply may have three bytes for each of its probe, up to 1,200`() {
        for length in 1...DiscoveryDatagram.maximumByteCount {
            #expect(ReplyEncoder.limit(forProbeOf: length) == min(3 * length, 1_200), "\(length)")
        }
    }

    @Test func `a router at another address announces itself, once a second at most, and goes on every minute`() {
        var group = Group.group(1...1, ResponderConfiguration())
        #expect(group.takeDatagrams().count == 1)
        group.moved(now: at(400))
        group.moved(now: at(500))
        #expect(group.takeDatagrams().isEmpty && group.deadline == at(1_000))
        group.advance(now: at(1_000))
        #expect(group.takeDatagrams().map(\.destination) == [.group])
        group.advance(now: at(60_999))
        #expect(group.takeDatagrams().isEmpty)
        group.advance(now: at(61_000))
        #expect(group.takeDatagrams().count == 1)
        group.moved(now: at(70_000))
        #expect(group.takeDatagrams().count == 1)
    }
}
