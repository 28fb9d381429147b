import SocketCore
import Synchronization

/// Asks routers to prove whose they are (protocol.md, section 6): handshakes side by side, a judgement for each. Our certificate is shown only
/// to the company's, and beyond the handshake nothing is said but a hello to those among them that may know child access points.
///
///     let findings = await RouterVerifier(try .company(root: "company-root.pem")).verify(routers.map(RouterVerifier.Subject.init))
public struct RouterVerifier: Sendable {
    /// Handshakes under way at once: some 2 MB, and few enough that a slow machine finishes each within its time.
    public static let handshakesAtOnce = 32

    /// All handshakes of one call: with thousands of forged routers on the network, those asked last aren't asked any more.
    static let longest = Duration.seconds(60)
    /// What a handshake is given at least, however many addresses wait for theirs.
    static let shortest = Duration.seconds(1)

    /// What came of it.
    public struct Finding: Hashable, Sendable {
        /// Who was asked.
        public let subject: Subject
        /// Where it proved that; of one that proved nothing, the first place where it was asked.
        public let endpoint: Endpoint
        /// What it proved.
        public internal(set) var judgement: Judgement
        /// What it says of the access points behind it, over its proven connection; nil when it wasn't asked.
        public internal(set) var family: RouterFamily?

        /// A finding as given.
        public init(subject: Subject, endpoint: Endpoint, judgement: Judgement, family: RouterFamily? = nil) {
            self.subject = subject
            self.endpoint = endpoint
            self.judgement = judgement
            self.family = family
        }
    }

    private let trust: RouterTrust
    private let memory: TrustMemory
    private let session: SessionConfiguration
    private let limit: Duration
    private let loop: EventLoop

    /// A verifier.
    ///
    /// - Parameters:
    ///   - trust: what routers are judged by, and what they're shown of us.
    ///   - memory: what is known of the routers from earlier.
    ///   - session: how frames are written, and what we are called, where proven routers are asked for their children.
    ///   - limit: the time for each handshake, connecting included.
    ///   - loop: where the handshakes run.
    public init(
        _ trust: RouterTrust, memory: TrustMemory = TrustMemory(), session: SessionConfiguration = SessionConfiguration(role: .controller),
        limit: Duration = .seconds(5), loop: EventLoop = .shared
    ) {
        self.trust = trust
        self.memory = memory
        self.session = session
        self.limit = limit
        self.loop = loop
    }

    /// Asks all of them; the findings come in the subjects' order. Then proven routers are asked for the children that somebody without
    /// proof may be, where there's a certificate to be admitted with.
    ///
    /// Each is asked at its first place, and where that proves nothing, at each of the others, so that a clone doesn't hide it. Where it last
    /// proved itself counts as one of them, whatever replies offer now. `VerificationTurns` says whose turn it is when they are many.
    ///
    /// - Parameters:
    ///   - subjects: whom to ask.
    ///   - onJudged: called with how many subjects have been asked so far; not for the children.
    public func verify(_ subjects: [Subject], onJudged: @Sendable (Int) -> Void = { _ in }) async -> [Finding] {
        await withFamilies(await ask(subjects, onJudged))
    }

    /// Asks one, and nobody for its children.
    public func verify(_ subject: Subject) async -> Finding { await ask([subject])[0] }

    // MARK: Turns

    private func ask(_ subjects: [Subject], _ onJudged: @Sendable (Int) -> Void = { _ in }) async -> [Finding] {
        var turns = VerificationTurns(subjects.map { places(of: $0) }, limit: limit)
        var findings: [Finding?] = subjects.map { $0.offersTLS ? nil : finding(.offersNoTLS, $0) }
        let end = ContinuousClock.now + RouterVerifier.longest
        await withTaskGroup(of: (VerificationTurns.Turn, Finding, Duration).self) { group in
            var (running, judged) = (0, 0)
            func count() {
                judged += 1
                onJudged(judged)
            }
            for case .some in findings { count() }
            func begin() {
                while running < RouterVerifier.handshakesAtOnce, ContinuousClock.now < end, let turn = turns.next() {
                    let (subject, endpoint) = (subjects[turn.subject], turns.endpoint(turn))
                    let span = span(for: turns.waitingSources, until: end)
                    running += 1
                    group.addTask {
                        let begun = ContinuousClock.now
                        let finding = await ask(subject, at: endpoint, within: span)
                        return (turn, finding, ContinuousClock.now - begun)
                    }
                }
            }
            begin()
            for await (turn, finding, took) in group {
                running -= 1
                let isProof = finding.judgement.isProof
                if isProof && findings[turn.subject]?.judgement.isProof != true || findings[turn.subject] == nil {
                    findings[turn.subject] = finding
                }
                turns.ended(turn, after: took, isProof: isProof)
                if turn.place == 0 { count() }
                begin()
            }
        }
        return subjects.indices.map { index in
            findings[index] ?? finding(.unreachable("not tried, since the others took \(RouterVerifier.longest)"), subjects[index])
        }
    }

    /// Where a router is asked, and what speaks for it.
    private func places(of subject: Subject) -> VerificationTurns.Subject {
        let record = memory[subject.mac]
        var places = subject.offersTLS ? [subject.endpoint] : []
        if trust.hasRoot || record?.pin != nil {
            if let last = record?.place, !places.contains(last) { places.append(last) }
            if subject.offersTLS { places += subject.alternates.filter { !places.contains($0) } }
        }
        let isProven = record?.wasProven == true || record?.pin != nil
        return VerificationTurns.Subject(standing: isProven ? .proven : subject.isPlausible ? .plausible : .claimed, places: places)
    }

    /// What a handshake is given: less than the limit where so many addresses wait that they'd never all have theirs.
    private func span(for sources: Int, until end: ContinuousClock.Instant) -> Duration {
        let share = (end - ContinuousClock.now) * RouterVerifier.handshakesAtOnce / max(sources, 1)
        return min(limit, max(share, RouterVerifier.shortest))
    }

    /// Does `work` for each index, ``handshakesAtOnce`` at a time.
    private static func sideBySide<Result: Sendable>(
        _ indices: [Int], _ work: @escaping @Sendable (Int) async -> Result
    ) async -> [Int: Result] {
        await withTaskGroup(of: (Int, Result).self) { group in
            var results: [Int: Result] = [:]
            var rest = indices[...]
            func begin() { if let index = rest.popFirst() { group.addTask { (index, await work(index)) } } }
            for _ in 0..<handshakesAtOnce { begin() }
            for await (index, result) in group {
                results[index] = result
                begin()
            }
            return results
        }
    }

    // MARK: Children

    private func withFamilies(_ findings: [Finding]) async -> [Finding] {
        guard trust.hasRoot, trust.identity != nil else { return findings }
        let isWanted = findings.contains { Vouching.mayFill($0.judgement) }
        let asked = findings.indices.filter { index in
            let finding = findings[index]
            return finding.judgement.verdict == .company && (isWanted || finding.subject.hasChildren || finding.subject.station != nil)
        }
        let inquiry = HelloInquiry(trust: trust, memory: memory, session: session, limit: limit, loop: loop)
        let families = await RouterVerifier.sideBySide(asked) { index -> RouterFamily? in
            let finding = findings[index]
            let answer = await inquiry.ask(finding.subject.mac, at: finding.endpoint, station: finding.subject.station)
            return (try? answer.get()).map(RouterFamily.init)
        }
        var judged = findings
        for (index, family) in families { judged[index].family = family }
        let parents = judged.compactMap { finding in
            finding.family.map { Vouching.Parent(mac: finding.subject.mac, judgement: finding.judgement, family: $0) }
        }
        for index in judged.indices {
            judged[index].judgement = Vouching.judge(judged[index].judgement, of: judged[index].subject.mac, parents: parents)
        }
        return judged
    }

    // MARK: One router

    private func ask(_ subject: Subject, at endpoint: Endpoint, within limit: Duration) async -> Finding {
        let heard = HeardJudgement()
        let configuration = trust.configuration(for: subject.mac, record: memory[subject.mac], floor: memory.floor) { judgement in
            heard.value.withLock { $0 = judgement }
        }
        let attempt = await HandshakeAttempt(on: loop).make(endpoint, configuration, within: limit)
        // What was judged in the handshake stands, however the connection ended after it.
        guard let judgement = heard.value.withLock({ $0 }) else { return finding(attempt, subject, at: endpoint) }
        return Finding(subject: subject, endpoint: endpoint, judgement: judgement)
    }

    private func finding(_ attempt: ProofAttempt, _ subject: Subject, at endpoint: Endpoint? = nil) -> Finding {
        let time = memory.floor.judge(trust.clock())
        let judgement = trust.judge.judge(attempt, of: subject.mac, record: memory[subject.mac], at: time)
        return Finding(subject: subject, endpoint: endpoint ?? subject.endpoint, judgement: judgement)
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
