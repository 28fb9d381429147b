import TestSupport
import Testing

@testable import SocketCore

@Suite("Sessions over TLS and real sockets", .timeLimit(.minutes(2)))
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
