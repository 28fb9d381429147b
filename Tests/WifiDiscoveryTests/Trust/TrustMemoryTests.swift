import SocketCore
import Testing

@testable import WifiDiscovery

struct TrustMemoryTests {
    private static let now = WallTime(year: 2_026, month: 12, day: 1)
    private static let time = JudgedTime(now: now, clockIsBehind: false)
    private let judge = VerdictJudge(hasRoot: true)

    private static func certificate(_ key: UInt8 = 1, names: [String] = ["urn:dev:org:1-mac:020000000001"]) -> CertificateFacts {
        CertificateFacts(
            subject: "CN=r", issuer: "CN=i", serial: "1", notBefore: WallTime(year: 2_026, month: 12, day: 1),
            notAfter: .noExpiry, keyUsage: .digitalSignature, extendedKeyUsage: .server, isAuthority: false, uris: names, key: .p256,
            fingerprint: [key], keyFingerprint: [UInt8](repeating: key, count: 32))
    }

    private static func proof(of mac: MACAddress) -> Judgement {
        let names = CertifiedNames.deviceURI(mac.bits, enterprise: 1).map { [$0] } ?? []
        let evidence = PeerEvidence(
            chain: [certificate(names: names)], findings: [], revocations: [.noList], judgedCount: 1, isResumed: false)
        return VerdictJudge(hasRoot: true).judge(.evidence(evidence), of: mac, at: time)
    }

    @Test func `a router that spoke TLS and now offers none isn't used unless named`() {
        let mac = MACAddress(bits: 0x0200_0000_0001)
        var memory = TrustMemory()
        let stranger = judge.judge(.offersNoTLS, of: mac, record: memory[mac], at: Self.time)
        #expect(stranger.verdict == .unproven(.plaintext) && !stranger.isDowngrade)
        let isNew = memory.note(Self.proof(of: mac), of: mac, now: Self.now)
        #expect(isNew)
        for attempt in [ProofAttempt.offersNoTLS, .failed(.notTLS(.frames))] {
            let downgrade = judge.judge(attempt, of: mac, record: memory[mac], at: Self.time)
            #expect(downgrade.verdict == .unproven(.plaintext) && downgrade.isDowngrade)
            #expect(!downgrade.mayBeSelected(hasRoot: true) && !downgrade.mayBeSelected(hasRoot: false))
        }
        let isForgotten = memory.forget(mac)
        #expect(isForgotten)
        #expect(!judge.judge(.offersNoTLS, of: mac, record: memory[mac], at: Self.time).isDowngrade)
    }

    @Test func `an impostor's and a stranger's TLS is no memory of the router that they claim to be`() {
        let mac = MACAddress(bits: 0x0200_0000_0002)
        var memory = TrustMemory()
        let impostor = judge.judge(
            .evidence(PeerEvidence(chain: [Self.certificate()], findings: [], revocations: [], judgedCount: 1, isResumed: false)), of: mac,
            at: Self.time)
        #expect(impostor.verdict == .impostor(names: MACAddress(bits: 0x0200_0000_0001)))
        let isNoted = memory.note(impostor, of: mac, now: Self.now)
        #expect(!isNoted)
        #expect(memory[mac] == nil)
    }

    @Test func `what is remembered survives writing and reading, and isn't read at all where an entry of it can't be`() throws {
        var memory = TrustMemory()
        for number in 1...20 {
            memory.note(Self.proof(of: MACAddress(bits: UInt64(number))), of: MACAddress(bits: UInt64(number)), now: Self.now)
        }
        memory.pin(Self.certificate(7), for: MACAddress(bits: 3), now: Self.now)
        #expect(memory.floor.value == WallTime(year: 2_026, month: 12, day: 1))
        let text = memory.json.encoded()
        #expect(TrustMemory(json: try JSONValue.parse(text)) == memory)
        let pin = try #require(memory[MACAddress(bits: 3)]?.pin?.first.map { String($0, radix: 16) })
        for (good, bad) in [("00:00:00:00:00:05", "5"), ("\"pin\":\"", "\"pin\":\"\(pin)"), ("\"routers\"", "\"rooters\"")] {
            let damaged = String(decoding: text, as: UTF8.self).replacing(good, with: bad)
            #expect(TrustMemory(json: try JSONValue.parse(Array(damaged.utf8))) == nil, "\(bad)")
        }
        #expect(TrustMemory(json: .null) == nil)
    }

    @Test func `the time of a run that proved a router is kept for the next one, a year at most, and a day's worth at least`() throws {
        let mac = MACAddress(bits: 0x0200_0000_0001)
        var memory = TrustMemory()
        let impostor = MACAddress(bits: 0x0200_0000_0002)
        let evidence = PeerEvidence(chain: [Self.certificate()], findings: [], revocations: [], judgedCount: 1, isResumed: false)
        let later = Self.now.adding(days: 100)
        memory.note(judge.judge(.evidence(evidence), of: impostor, at: Self.time), of: impostor, now: later)
        #expect(memory.floor.value == ClockFloor.releaseDate)
        let isKept = memory.note(Self.proof(of: mac), of: mac, now: later)
        #expect(isKept && memory.floor.value == later)
        let isKeptAgain = memory.note(Self.proof(of: mac), of: mac, now: WallTime(seconds: later.seconds + 3_600))
        #expect(!isKeptAgain && memory.floor.value == later)
        // The next run's clock begins in 1970.
        var next = try #require(TrustMemory(json: try JSONValue.parse(memory.json.encoded())))
        #expect(next.floor.judge(WallTime(seconds: 0)) == JudgedTime(now: later, clockIsBehind: true))
        // One that is far ahead does little harm, however often it proves somebody.
        for _ in 0..<5 { next.note(Self.proof(of: mac), of: mac, now: later.adding(days: 3_650)) }
        #expect(next.floor.value == later.adding(days: ClockFloor.daysPerRun))
    }

    @Test func `a flood of strangers doesn't drive out who was proven or pinned`() {
        var memory = TrustMemory()
        let proven = MACAddress(bits: 1)
        let pinned = MACAddress(bits: 2)
        memory.note(Self.proof(of: proven), of: proven, now: WallTime(seconds: 0))
        memory.pin(Self.certificate(), for: pinned, now: WallTime(seconds: 0))
        let noRoot = VerdictJudge(hasRoot: false)
        let evidence = PeerEvidence(chain: [Self.certificate()], findings: [], revocations: [], judgedCount: 1, isResumed: false)
        for number in 0..<6_000 {
            let mac = MACAddress(bits: 1_000 + UInt64(number))
            memory.note(noRoot.judge(.evidence(evidence), of: mac, at: Self.time), of: mac, now: WallTime(seconds: Int64(number)))
        }
        #expect(memory.records.count == TrustMemory.most)
        #expect(memory[proven]?.wasProven == true && memory[pinned]?.pin != nil)
        #expect(memory[MACAddress(bits: 6_999)] != nil && memory[MACAddress(bits: 1_000)] == nil)
    }

    @Test func `the floor rises with proof, never beyond fifteen years, never by a persisted mistake`() {
        let release = WallTime(year: 2_026, month: 11, day: 30)
        var floor = ClockFloor(persisted: WallTime(seconds: .max), release: release)
        #expect(floor.value == release.adding(days: 15 * 365))
        floor = ClockFloor(persisted: WallTime(seconds: .min), release: release)
        #expect(floor.value == release)
        let raised = [floor.raise(to: release.adding(days: 10)), floor.raise(to: release)]
        #expect(raised == [true, false])
        #expect(floor.judge(release) == JudgedTime(now: release.adding(days: 10), clockIsBehind: true))
        let later = release.adding(days: 11)
        #expect(floor.judge(later) == JudgedTime(now: later, clockIsBehind: false))
    }

    @Test func `vouching fills an absence of proof, and nothing else`() {
        let child = MACAddress(bits: 9)
        let parent = MACAddress(bits: 1)
        let company = Vouching.Parent(mac: parent, judgement: Self.proof(of: parent), family: RouterFamily(children: [child]))
        let plain = judge.judge(.offersNoTLS, of: child, at: Self.time)
        let vouched = Vouching.judge(plain, of: child, parents: [company])
        #expect(vouched.verdict == .vouched(by: parent))
        #expect(!vouched.mayBeSelected(hasRoot: true))
        #expect(Vouching.judge(plain, of: MACAddress(bits: 8), parents: [company]) == plain)
        let itself = Vouching.Parent(mac: child, judgement: Self.proof(of: child), family: RouterFamily(children: [child]))
        #expect(Vouching.judge(plain, of: child, parents: [itself]) == plain)
        let plainParent = Vouching.Parent(mac: parent, judgement: plain, family: RouterFamily(children: [child]))
        #expect(Vouching.judge(plain, of: child, parents: [plainParent]) == plain)
        let revoked = judge.judge(.failed(.certificateRefused(ChainFinding(.revoked, depth: 0))), of: child, at: Self.time)
        #expect(Vouching.judge(revoked, of: child, parents: [company]) == revoked)
        let downgrade = judge.judge(
            .offersNoTLS, of: child, record: TrustRecord(hasSpokenTLS: true, changed: Self.now), at: Self.time)
        #expect(Vouching.judge(downgrade, of: child, parents: [company]) == downgrade)
    }

    @Test func `every failure has a reason and a sentence`() {
        let errors: [(TLSError, UnprovenReason)] = [
            (.versionRefused, .versionRefused), (.alert(.protocolVersion), .protocolError), (.notTLS(.http), .notTLS),
            (.notTLS(.frames), .plaintext), (.alert(.certificateRequired), .refused), (.alert(.handshakeFailure), .versionRefused),
            (.noCertificate, .protocolError), (.connectionLost(.silence), .connectionLost), (.connectionLost(.handshake), .connectionLost),
            (.handshakeTooLarge(bytes: 9, limit: 1), .protocolError), (.tampered, .protocolError),
            (.certificateRefused(ChainFinding(.expired, depth: 0)), .expired), (.protocolViolation("x"), .protocolError),
        ]
        for (error, reason) in errors {
            let judgement = judge.judge(.failed(error), of: .zero, at: Self.time)
            #expect(judgement.verdict == .unproven(reason), "\(error)")
            #expect(!judgement.detail.isEmpty && !judgement.detail.hasSuffix("."))
        }
        #expect(judge.judge(.unreachable("connection refused"), of: .zero, at: Self.time).verdict.reason == "unreachable")
        #expect(judge.judge(.stalled(after: .seconds(10)), of: .zero, at: Self.time).detail.contains("10000 ms"))
        for problem in ChainProblem.allCases where !problem.meansForeign { #expect(VerdictJudge.reason(problem) != .noRoot) }
    }
}
