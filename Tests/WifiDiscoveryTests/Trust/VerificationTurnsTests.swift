import SocketCore
import Testing

@testable import WifiDiscovery

/// Whose turn it is to be asked for proof, in simulated time: 32 at once, each at most 5 s.
struct VerificationTurnsTests {
    private static let limit = Duration.seconds(5)
    private static let atOnce = RouterVerifier.handshakesAtOnce
    private static let home = Endpoint(.v4(192, 0, 2, 1), port: 7_000)

    private static func host(_ number: Int, port: Int = 443) -> Endpoint {
        Endpoint(.v4(0xC000_0200 | UInt32(2 + number)), port: UInt16(port))
    }

    private static func claimed(_ places: Endpoint...) -> VerificationTurns.Subject { .init(standing: .claimed, places: places) }

    /// Asks all of them as a verifier does: the genuine endpoint proves in a moment, those that stall take the limit, others a millisecond.
    ///
    /// - Returns: when the genuine one had proven itself, nil for never, and how many were asked by then, or in all with `toTheEnd`.
    private func run(
        _ subjects: [VerificationTurns.Subject], stalls: (Endpoint) -> Bool, within: Duration = RouterVerifier.longest,
        toTheEnd: Bool = false
    ) -> (proven: Duration?, asked: Int) {
        var turns = VerificationTurns(subjects, limit: Self.limit)
        var running: [(turn: VerificationTurns.Turn, begun: Duration, ends: Duration)] = []
        var (now, proven, asked) = (Duration.zero, Duration?.none, 0)
        while true {
            while running.count < Self.atOnce, now < within, let turn = turns.next() {
                let endpoint = turns.endpoint(turn)
                running.append((turn, now, now + (stalls(endpoint) ? Self.limit : .milliseconds(endpoint == Self.home ? 30 : 1))))
                asked += 1
            }
            guard let index = running.indices.min(by: { running[$0].ends < running[$1].ends }) else { return (proven, asked) }
            let done = running.remove(at: index)
            now = done.ends
            let isProof = turns.endpoint(done.turn) == Self.home
            if isProof { proven = proven ?? now }
            turns.ended(done.turn, after: now - done.begun, isProof: isProof)
            if isProof, !toTheEnd { return (proven, asked) }
        }
    }

    @Test(arguments: [1, 3, 10, 254])
    func `stallers at some addresses don't use up the time, however many routers each claims to be`(sources: Int) throws {
        let stallers = (0..<4_000).map { Self.claimed(Self.host($0 % sources)) }
        let result = run(stallers + [Self.claimed(Self.home)], stalls: { $0 != Self.home })
        // Each address stalls once, at most, before the router's turn comes.
        let rounds = (sources + Self.atOnce - 1) / Self.atOnce
        #expect(try #require(result.proven) <= Self.limit * rounds + .milliseconds(30))
    }

    @Test(arguments: [VerificationTurns.Standing.proven, .plausible])
    func `a router that more speaks for comes before those that only claim, from thousands of addresses`(
        standing: VerificationTurns.Standing
    ) throws {
        let stallers = (0..<4_000).map { Self.claimed(Endpoint(.v4(0x0A00_0000 + UInt32($0)), port: 1)) }
        let result = run(stallers + [.init(standing: standing, places: [Self.home])], stalls: { $0 != Self.home })
        #expect(result.proven == .milliseconds(30))
    }

    @Test func `clones of the router at every address of the subnet leave time for its own`() throws {
        let clones = (0..<253).map { Self.host($0) }
        let contested = VerificationTurns.Subject(standing: .claimed, places: clones + [Self.home])
        let result = run([contested], stalls: { $0 != Self.home })
        #expect(try #require(result.proven) < RouterVerifier.longest)
        // With a flood of others from there beside it, and more ports at the clones' addresses.
        let ports = (0..<253).flatMap { host in (1...3).map { Self.host(host, port: $0) } }
        let flood = (0..<3_000).map { Self.claimed(Self.host($0 % 253, port: 9)) }
        let worst = VerificationTurns.Subject(standing: .plausible, places: clones + ports + [Self.home])
        #expect(try #require(run(flood + [worst], stalls: { $0 != Self.home }).proven) < RouterVerifier.longest)
    }

    @Test func `closed ports at the router's own address cost it little, whoever named them`() throws {
        let forged = (0..<1_000).map { Self.claimed(Endpoint(Self.home.address, port: UInt16($0 + 1))) }
        let stallers = (0..<1_000).map { Self.claimed(Self.host($0 % 100)) }
        let result = run(forged + stallers + [Self.claimed(Self.home)], stalls: { $0.address != Self.home.address })
        #expect(try #require(result.proven) < .seconds(30))
    }

    @Test func `a host with a whole IPv6 network stalls no longer than one address`() throws {
        let stallers = (0..<4_000).map { Self.claimed(Endpoint(.v6(high: 0xFE80 << 48, low: UInt64($0), scope: 2), port: 1)) }
        let result = run(stallers + [Self.claimed(Self.home)], stalls: { $0 != Self.home })
        #expect(result.proven == .milliseconds(30))
    }

    @Test func `all are asked where nobody stalls, each place once, and none of one that is settled`() {
        let many = (0..<1_000).map { Self.claimed(Self.host($0 % 7, port: $0)) }
        #expect(run(many, stalls: { _ in false }, toTheEnd: true).asked == 1_000)
        let settled = VerificationTurns.Subject(standing: .claimed, places: [Self.home, Self.host(1), Self.host(2)])
        #expect(run([settled], stalls: { _ in false }, toTheEnd: true).asked == 1)
        let second = VerificationTurns.Subject(standing: .claimed, places: [Self.host(1), Self.home])
        let none = VerificationTurns.Subject(standing: .claimed, places: [])
        #expect(run([second, none], stalls: { _ in false }, toTheEnd: true).asked == 2)
    }
}
