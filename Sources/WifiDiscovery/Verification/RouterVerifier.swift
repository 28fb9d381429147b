import SocketCore
import Synchronization

/// Asks routers to prove whose they are (protocol.md, section 6): handshakes side by side, a judgement for each. Nothing is said to a router
/// beyond the handshake, and our certificate is shown only to the company's.
///
///     let findings = await RouterVerifier(try .company(root: "company-root.pem")).verify(routers.map(RouterVerifier.Subject.init))
public struct RouterVerifier: Sendable {
    /// Handshakes under way at once: some 2 MB, and few enough that a slow machine finishes each within its time.
    public static let handshakesAtOnce = 32

    /// Whom to ask.
    public struct Subject: Hashable, Sendable {
        /// Who it claims to be.
        public var mac: MACAddress
        /// Its session listener.
        public var endpoint: Endpoint
        /// Whether its reply offers TLS; one that doesn't isn't asked.
        public var offersTLS: Bool
        /// Where else somebody answers in its name: asked in turn where the first place proves nothing.
        public var alternates: [Endpoint]

        /// A router by what it claims.
        public init(mac: MACAddress, endpoint: Endpoint, offersTLS: Bool, alternates: [Endpoint] = []) {
            self.mac = mac
            self.endpoint = endpoint
            self.offersTLS = offersTLS
            self.alternates = alternates
        }

        /// A router that a scan found.
        public init(_ found: FoundRouter) {
            self.init(
                mac: found.mac, endpoint: found.endpoint, offersTLS: found.discovered.router.tls,
                alternates: found.discovered.alternates.map { Endpoint($0.address, port: found.discovered.router.tcp) })
        }
    }

    /// What came of it.
    public struct Finding: Hashable, Sendable {
        /// Who was asked.
        public let subject: Subject
        /// Where it proved that.
        public let endpoint: Endpoint
        /// What it proved.
        public let judgement: Judgement
    }

    private let trust: RouterTrust
    private let memory: TrustMemory
    private let limit: Duration
    private let loop: EventLoop

    /// A verifier.
    ///
    /// - Parameters:
    ///   - memory: what is known of the routers from earlier.
    ///   - limit: the time for each handshake, connecting included.
    public init(_ trust: RouterTrust, memory: TrustMemory = TrustMemory(), limit: Duration = .seconds(5), loop: EventLoop = .shared) {
        self.trust = trust
        self.memory = memory
        self.limit = limit
        self.loop = loop
    }

    /// Asks all of them; the findings come in the subjects' order.
    public func verify(_ subjects: [Subject], onFinding: @Sendable (Finding) -> Void = { _ in }) async -> [Finding] {
        var findings: [Int: Finding] = [:]
        await withTaskGroup(of: (Int, Finding).self) { group in
            var next = 0
            func begin() {
                guard next < subjects.count else { return }
                let (index, subject) = (next, subjects[next])
                group.addTask { (index, await verify(subject)) }
                next += 1
            }
            for _ in 0..<RouterVerifier.handshakesAtOnce { begin() }
            for await (index, finding) in group {
                findings[index] = finding
                onFinding(finding)
                begin()
            }
        }
        return subjects.indices.compactMap { findings[$0] }
    }

    /// Asks one: at its first place, and where that isn't the company's, at each of the others, so that a clone doesn't hide it.
    public func verify(_ subject: Subject) async -> Finding {
        let first = await judge(subject, at: subject.endpoint)
        guard first.verdict != .company, trust.hasRoot, subject.offersTLS else {
            return Finding(subject: subject, endpoint: subject.endpoint, judgement: first)
        }
        for place in subject.alternates {
            let judgement = await judge(subject, at: place)
            if judgement.verdict == .company { return Finding(subject: subject, endpoint: place, judgement: judgement) }
        }
        return Finding(subject: subject, endpoint: subject.endpoint, judgement: first)
    }

    private func judge(_ subject: Subject, at endpoint: Endpoint) async -> Judgement {
        let record = memory[subject.mac]
        guard subject.offersTLS else { return judge(.offersNoTLS, subject, record) }
        let heard = HeardJudgement()
        let configuration = trust.configuration(for: subject.mac, record: record, floor: memory.floor) { judgement in
            heard.value.withLock { $0 = judgement }
        }
        let attempt = await HandshakeAttempt(on: loop).make(endpoint, configuration, within: limit)
        // What was judged in the handshake stands, however the connection ended after it.
        return heard.value.withLock { $0 } ?? judge(attempt, subject, record)
    }

    private func judge(_ attempt: ProofAttempt, _ subject: Subject, _ record: TrustRecord?) -> Judgement {
        trust.judge.judge(attempt, of: subject.mac, record: record, at: memory.floor.judge(trust.clock()))
    }
}

/// What the judge said in the middle of a handshake.
private final class HeardJudgement: Sendable {
    let value = Mutex<Judgement?>(nil)
}

/// One handshake on the loop's thread.
private actor HandshakeAttempt {
    private let loop: EventLoop
    nonisolated let unownedExecutor: UnownedSerialExecutor

    init(on loop: EventLoop) {
        self.loop = loop
        unownedExecutor = loop.asUnownedSerialExecutor()
    }

    func make(_ endpoint: Endpoint, _ configuration: TLSConfiguration, within limit: Duration) async -> ProofAttempt {
        await withCheckedContinuation { continuation in
            do {
                _ = try HandshakeProbe(with: endpoint, configuration, on: loop, within: limit) { outcome in
                    continuation.resume(returning: HandshakeAttempt.attempt(outcome, limit))
                }
            } catch let error as TLSError {
                continuation.resume(returning: .failed(error))
            } catch {
                continuation.resume(returning: .unreachable("\(error)"))
            }
        }
    }

    private static func attempt(_ outcome: HandshakeProbe.Outcome, _ limit: Duration) -> ProofAttempt {
        switch outcome {
        // Nobody is admitted without having been judged.
        case .opened: .failed(.noCertificate)
        case .failed(let error): .failed(error)
        case .timedOut(isConnected: true): .stalled(after: limit)
        case .timedOut(isConnected: false): .unreachable("no answer within \(Int(limit.inMilliseconds)) ms")
        case .unreachable(let why): .unreachable(why)
        }
    }
}
