import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct DiscoveryFloodTests {
    static func source(_ number: Int) -> Endpoint { Endpoint(.v4(0xC000_0000 | UInt32(number) & 0xFFFF), port: 19510) }

    /// What the first probe of the scan asked with.
    static func asked(_ lan: SimulatedLAN) throws -> (nonce: HexToken, msgId: UInt32) {
        let parsed = try DiscoveryDatagramTests.parse(try #require(lan.probes.first).probe.bytes)
        guard case .probe(let probe) = parsed.message else { return (HexToken(0), 0) }
        return (probe.nonce, parsed.msgId)
    }

    @Test func `forged replies with another nonce are counted and leave nothing`() {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        var generator = SeededGenerator(seed: 5)
        for number in 0..<5_000 {
            let forged = DiscoveryDatagram(msgId: 1, .reply(nonce: HexToken(generator.next()), SimulatedLAN.router(number)))
            lan.inject(forged.encoded(), from: Self.source(number))
        }
        lan.run(until: .seconds(3))
        #expect(lan.core.counters.stale == 5_000)
        #expect(lan.found == [SimulatedLAN.mac(1)])
    }

    @Test func `the right nonce on the wrong socket, with the wrong msgId or too late is stale`() throws {
        var lan = SimulatedLAN(DiscoveryConfiguration(duration: nil))
        lan.start([SimulatedLAN.link(1), SimulatedLAN.link(2, interface: 3)])
        let (nonce, msgId) = try Self.asked(lan)
        let bytes = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, SimulatedLAN.router(1))).encoded()
        lan.inject(bytes, from: Self.source(1), link: 2)
        lan.inject(bytes, from: Self.source(1), link: nil)
        lan.inject(bytes, from: Self.source(1), link: 99)
        lan.inject(DiscoveryDatagram(msgId: msgId &+ 1, .reply(nonce: nonce, SimulatedLAN.router(1))).encoded(), from: Self.source(1))
        lan.run(until: .milliseconds(10_001))
        lan.inject(bytes, from: Self.source(1))
        #expect(lan.core.counters.stale == 5 && lan.core.routers.isEmpty)
        #expect(lan.core.counters.replies == 0)
    }

    @Test func `a listener who forges replies with the right nonce fills a half at most`() throws {
        var lan = SimulatedLAN()
        lan.start()
        let (nonce, msgId) = try Self.asked(lan)
        var forged = ForgedReplies(SimulatedLAN.router(10), nonce: nonce, msgId: msgId)
        for number in 0..<3_000 { lan.inject(forged.reply(SimulatedLAN.mac(number + 10)), from: Self.source(66)) }
        #expect(lan.core.routers.count == DiscoveryBounds.routersPerSource)
        #expect(lan.core.counters.rateLimited == 3_000 - DiscoveryBounds.routersPerSource)
        let honest = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, SimulatedLAN.router(1)))
        lan.inject(honest.encoded(), from: Self.source(1))
        #expect(lan.core.router(SimulatedLAN.mac(1)) != nil)
    }

    @Test func `from many sources they fill the bounds and no more`() throws {
        var lan = SimulatedLAN()
        lan.start()
        let (nonce, msgId) = try Self.asked(lan)
        var forged = ForgedReplies(SimulatedLAN.router(0), nonce: nonce, msgId: msgId)
        for number in 0..<6_000 { lan.inject(forged.reply(SimulatedLAN.mac(number)), from: Self.source(number)) }
        #expect(lan.core.routers.count == DiscoveryBounds.routers)
        #expect(lan.core.counters.replies == DiscoveryBounds.routers)
        #expect(lan.core.counters.rateLimited == 6_000 - DiscoveryBounds.routers)
    }

    @Test func `announcements fill a quarter, cause few probes and give way to answers`() throws {
        var lan = SimulatedLAN()
        lan.start()
        let (nonce, msgId) = try Self.asked(lan)
        for number in 0..<2_000 {
            lan.inject(DiscoveryDatagram(msgId: 0, .announce(SimulatedLAN.router(number))).encoded(), from: Self.source(number), link: nil)
        }
        #expect(lan.core.routers.count == DiscoveryBounds.announcedRouters)
        #expect(lan.core.counters.probes <= 1 + DiscoveryBounds.followUps)
        var answers = ForgedReplies(SimulatedLAN.router(20_000), nonce: nonce, msgId: msgId)
        for number in 20_000..<20_000 + DiscoveryBounds.routers {
            lan.inject(answers.reply(SimulatedLAN.mac(number)), from: Self.source(number))
        }
        #expect(lan.core.routers.count == DiscoveryBounds.routers)
        #expect(lan.core.routers.allSatisfy { $0.isConfirmed })
        #expect(lan.lost.count == DiscoveryBounds.announcedRouters && lan.lost.allSatisfy { $0 == .evicted })
    }

    @Test func `duplicates are counted once each and change nothing`() throws {
        var lan = SimulatedLAN()
        lan.start()
        let (nonce, msgId) = try Self.asked(lan)
        let bytes = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, SimulatedLAN.router(1))).encoded()
        for _ in 0..<5 { lan.inject(bytes, from: Self.source(1)) }
        #expect(lan.core.counters.replies == 1 && lan.core.counters.duplicates == 4)
        #expect(lan.events.count == 1)
    }

    @Test func `malformed datagrams disturb nobody and are counted by reason`() {
        var lan = SimulatedLAN()
        lan.add([SimulatedLAN.router(1)], host: 1)
        lan.start()
        for example in DiscoveryDatagramTests.invalid { lan.inject(example.1, from: Self.source(9)) }
        lan.core.receivedOversize()
        var expected: [DatagramError.Reason: Int] = [.tooLong: 1]
        for example in DiscoveryDatagramTests.invalid { expected[example.2.reason, default: 0] += 1 }
        #expect(lan.core.counters.invalid == expected)
        // Our own probe, come back.
        lan.inject(lan.probes[0].probe.bytes, from: Self.source(9))
        #expect(lan.core.counters.invalid[.unexpectedMessage] == 1)
        lan.inject(lan.probes[0].probe.bytes, from: Self.source(9), link: nil)
        #expect(lan.core.counters.invalid[.unexpectedMessage] == 1)
        lan.run(until: .seconds(3))
        #expect(lan.found == [SimulatedLAN.mac(1)])
    }

    @Test func `a watch renews its budget`() throws {
        var lan = SimulatedLAN(DiscoveryConfiguration(duration: nil))
        lan.start()
        let (nonce, msgId) = try Self.asked(lan)
        let bytes = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, SimulatedLAN.router(9))).encoded()
        for _ in 0..<DiscoveryBounds.repliesPerSource + 1_000 { lan.inject(bytes, from: Self.source(66)) }
        #expect(lan.core.counters.rateLimited == 1_000)
        lan.run(until: .seconds(12))
        lan.add([SimulatedLAN.router(1)], host: 66)
        lan.run(until: .seconds(30))
        #expect(lan.core.router(SimulatedLAN.mac(1)) != nil)
    }
}

/// What a scan holds, counted: it must stop growing long before a flood does.
@Suite struct DiscoveryHoldingTests {
    private struct Held: Equatable {
        var routers = 0
        var places = 0
        var bytes = 0

        /// Every text and list of an entry, and the entry.
        init(_ core: DiscoveryCore) {
            for entry in core.table.entries.values {
                let router = entry.shown.router
                routers += 1
                places += entry.records.count
                let texts = [router.name, router.vendor, router.model, router.firmware] + router.radios.flatMap { [$0.ssid, $0.band] }
                bytes += MemoryLayout<RouterEntry>.stride + texts.reduce(0) { $0 + $1.utf8.count }
                bytes += router.radios.count * MemoryLayout<RouterDescription.Radio>.stride
                bytes += router.mld.count * MemoryLayout<MACAddress>.stride + router.versions.count * 2
                bytes += entry.records.count * MemoryLayout<RouterEntry.Record>.stride
                bytes += entry.shown.alternates.count * MemoryLayout<DiscoveredRouter.Place>.stride
            }
        }
    }

    /// As long as every text and list may be, so that nothing in a table can be larger.
    private func largest(_ number: Int) -> RouterDescription {
        var router = ReplyEncoderTests.largest
        router.mac = SimulatedLAN.mac(number)
        return router
    }

    @Test func `what forged replies leave is bounded, however many come and whatever they say`() throws {
        var lan = SimulatedLAN(DiscoveryConfiguration(duration: nil))
        lan.start()
        let (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
        var held: [Held] = []
        for round in 0..<3 {
            var forged = ForgedReplies(
                round == 0 ? largest(0) : SimulatedLAN.router(10_000), nonce: nonce, msgId: msgId, limit: DiscoveryDatagram.maximumByteCount
            )
            for number in 0..<6_000 {
                let source = Endpoint(.v4(10, UInt8(round), UInt8(number >> 8), UInt8(number & 255)), port: 19510)
                lan.inject(forged.reply(SimulatedLAN.mac(number + round * 10_000)), from: source)
            }
            held.append(Held(lan.core))
        }
        #expect(held[0].routers == DiscoveryBounds.routers)
        #expect(held[1] == held[0] && held[2] == held[0])
        #expect(held[0].places <= DiscoveryBounds.routers * DiscoveryBounds.placesPerRouter)
        // 4 KiB a router: the largest datagram in memory, with its places.
        #expect(held[0].bytes <= DiscoveryBounds.routers * 4_096, "\(held[0].bytes)")
        #expect(lan.core.counters.rateLimited == 18_000 - DiscoveryBounds.routers)
    }

    @Test func `one router at any number of places keeps a bounded number`() throws {
        var lan = SimulatedLAN(DiscoveryConfiguration(duration: nil))
        lan.start()
        let (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
        let bytes = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, SimulatedLAN.router(1))).encoded()
        for number in 0..<1_000 { lan.inject(bytes, from: Endpoint(.v4(10, 0, UInt8(number >> 8), UInt8(number & 255)), port: 19510)) }
        #expect(Held(lan.core).places == DiscoveryBounds.placesPerRouter)
        #expect(lan.core.routers.count == 1)
    }
}
