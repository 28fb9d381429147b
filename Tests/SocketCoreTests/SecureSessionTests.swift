import TestSupport
import Testing

@testable import SocketCore

@Suite("Sessions over TLS and real sockets", .timeLimit(.minutes(10)))
struct SecureSessionTests {
    /// A router that speaks TLS, and what happens at its door.
    func open(_ company: TestCompany, faults: LinkFaults.Options = .init()) async throws -> (EchoRouter, Endpoint) {
        let router = EchoRouter(faults: faults, tls: company.serverConfiguration(), echoes: false)
        return (router, try await router.open())
    }

    @Test("messages go through, also large ones, over a cut connection and in order")
    func messages() async throws {
        let company = try await TestCompany.shared
        let (router, endpoint) = try await open(company)
        var configuration = SessionConfiguration(role: .controller)
        configuration.timing.reconnect.base = .milliseconds(5)
        let session = Session(to: endpoint, configuration, tls: company.clientConfiguration(identity: company.operatorIdentity.identity))
        await session.start()
        let bodies = (0..<60).map { [UInt8](repeating: UInt8($0), count: 1 + $0 * 7_001) }
        for (index, body) in bodies.enumerated() {
            _ = try await session.post(body)
            if index == 20 { await session.dropConnection() }
        }
        for body in bodies { #expect(await router.received.next() == body) }
        #expect(await session.peerEvidence != nil)
        await session.close()
        await router.listener.close()
    }

    @Test("what waits in a paused reader comes before the peer's end, though TLS brings both in one record's time")
    func endBehindPause() async throws {
        let company = try await TestCompany.shared
        let began = Happenings<Session>()
        let listener = SessionListener(SessionConfiguration(role: .router), tls: company.serverConfiguration()) {
            if case .began(let session, _, _) = $0 { began.add(session) }
        }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        let session = Session(to: endpoint, tls: company.clientConfiguration(identity: company.operatorIdentity.identity))
        await session.start()
        let router = try #require(await began.next())
        // More than are kept for an application that doesn't take, and nothing that would be sent again.
        let count = 3 * SessionLimits.inboundMessages
        for number in 0..<count { _ = try await router.post([UInt8(truncatingIfNeeded: number)], wantsReceipt: false) }
        // All is written before the close's time begins, so that no wall time decides how much comes.
        await router.settled()
        await router.close()
        let bodies = await SessionLog(session).bodies(count)
        #expect(bodies.enumerated().allSatisfy { $1 == [UInt8(truncatingIfNeeded: $0)] })
        await session.close()
        await listener.close()
    }

    @Test("who speaks no TLS is turned away, and so is a controller that shows no certificate; honest ones go on")
    func strangers() async throws {
        let company = try await TestCompany.shared
        let (router, endpoint) = try await open(company)
        let honest = Session(to: endpoint, tls: company.clientConfiguration(identity: company.operatorIdentity.identity))
        await honest.start()
        #expect(try await honest.send([1]).result == .delivered)
        #expect(await router.door.next() == "began")
        let plain = Session(to: endpoint)
        await plain.start()
        #expect(await router.door.next()?.hasPrefix("refused") == true)
        await plain.close()
        #expect(try await honest.send([2]).result == .delivered)
        await honest.close()
        await router.listener.close()
    }

    @Test(
        "a session is taken up again by its own operator alone: with a renewed certificate too, and by nobody who has read its name in a log"
    )
    func owners() async throws {
        let company = try await TestCompany.shared
        let (router, endpoint) = try await open(company)
        func session(_ identity: TLSIdentity, like first: Session? = nil) -> Session {
            Session(
                SessionConfiguration(role: .controller), first?.identifier, endpoint, tls: company.clientConfiguration(identity: identity),
                loop: .shared)
        }
        let first = session(company.operatorIdentity.identity)
        await first.start()
        #expect(try await first.send([1]).result == .delivered)
        #expect(await router.door.next() == "began")
        let other = try await company.workshop.issue(
            "Other", by: company.operatorRoot, extensions: CertificateWorkshop.operatorExtensions,
            names: ["URI:urn:dev:org:32473-operator:field-8"])
        let thief = session(other.identity, like: first)
        await thief.start()
        #expect(await router.door.next()?.contains("another operator's") == true)
        await thief.close()
        #expect(try await first.send([2]).result == .delivered)
        let renewed = try await company.workshop.issue(
            "Renewed", by: company.operatorRoot, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName],
            serial: "0999")
        await first.suspend()
        let again = session(renewed.identity, like: first)
        await again.start()
        while let word = await router.door.next(), word != "returned" {}
        await again.close()
        await first.close()
        await router.listener.close()
    }

    @Test("a router whose certificate leads to another root is refused by name, and nothing of ours is sent")
    func foreignRouter() async throws {
        let company = try await TestCompany.shared
        let (router, endpoint) = try await open(company)
        let session = Session(
            to: endpoint, tls: company.clientConfiguration(identity: company.operatorIdentity.identity) { _ in .alreadyOver })
        await session.start()
        reading: for await batch in session.events {
            for case .state(.lost(let reason)) in batch {
                if case .connectFailed = reason {} else { Issue.record("\(reason)") }
                break reading
            }
        }
        #expect(await session.tlsFailure == .alreadyOver)
        await session.close()
        #expect(await router.door.next()?.hasPrefix("refused") == true)
        await router.listener.close()
    }

    /// The reason that a session is closed for by itself, and how often it dialled before.
    private func end(of session: Session) async -> (LossReason?, dials: Int, outcomes: [MessageResult]) {
        var dials = 0
        var outcomes: [MessageResult] = []
        await session.start()
        for await batch in session.events {
            for case .outcome(let outcome) in batch { outcomes.append(outcome.result) }
            for case .state(let state) in batch {
                if case .connecting = state { dials += 1 }
                if case .closed(let reason) = state { return (reason, dials, outcomes) }
            }
        }
        return (nil, dials, outcomes)
    }

    @Test("a certificate that is refused, on either side, ends the session with the reason; what waits has one outcome")
    func refusalIsFinal() async throws {
        let company = try await TestCompany.shared
        let (router, endpoint) = try await open(company)
        let strict = company.clientConfiguration(identity: company.operatorIdentity.identity) { _ in .refused("foreign: not ours") }
        let session = Session(to: endpoint, tls: strict)
        _ = try await session.post([1])
        let (reason, dials, outcomes) = await end(of: session)
        #expect(reason == .refused("foreign: not ours") && dials == 1 && outcomes == [.notSent])
        // The router refuses us: in TLS 1.3 that comes after our side is open.
        let (theirs, again, _) = await end(of: Session(to: endpoint, tls: company.clientConfiguration(identity: nil)))
        #expect(theirs == .refused(TLSAlert.certificateRequired.sentence) && again == 1)
        // Our own files can't be used.
        let broken = TLSConfiguration(role: .client, roots: [.init(name: "nonsense", bytes: [1, 2, 3])]) { _ in nil }
        let (ours, once, _) = await end(of: Session(to: endpoint, tls: broken))
        if case .refused = ours {} else { Issue.record("\(String(describing: ours))") }
        #expect(once == 1)
        await router.listener.close()
    }

    @Test("after a refusal the other places are tried, each once: an impostor at one of them doesn't end the session")
    func refusalElsewhere() async throws {
        let company = try await TestCompany.shared
        let (genuine, good) = try await open(company)
        let stranger = try await company.workshop.selfSigned("Cloner", extensions: CertificateWorkshop.deviceExtensions)
        let clone = EchoRouter(tls: company.serverConfiguration(identity: stranger.identity), echoes: false)
        let bad = try await clone.open()
        var configuration = SessionConfiguration(role: .controller)
        configuration.timing.reconnect.base = .milliseconds(5)
        let tls = company.clientConfiguration(identity: company.operatorIdentity.identity)
        let session = Session(to: bad, configuration, tls: tls) { _ in good }
        await session.start()
        #expect(try await session.send([7]).result == .delivered)
        #expect(await genuine.received.next() == [7])
        await session.close()
        let (reason, dials, _) = await end(of: Session(to: bad, configuration, tls: tls) { _ in nil })
        if case .refused = reason {} else { Issue.record("\(String(describing: reason))") }
        #expect(dials == 2)
        await genuine.listener.close()
        await clone.listener.close()
    }

    @Test("a flood of unfinished handshakes from one address is refused above sixteen, and who is in goes on")
    func flood() async throws {
        let company = try await TestCompany.shared
        let (router, endpoint) = try await open(company)
        let honest = Session(to: endpoint, tls: company.clientConfiguration(identity: company.operatorIdentity.identity))
        await honest.start()
        #expect(try await honest.send([1]).result == .delivered)
        #expect(await router.door.next() == "began")
        let silent = RecordingOwner()
        let harness = try StreamHarness(server: silent, client: silent)
        for _ in 0..<17 { try await harness.connect(to: endpoint) }
        #expect(await router.door.next()?.hasPrefix("refused: 16 others from there") == true)
        #expect(try await honest.send([2]).result == .delivered)
        await honest.close()
        await router.listener.close()
    }
}
