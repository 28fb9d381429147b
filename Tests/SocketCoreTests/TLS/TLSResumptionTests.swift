import Synchronization
import TestSupport
import Testing

@testable import SocketCore

/// Sessions taken up again by a ticket: quicker, and judged as if the peer had shown its certificates anew.
struct TLSResumptionTests {
    /// A judge whose answer a test can change between two connections.
    private final class Verdict: Sendable {
        private let error = Mutex<TLSError?>(nil)
        private let seen = Mutex<[PeerEvidence]>([])
        var evidence: [PeerEvidence] { seen.withLock { $0 } }

        func refuse(_ error: TLSError) { self.error.withLock { $0 = error } }

        func judge(_ evidence: PeerEvidence) -> TLSError? {
            seen.withLock { $0.append(evidence) }
            return evidence.findings.first.map { .certificateRefused($0) } ?? error.withLock { $0 }
        }
    }

    private struct Sides {
        let client: TLSContext
        let server: TLSContext
        let ofServer = Verdict()
        let ofClient = Verdict()

        init(_ company: TestCompany, operatorIdentity: TLSIdentity? = nil) throws(TLSError) {
            let (ofServer, ofClient) = (self.ofServer, self.ofClient)
            client = try TLSContext(
                company.clientConfiguration(identity: operatorIdentity ?? company.operatorIdentity.identity) { ofServer.judge($0) })
            server = try TLSContext(company.serverConfiguration { ofClient.judge($0) })
        }

        func connect(resuming session: TLSSession? = nil) throws(TLSError) -> EnginePair {
            let pair = try EnginePair(client: client, server: server, resuming: session)
            pair.settle()
            return pair
        }
    }

    @Test func `a ticket takes a session up again, and both sides are judged by the same facts`() async throws {
        let sides = try await Sides(TestCompany.shared)
        let first = try sides.connect()
        let session = try #require(first.client.session)
        #expect(session.isResumable)
        var pair = try sides.connect(resuming: session)
        #expect(pair.client.isResumed && pair.server.isResumed)
        #expect(pair.client.evidence?.isResumed == true && pair.server.evidence?.isResumed == true)
        #expect(pair.client.evidence?.chain == first.client.evidence?.chain)
        #expect(pair.server.evidence?.chain == first.server.evidence?.chain)
        #expect(sides.ofServer.evidence.count == 2 && sides.ofClient.evidence.count == 2)
        // And on and on.
        for _ in 0..<3 {
            let next = try #require(pair.client.session)
            pair = try sides.connect(resuming: next)
            #expect(pair.client.isResumed && pair.client.state == .open && pair.server.state == .open)
        }
        try pair.client.write([1, 2, 3])
        pair.settle()
        #expect(pair.toServer == [1, 2, 3])
    }

    @Test func `a chain behind an intermediate is followed again from the ticket`() async throws {
        let company = try await TestCompany.shared
        let middle = try await company.workshop.issue(
            "Operators of one region", by: company.operatorRoot, extensions: CertificateWorkshop.authorityExtensions)
        let leaf = try await company.workshop.issue(
            "Operator", by: middle, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName])
        let sides = try Sides(company, operatorIdentity: leaf.identity(with: [middle]))
        var pair = try sides.connect()
        #expect(pair.server.evidence?.chain.count == 3)
        for _ in 0..<2 {
            let next = try #require(pair.client.session)
            pair = try sides.connect(resuming: next)
            #expect(pair.server.isResumed && pair.server.state == .open)
            #expect(pair.server.evidence?.chain.count == 3)
        }
    }

    @Test func `a session whose connection broke off without a goodbye is resumed`() async throws {
        let sides = try await Sides(TestCompany.shared)
        // Both engines are gone when this returns.
        func broken() throws -> TLSSession? {
            let pair = try sides.connect()
            #expect(throws: TLSError.connectionLost(.established)) { try pair.client.endOfInput() }
            return pair.client.session
        }
        let session = try #require(try broken())
        #expect(session.isResumable)
        #expect(try sides.connect(resuming: session).client.isResumed)
    }

    @Test func `an operator that wouldn't be admitted today isn't resumed, and hears why`() async throws {
        let sides = try await Sides(TestCompany.shared)
        let session = try #require(try sides.connect().client.session)
        sides.ofClient.refuse(.certificateRefused(ChainFinding(.revoked, depth: 0)))
        let pair = try sides.connect(resuming: session)
        #expect(!pair.server.isResumed)
        #expect(pair.serverError == .certificateRefused(ChainFinding(.revoked, depth: 0)))
        #expect(pair.clientError == .alert(.certificateRevoked))
    }

    @Test func `a router that wouldn't be accepted today isn't used by its old ticket`() async throws {
        let sides = try await Sides(TestCompany.shared)
        let session = try #require(try sides.connect().client.session)
        sides.ofServer.refuse(.refused("expired since"))
        let pair = try sides.connect(resuming: session)
        #expect(pair.clientError == .refused("expired since"))
        #expect(pair.client.state == .ended)
        #expect(pair.toServer.isEmpty)
    }

    @Test func `a ticket of a router that has restarted makes a full handshake`() async throws {
        let company = try await TestCompany.shared
        let session = try #require(try Sides(company).connect().client.session)
        let pair = try Sides(company).connect(resuming: session)
        #expect(!pair.client.isResumed)
        #expect(pair.client.state == .open && pair.server.state == .open)
    }
}
