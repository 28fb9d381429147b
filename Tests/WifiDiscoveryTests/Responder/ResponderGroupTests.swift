import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct ResponderGroupTests {
    static let source = Endpoint(.v4(192, 0, 2, 200), port: 50_000)
    static let lan = NetworkInterface(
        index: 4, name: "lan", addresses: [.init(.v4(192, 0, 2, 1), prefixLength: 24, broadcast: .v4(192, 0, 2, 255))],
        flags: [.up, .multicast])

    static func group(
        _ routers: ClosedRange<Int> = 1...1, _ configuration: ResponderConfiguration = ResponderConfiguration(announces: false),
        faults: ReplyFaults = ReplyFaults()
    ) -> ResponderGroup {
        var group = ResponderGroup(configuration, generator: SeededGenerator(seed: 3))
        group.setInterfaces([lan])
        for number in routers { group.add(SimulatedLAN.router(number), faults: faults, now: .zero) }
        return group
    }

    static func probe(_ nonce: UInt64, wait: Int = 0, bssid: MACAddress? = nil, known: [MACAddress] = [], mac: MACAddress? = nil) -> [UInt8]
    {
        let probe = Probe(nonce: HexToken(nonce), maxWaitMilliseconds: wait, bssid: bssid, known: known, mac: mac)
        return DiscoveryDatagram(msgId: UInt32(nonce), .probe(probe)).encoded()
    }

    @discardableResult
    static func ask(
        _ group: inout ResponderGroup, _ bytes: [UInt8], from source: Endpoint = source, interface: UInt32 = 4, at now: Instant = .zero
    )
        -> ProbeOutcome
    {
        group.received(bytes.span.bytes, from: source, interface: interface, now: now)
    }

    @Test func `a probe is answered to its source with its nonce and msgId`() throws {
        var group = Self.group()
        guard case .answered(by: 1, _, msgId: 7) = Self.ask(&group, Self.probe(7), at: .zero + .seconds(90)) else {
            return #expect(Bool(false))
        }
        let replies = group.takeDatagrams()
        #expect(replies.map(\.destination) == [.source(Self.source, interface: 4)])
        var expected = SimulatedLAN.router(1)
        expected.uptime = 90
        #expect(try DiscoveryDatagramTests.parse(replies[0].bytes) == DiscoveryDatagram(msgId: 7, .reply(nonce: HexToken(7), expected)))
        #expect(replies[0].router == SimulatedLAN.mac(1))
    }

    @Test func `replies are spread over the wait, the BSSID's owner answers at once`() {
        var group = Self.group(1...200)
        Self.ask(&group, Self.probe(7, wait: 1000, bssid: SimulatedLAN.mac(5 + 0x80_0000)))
        #expect(group.takeDatagrams().map(\.router) == [SimulatedLAN.mac(5)])
        var quarters = [0, 0, 0, 0]
        while let due = group.deadline {
            group.advance(now: due)
            quarters[min(Int((due - .zero).inMilliseconds / 250), 3)] += group.takeDatagrams().count
        }
        #expect(quarters.reduce(0, +) == 199)
        #expect(quarters.allSatisfy { $0 > 25 }, "\(quarters)")
    }

    @Test func `known routers stay silent, and all but the one that is asked for`() {
        var group = Self.group(1...3)
        Self.ask(&group, Self.probe(1, known: [SimulatedLAN.mac(1), SimulatedLAN.mac(3)]))
        #expect(group.takeDatagrams().map(\.router) == [SimulatedLAN.mac(2)])
        Self.ask(&group, Self.probe(2, mac: SimulatedLAN.mac(3)))
        #expect(group.takeDatagrams().map(\.router) == [SimulatedLAN.mac(3)])
        guard case .silent = Self.ask(&group, Self.probe(3, mac: SimulatedLAN.mac(9))) else { return #expect(Bool(false)) }
        #expect(group.takeDatagrams().isEmpty)
    }

    @Test func `a probe is answered once, however often it comes`() {
        var group = Self.group()
        Self.ask(&group, Self.probe(1))
        #expect(Self.ask(&group, Self.probe(1)) == .repeated)
        #expect(Self.ask(&group, Self.probe(1), at: .zero + .seconds(9)) == .repeated)
        #expect(group.takeDatagrams().count == 1)
        // The same nonce of another asker is another probe.
        Self.ask(&group, Self.probe(1), from: Endpoint(Self.source.address, port: 50_001))
        #expect(group.takeDatagrams().count == 1)
    }

    @Test func `a source gets ten answers in any second`() {
        var group = Self.group()
        var times: [Instant] = []
        for step in 0..<300 {
            let now = Instant.zero + .milliseconds(10 * step)
            Self.ask(&group, Self.probe(UInt64(step + 1)), at: now)
            times += group.takeDatagrams().map { _ in now }
        }
        for (index, time) in times.enumerated() where index >= 10 { #expect(time - times[index - 10] >= .seconds(1)) }
        #expect(times.count == 30)
        #expect(group.counters.rateLimited == 270)
    }

    @Test func `waiting replies count, so that they can't leave in one burst`() {
        var group = Self.group()
        var times: [Instant] = []
        func pass(until end: Instant) {
            while let due = group.deadline, due <= end {
                group.advance(now: due)
                times += group.takeDatagrams().map { _ in due }
            }
        }
        for step in 0..<40 {
            let now = Instant.zero + .milliseconds(50 * step)
            pass(until: now)
            Self.ask(&group, Self.probe(UInt64(step + 1), wait: 2000), at: now)
        }
        pass(until: .distantFuture)
        for (index, time) in times.enumerated() where index >= 10 { #expect(time - times[index - 10] >= .seconds(1)) }
        #expect(times.count >= 10)
    }

    @Test func `a router gives 200 answers in any second, to whomever`() {
        var group = Self.group()
        var times: [Instant] = []
        for step in 0..<2000 {
            let now = Instant.zero + .milliseconds(step)
            let source = Endpoint(.v4(192, 0, 2, UInt8(step % 250)), port: 1000)
            Self.ask(&group, Self.probe(UInt64(step + 1)), from: source, at: now)
            times += group.takeDatagrams().map { _ in now }
        }
        for (index, time) in times.enumerated() where index >= 200 { #expect(time - times[index - 200] >= .seconds(1)) }
        #expect(times.count > 350 && times.count <= 400)
    }

    @Test func `only neighbours are answered`() {
        var group = Self.group()
        let strangers: [(Endpoint, UInt32)] = [
            (Endpoint(.v4(203, 0, 113, 1), port: 5), 4), (Endpoint(.v4(192, 0, 2, 255), port: 5), 4),
            (Endpoint(.v4(255, 255, 255, 255), port: 5), 4),
            (Endpoint(.v4(224, 0, 0, 1), port: 5), 4), (Endpoint(.any, port: 5), 4), (Endpoint(.v4(127, 0, 0, 1), port: 5), 4),
            (Endpoint(.v4(192, 0, 2, 200), port: 0), 4), (Self.source, 5),
            (Endpoint(.v6(high: 0x2001_0DB8 << 32, low: 1, scope: 0), port: 5), 4),
        ]
        for (index, stranger) in strangers.enumerated() {
            #expect(Self.ask(&group, Self.probe(UInt64(index + 1)), from: stranger.0, interface: stranger.1) == .offLink, "\(stranger)")
        }
        #expect(group.takeDatagrams().isEmpty && group.counters.offLink == strangers.count)
        let neighbours = [Endpoint(.v4(169, 254, 3, 4), port: 5), Endpoint(.v6(high: 0xFE80 << 48, low: 1, scope: 4), port: 5)]
        for (index, neighbour) in neighbours.enumerated() { Self.ask(&group, Self.probe(UInt64(100 + index)), from: neighbour) }
        #expect(group.takeDatagrams().count == 2)
    }

    @Test func `a controller on the same machine is answered by whichever interface it comes in`() {
        var group = Self.group()
        Self.ask(&group, Self.probe(1), from: Endpoint(.v4(192, 0, 2, 1), port: 5), interface: 1)
        #expect(group.takeDatagrams().map(\.destination) == [.source(Endpoint(.v4(192, 0, 2, 1), port: 5), interface: 1)])
    }

    @Test("a reply is at most three times its probe and 1,200 bytes", arguments: [62, 80, 100, 150, 400, 700, 1472])
    func amplification(length: Int) throws {
        var group = ResponderGroup(ResponderConfiguration(announces: false), generator: SeededGenerator(seed: 3))
        group.setInterfaces([Self.lan])
        group.add(ReplyEncoderTests.largest, now: .zero)
        let bare = #"{"probe":{"nonce":"0000000000000001""#
        let pad = length - 10 - bare.utf8.count - 2
        let body = bare + (pad >= 9 ? #","pad":"\#(String(repeating: ".", count: pad - 9))""# : "") + "}}"
        let bytes = DiscoveryDatagram.frame(msgId: 1, body: Array(body.utf8))
        Self.ask(&group, bytes)
        for reply in group.takeDatagrams() {
            #expect(reply.bytes.count <= min(3 * bytes.count, 1200))
            guard case .reply = try DiscoveryDatagramTests.parse(reply.bytes).message else { return #expect(Bool(false)) }
        }
        #expect(group.counters.replies + group.counters.unanswerable == 1)
        if length >= 150 { #expect(group.counters.replies == 1) }
    }

    @Test func `announced at start, on change and every 60 s, with a goodbye at the end`() throws {
        var group = Self.group(1...1, ResponderConfiguration())
        var said: [(Double, DiscoveryDatagram.Message)] = []
        func collect(_ now: Instant) throws {
            for datagram in group.takeDatagrams() {
                #expect(datagram.destination == .group)
                said.append(((now - .zero).inMilliseconds / 1000, try DiscoveryDatagramTests.parse(datagram.bytes).message))
            }
        }
        try collect(.zero)
        while let due = group.deadline, due < .zero + .seconds(130) {
            group.advance(now: due)
            try collect(due)
        }
        group.update(SimulatedLAN.router(1), now: .zero + .seconds(130))
        try collect(.zero + .seconds(130))
        for boot in [UInt64(2), 3, 4] { group.update(SimulatedLAN.router(1, boot: boot), now: .zero + .seconds(131)) }
        try collect(.zero + .seconds(131))
        while let due = group.deadline, due < .zero + .seconds(140) {
            group.advance(now: due)
            try collect(due)
        }
        group.remove(SimulatedLAN.mac(1), now: .zero + .seconds(140))
        try collect(.zero + .seconds(140))
        #expect(said.map(\.0) == [0, 60, 120, 131, 132, 140])
        #expect(said.last?.1 == .bye(mac: SimulatedLAN.mac(1), boot: HexToken(4)))
        guard case .announce(let router) = said[4].1 else { return #expect(Bool(false)) }
        #expect(router.boot == HexToken(4) && router.uptime == 132)
    }

    @Test func `many that start together spread their announcements`() {
        var group = Self.group(1...1000, ResponderConfiguration())
        var early = group.takeDatagrams().count
        while let due = group.deadline, due < .zero + .seconds(2) {
            group.advance(now: due)
            early += group.takeDatagrams().count
        }
        #expect(early == 1000 && group.counters.announcements == 1000)
    }

    @Test func `faults are shown on purpose`() throws {
        var lossy = Self.group(faults: ReplyFaults(loss: 1))
        Self.ask(&lossy, Self.probe(1))
        #expect(lossy.takeDatagrams().isEmpty && lossy.counters.lost == 1)
        var late = Self.group(faults: ReplyFaults(delay: .milliseconds(200)))
        Self.ask(&late, Self.probe(1))
        #expect(late.takeDatagrams().isEmpty && late.deadline == Instant.zero + .milliseconds(200))
        var double = Self.group(faults: ReplyFaults(duplicates: true))
        Self.ask(&double, Self.probe(1))
        #expect(double.takeDatagrams().count == 2)
        var wrong = Self.group(faults: ReplyFaults(wrongNonce: true))
        Self.ask(&wrong, Self.probe(1))
        guard case .reply(let nonce, _) = try DiscoveryDatagramTests.parse(wrong.takeDatagrams()[0].bytes).message else {
            return #expect(Bool(false))
        }
        #expect(nonce != HexToken(1))
    }

    @Test func `replies may go to the group`() {
        var group = Self.group(1...1, ResponderConfiguration(repliesToGroup: true, announces: false))
        Self.ask(&group, Self.probe(1))
        #expect(group.takeDatagrams().map(\.destination) == [.group])
    }

    @Test func `garbage and other routers' messages are passed over`() {
        var group = Self.group()
        for example in DiscoveryDatagramTests.invalid { #expect(Self.ask(&group, example.1) == .invalid(example.2)) }
        #expect(Self.ask(&group, DiscoveryDatagram(msgId: 1, .announce(SimulatedLAN.router(2))).encoded()) == .notAProbe)
        group.receivedOversize()
        #expect(group.counters.invalid.values.reduce(0, +) == DiscoveryDatagramTests.invalid.count + 1)
        #expect(group.takeDatagrams().isEmpty && group.deadline == nil)
    }

    @Test func `a router that is gone gives no answer that was under way`() {
        var group = Self.group(1...3)
        Self.ask(&group, Self.probe(1, wait: 2000))
        group.remove(SimulatedLAN.mac(2), now: .zero)
        group.advance(now: .zero + .seconds(3))
        #expect(Set(group.takeDatagrams().map(\.router)) == [SimulatedLAN.mac(1), SimulatedLAN.mac(3)])
        Self.ask(&group, Self.probe(2, mac: SimulatedLAN.mac(3)), at: .zero + .seconds(3))
        #expect(group.takeDatagrams().map(\.router) == [SimulatedLAN.mac(3)])
    }

    @Test func `a flood of probes waits within bounds`() {
        var group = Self.group(1...100)
        for number in 0..<3000 {
            Self.ask(&group, Self.probe(UInt64(number + 1), wait: 2000), from: Endpoint(.v4(192, 0, 2, UInt8(number % 250)), port: 9))
        }
        var replies = 0
        while let due = group.deadline {
            group.advance(now: due)
            replies += group.takeDatagrams().count
        }
        #expect(replies == 100 * 200)
    }
}
