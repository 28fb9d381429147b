import SocketCore
import Testing

@testable import WifiDiscovery

/// Replies in one router's name that contradict each other: each is a claim, and all of them are kept to be asked.
@Suite struct OfferTests {
    private static func offer(_ host: UInt8, _ port: UInt16, tls: Bool) -> DiscoveredRouter.Offer {
        DiscoveredRouter.Offer(Endpoint(.v4(192, 0, 2, host), port: port), tls: tls)
    }

    /// What a scan makes of replies to its first probe, all of them of router 1: the host that each comes from, its port, whether with TLS.
    private func scan(_ replies: [(host: UInt8, port: UInt16, tls: Bool)]) throws -> SimulatedLAN {
        var lan = SimulatedLAN()
        lan.start()
        let (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
        for reply in replies {
            var router = SimulatedLAN.router(1)
            (router.tcp, router.tls) = (reply.port, reply.tls)
            let datagram = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, router)).encoded()
            lan.inject(datagram, from: Endpoint(.v4(192, 0, 2, reply.host), port: 19510))
        }
        return lan
    }

    @Test func `a forged reply that comes first from the router's own address hides nothing that the router offers`() throws {
        let lan = try scan([(1, 1, false), (1, 19510, true), (1, 19510, true)])
        #expect(lan.core.routers[0].offers == [Self.offer(1, 1, tls: false), Self.offer(1, 19510, tls: true)])
        #expect(lan.core.counters.duplicates == 1)
        let subject = RouterVerifier.Subject(lan.foundRouter)
        #expect(subject.offersTLS && subject.endpoint == Endpoint(.v4(192, 0, 2, 1), port: 19510))
        #expect(subject.alternates.isEmpty)
    }

    @Test func `a clone at another address and port is asked beside the router, at its own port`() throws {
        let lan = try scan([(1, 7000, true), (9, 8000, true)])
        let subject = RouterVerifier.Subject(lan.foundRouter)
        #expect(subject.endpoint == Endpoint(.v4(192, 0, 2, 1), port: 7000))
        let others: [(UInt8, UInt16)] = [(9, 8000), (1, 19510), (9, 19510)]
        #expect(subject.alternates == others.map { Endpoint(.v4(192, 0, 2, $0.0), port: $0.1) })
    }

    @Test func `where nobody offers TLS nobody is asked`() throws {
        let subject = RouterVerifier.Subject(try scan([(1, 7000, false), (9, 8000, false)]).foundRouter)
        #expect(!subject.offersTLS && subject.alternates.isEmpty)
    }

    /// The probe that was sent to one address alone, if any was.
    private func direct(_ lan: SimulatedLAN, to host: UInt8) throws -> (probe: Probe, msgId: UInt32)? {
        let sent = lan.probes.last { $0.probe.destination.address == .v4(192, 0, 2, host) }
        guard let bytes = sent?.probe.bytes else { return nil }
        let datagram = try DiscoveryDatagram.parse(bytes.span.bytes)
        guard case .probe(let probe) = datagram.message else { return nil }
        return (probe, datagram.msgId)
    }

    @Test func `a flood from the router's own address can't hide its port: it's asked alone, and what it answers comes first`() throws {
        var lan = try scan((0..<DiscoveryBounds.repliesPerSource + 1_000).map { (1, UInt16(20_000 + $0), true) })
        #expect(lan.core.routers[0].offers.count == DiscoveryBounds.offersPerPlace)
        #expect(lan.core.counters.rateLimited > 0, "the flood used up what its address may send")
        lan.run(until: .milliseconds(10))
        let asked = try #require(try direct(lan, to: 1))
        let first = try DiscoveryFloodTests.asked(lan)
        #expect(asked.probe.mac == nil && asked.probe.nonce != first.nonce)
        var router = SimulatedLAN.router(1)
        (router.tcp, router.tls) = (7000, true)
        // Another address that guessed the nonce is no better than any other claim.
        let answer = DiscoveryDatagram(msgId: asked.msgId, .reply(nonce: asked.probe.nonce, router)).encoded()
        lan.inject(answer, from: Endpoint(.v4(192, 0, 2, 9), port: 19510))
        #expect(lan.core.routers[0].offers.first != Self.offer(1, 7000, tls: true))
        lan.inject(answer, from: Endpoint(.v4(192, 0, 2, 1), port: 19510))
        #expect(lan.core.routers[0].offers.first == Self.offer(1, 7000, tls: true))
        #expect(lan.core.routers[0].offers.count <= 2 * DiscoveryBounds.offersPerPlace)
        let subject = RouterVerifier.Subject(lan.foundRouter)
        #expect(([subject.endpoint] + subject.alternates).contains(Endpoint(.v4(192, 0, 2, 1), port: 7000)))
    }

    @Test func `who is really there isn't driven out by made up places, and an honest router isn't asked twice`() throws {
        var lan = try scan([(1, 7000, true)])
        lan.run(until: .milliseconds(10))
        #expect(try direct(lan, to: 1) == nil)
        let (nonce, msgId) = try DiscoveryFloodTests.asked(lan)
        var router = SimulatedLAN.router(1)
        func reply(_ host: UInt8, _ port: UInt16, _ nonce: HexToken, _ msgId: UInt32) {
            (router.tcp, router.tls) = (port, true)
            let datagram = DiscoveryDatagram(msgId: msgId, .reply(nonce: nonce, router)).encoded()
            lan.inject(datagram, from: Endpoint(.v4(192, 0, 2, host), port: 19510))
        }
        reply(1, 8000, nonce, msgId)
        lan.run(until: .milliseconds(20))
        let asked = try #require(try direct(lan, to: 1))
        reply(1, 7000, asked.probe.nonce, asked.msgId)
        for host in UInt8(20)...100 { reply(host, 9000, nonce, msgId) }
        #expect(lan.core.routers[0].offers.contains(Self.offer(1, 7000, tls: true)))
    }

    @Test func `more ports and addresses than a list has room for leave a bounded one`() throws {
        // Eight ports at each of 256 addresses.
        let flood = (0..<2_048).map { (host: UInt8(truncatingIfNeeded: $0 / 8), port: UInt16(20_000 + $0), tls: true) }
        let lan = try scan([(1, 7000, true)] + flood)
        #expect(lan.core.routers.count == 1)
        let router = lan.core.routers[0]
        #expect(router.offers.count <= DiscoveryBounds.placesPerRouter * DiscoveryBounds.offersPerPlace)
        #expect(Set(router.offers.map(\.endpoint.address)).count <= DiscoveryBounds.placesPerRouter)
        #expect(RouterVerifier.Subject(lan.foundRouter).alternates.count < RouterVerifier.Subject.mostPlaces)
    }
}

extension SimulatedLAN {
    /// The first router, as a scan's caller gets it.
    var foundRouter: FoundRouter {
        FoundRouter(
            discovered: core.routers[0], grading: Grading(.none, .unrelated, distance: nil), evidence: Evidence(), interface: "sim0")
    }
}
