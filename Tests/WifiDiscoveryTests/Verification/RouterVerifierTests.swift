import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// Somebody at a TCP port of this machine who is no router: says `speech` to each who connects and closes, or nothing at all for ever.
final class Speaker: Sendable {
    let endpoint: Endpoint
    private let descriptor: Int32

    init(_ speech: [UInt8]?) throws {
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        descriptor = listening
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listening, $0, length) == 0 && listen(listening, 16) == 0 && getsockname(listening, $0, &length) == 0
            }
        }
        try #require(isOpen)
        endpoint = Endpoint(try #require(IPAddress("127.0.0.1")), port: UInt16(bigEndian: address.sin_port))
        guard let speech else { return }
        Thread.detachNewThread {
            while true {
                let peer = accept(listening, nil, nil)
                guard peer >= 0 else { return }
                // What the client says is heard first, so that closing doesn't reset the connection before it has read.
                var heard = [UInt8](repeating: 0, count: 4_096)
                _ = recv(peer, &heard, heard.count, 0)
                _ = send(peer, speech, speech.count, Int32(MSG_NOSIGNAL))
                close(peer)
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }
}

@Suite("Routers asked for proof", .timeLimit(.minutes(10)))
struct RouterVerifierTests {
    static let mac = MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)

    func trust(_ company: TestCompany) -> RouterTrust {
        var trust = RouterTrust(roots: [company.deviceRoot.asRoot], identity: company.operatorIdentity.identity)
        trust.clock = { TestCompany.now.now }
        return trust
    }

    func verdict(_ endpoint: Endpoint, _ trust: RouterTrust, offersTLS: Bool = true, limit: Duration = .seconds(20)) async -> Verdict {
        let subject = RouterVerifier.Subject(mac: Self.mac, endpoint: endpoint, offersTLS: offersTLS)
        return await RouterVerifier(trust, limit: limit).verify(subject).judgement.verdict
    }

    @Test func `whoever speaks something else, or nothing, or isn't there proves nothing, each for its reason`() async throws {
        let trust = trust(try await TestCompany.shared)
        let http = try Speaker(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(await verdict(http.endpoint, trust) == .unproven(.notTLS))
        let garbage = try Speaker((0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 201) })
        #expect(await verdict(garbage.endpoint, trust) == .unproven(.notTLS))
        let cut = try Speaker([0x16, 0x03, 0x03, 0x00, 0x7A, 0x02])
        #expect(await verdict(cut.endpoint, trust) == .unproven(.connectionLost))
        let silent = try Speaker(nil)
        #expect(await verdict(silent.endpoint, trust, limit: .milliseconds(50)) == .unproven(.connectionLost))
        let gone: Endpoint
        do { gone = try Speaker([]).endpoint }
        #expect(await verdict(gone, trust) == .unproven(.unreachable))
        #expect(await verdict(silent.endpoint, trust, offersTLS: false) == .unproven(.plaintext))
    }

    @Test func `a stalling router keeps none of the others waiting, and the findings come in order`() async throws {
        let company = try await TestCompany.shared
        let listener = SessionListener(SessionConfiguration(role: .router), tls: company.serverConfiguration()) { _ in }
        let good = try await listener.open(Endpoint(try #require(IPAddress("127.0.0.1")), port: 0))
        let silent = try Speaker(nil)
        let others = (0..<8).map { MACAddress(0x02, 0, 0x5E, 0, 0x54, UInt8($0)) }
        let subjects =
            others.map { RouterVerifier.Subject(mac: $0, endpoint: silent.endpoint, offersTLS: true) }
            + [RouterVerifier.Subject(mac: Self.mac, endpoint: good, offersTLS: true)]
        let findings = await RouterVerifier(trust(company), limit: .milliseconds(900)).verify(subjects)
        #expect(findings.map(\.subject) == subjects)
        #expect(findings.dropLast().allSatisfy { $0.judgement.verdict == .unproven(.connectionLost) })
        #expect(findings.last?.judgement.verdict == .company)
        await listener.close()
    }

    /// A router that proves itself, with what it says in its hello.
    private func router(
        _ company: TestCompany, children: [String] = [], stations: [String: String] = [:]
    ) async throws -> (SessionListener, Endpoint) {
        var configuration = SessionConfiguration(role: .router)
        configuration.identity = RouterIdentity(boot: "00000000000000aa", mac: Self.mac.description, children: children)
        configuration.stations = stations
        let listener = SessionListener(configuration, tls: company.serverConfiguration()) { _ in }
        return (listener, try await listener.open(Endpoint(.loopback, port: 0)))
    }

    @Test func `clones at every other place hide nobody, nor do replies that no longer offer the place where it was proven`() async throws {
        let company = try await TestCompany.shared
        let (listener, good) = try await router(company)
        let http = try Speaker(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        let many = [RouterVerifier.Subject(mac: Self.mac, endpoint: http.endpoint, offersTLS: true, alternates: [http.endpoint, good])]
        let verifier = RouterVerifier(trust(company), limit: .seconds(20))
        let found = await verifier.verify(many)[0]
        #expect(found.judgement.verdict == .company && found.endpoint == good)
        var memory = TrustMemory()
        memory.note(found.judgement, of: Self.mac, at: found.endpoint, now: TestCompany.now.now)
        #expect(TrustMemory(json: memory.json)?[Self.mac]?.place == good)
        for offersTLS in [true, false] {
            let forged = RouterVerifier.Subject(mac: Self.mac, endpoint: http.endpoint, offersTLS: offersTLS)
            let again = await RouterVerifier(trust(company), memory: memory, limit: .seconds(20)).verify([forged])[0]
            #expect(again.judgement.verdict == .company && again.endpoint == good)
        }
        await listener.close()
    }

    @Test func `a proven router vouches for its child over its own connection, and for nobody else`() async throws {
        let company = try await TestCompany.shared
        let child = MACAddress(0x02, 0, 0x5E, 0, 0x53, 2)
        let stranger = MACAddress(0x02, 0, 0x5E, 0, 0x53, 3)
        let station = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x77)
        let (listener, good) = try await router(
            company, children: [child.description], stations: [station.description: child.description])
        func verdicts(_ trust: RouterTrust) async -> [RouterVerifier.Finding] {
            var parent = RouterVerifier.Subject(mac: Self.mac, endpoint: good, offersTLS: true)
            parent.station = station
            let others = [child, stranger].map { RouterVerifier.Subject(mac: $0, endpoint: good, offersTLS: false) }
            return await RouterVerifier(trust, limit: .seconds(20)).verify([parent] + others)
        }
        let findings = await verdicts(trust(company))
        #expect(findings.map(\.judgement.verdict) == [.company, .vouched(by: Self.mac), .unproven(.plaintext)])
        #expect(findings[0].family == RouterFamily(children: [child], seesStation: true, via: child.description))
        #expect(findings[0].family?.stationsChild == child)
        #expect(findings[1].judgement.detail.contains("this machine sits behind it"))
        #expect(!findings[1].judgement.mayBeSelected(hasRoot: true) && !findings[1].judgement.isProof)
        // Whoever isn't admitted by the parent hears nothing of its children.
        var nobody = trust(company)
        nobody.identity = nil
        #expect(await verdicts(nobody).map(\.judgement.verdict) == [.company, .unproven(.plaintext), .unproven(.plaintext)])
        await listener.close()
    }
}
