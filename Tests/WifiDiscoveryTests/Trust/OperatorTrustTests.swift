import SocketCore
import Synchronization
import Testing
import WifiDiscovery

/// A router's clock may start in 1970 as well as a controller's.
struct OperatorTrustTests {
    private static let issued = ClockFloor.releaseDate.adding(days: 100)
    private static let ended = issued.adding(days: 100)

    private static let evidence = PeerEvidence(
        chain: [
            CertificateFacts(
                subject: "CN=field-7", issuer: "CN=operators", serial: "1", notBefore: issued, notAfter: ended, keyUsage: .digitalSignature,
                extendedKeyUsage: .client, isAuthority: false, uris: ["urn:dev:org:32473-operator:field-7"], key: .p256, fingerprint: [1],
                keyFingerprint: [1])
        ], findings: [], revocations: [.noList], judgedCount: 1, isResumed: false)

    private func trust(at clock: WallTime) throws -> OperatorTrust {
        var trust = OperatorTrust(identity: TLSIdentity(certificates: [], key: SecretBytes([])), roots: [])
        trust.clock = { clock }
        return trust
    }

    @Test func `a controller that was admitted tells the next run of the router how late it is at least`() throws {
        let kept = Mutex(ClockFloor())
        func admits(at clock: WallTime) throws -> Bool {
            let configuration = try trust(at: clock).configuration(floor: kept.withLock { $0 }) { floor in kept.withLock { $0 = floor } }
            return configuration.judge(Self.evidence) == nil
        }
        // Its clock is behind: the certificate's beginning is known to be past.
        #expect(try admits(at: WallTime(seconds: 0)))
        #expect(kept.withLock { $0.value } == Self.issued)
        // Right, and the certificate still holds: what the clock shows is kept.
        #expect(try admits(at: Self.issued.adding(days: 50)))
        #expect(kept.withLock { $0.value } == Self.issued.adding(days: 50))
        #expect(try !admits(at: Self.ended.adding(days: 1)))
        // Somebody who isn't admitted tells nothing.
        #expect(kept.withLock { $0.value } == Self.issued.adding(days: 50))
        var later = kept.withLock { $0 }
        later.raise(to: Self.ended.adding(days: 1))
        kept.withLock { $0 = later }
        #expect(try !admits(at: WallTime(seconds: 0)))
    }
}
