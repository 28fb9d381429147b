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

    @Test func `ten thousand ports and addresses leave a bounded list`() throws {
        let flood = (0..<10_000).map { (host: UInt8(truncatingIfNeeded: $0 / 40), port: UInt16(20_000 + $0), tls: true) }
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
