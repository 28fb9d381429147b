import TestSupport
import Testing

@testable import SocketCore

/// Broken input of every kind: it never crashes, never delivers anything, and always ends in a named error.
struct TLSMutationTests {
    private static let seed: UInt64 = 20_261_130
    private static let rounds = 300

    /// The two flights of a good handshake: the client's hello, and the server's answer to it.
    private struct Flights {
        let company: TestCompany
        let client: TLSContext
        let server: TLSContext

        init() async throws {
            company = try await TestCompany.shared
            client = try TLSContext(company.clientConfiguration(identity: company.operatorIdentity.identity))
            server = try TLSContext(company.serverConfiguration())
        }

        /// Both engines at the point where the client has the answer still to read.
        func start() throws(TLSError) -> (client: TLSEngine, server: TLSEngine, answer: [UInt8]) {
            let (client, server) = (try TLSEngine(client), try TLSEngine(server))
            try client.start()
            try server.feed(client.takePending().span.bytes) { _ in }
            return (client, server, server.takePending())
        }
    }

    /// Feeds `bytes` in random cuts and then the end; gives the error that came of it.
    private func end(_ engine: TLSEngine, _ bytes: [UInt8], _ generator: inout SeededGenerator) -> TLSError? {
        var rest = bytes[...]
        do throws(TLSError) {
            while !rest.isEmpty {
                let part = Array(rest.prefix(Int.random(in: 1...max(1, rest.count), using: &generator)))
                rest = rest.dropFirst(part.count)
                try engine.feed(part.span.bytes) { _ in Issue.record("delivered plaintext (seed \(Self.seed))") }
            }
            try engine.endOfInput()
            return nil
        } catch { return error }
    }

    private func mutate(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            guard !bytes.isEmpty else { break }
            let place = Int.random(in: bytes.indices, using: &generator)
            switch generator.next() % 5 {
            case 0: bytes[place] ^= 1 << UInt8(generator.next() % 8)
            case 1: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int(generator.next() % 16)))
            case 3:
                bytes.insert(contentsOf: (0..<(generator.next() % 16)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }, at: place)
            default: bytes.removeLast(Int.random(in: 0...(bytes.count - 1), using: &generator))
            }
        }
        return bytes
    }

    @Test func `random bytes end in a named error on both sides`() async throws {
        let flights = try await Flights()
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<Self.rounds {
            let (client, _, _) = try flights.start()
            let server = try TLSEngine(flights.server)
            var bytes = (0..<Int.random(in: 0...400, using: &generator)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            // Half of them get as far as the record layer.
            if generator.chance(0.5) { bytes = [22, 3, 3, 0, UInt8(truncatingIfNeeded: generator.next())] + bytes }
            for engine in [client, server] {
                let error = end(engine, bytes, &generator)
                #expect(error != nil && engine.state == .ended, "seed \(Self.seed)")
                #expect(engine.evidence == nil)
            }
        }
    }

    @Test func `a mutated answer never admits anybody but the router itself`() async throws {
        let flights = try await Flights()
        var generator = SeededGenerator(seed: Self.seed)
        for _ in 0..<Self.rounds {
            let (client, _, answer) = try flights.start()
            let error = end(client, mutate(answer, &generator), &generator)
            #expect(error != nil, "seed \(Self.seed)")
            // What isn't covered by the handshake's signature (a record's legacy version, say) may change without harm.
            if let evidence = client.evidence { #expect(evidence.leaf?.names().deviceAddresses == [0x0200_5E00_5301]) }
        }
    }

    @Test func `a mutated hello and a mutated second flight never admit a controller unproven`() async throws {
        let flights = try await Flights()
        var generator = SeededGenerator(seed: Self.seed)
        for round in 0..<Self.rounds {
            let (client, server, answer) = try flights.start()
            if round % 2 == 0 {
                let fresh = try TLSEngine(flights.client)
                try fresh.start()
                let error = end(try TLSEngine(flights.server), mutate(fresh.takePending(), &generator), &generator)
                #expect(error != nil, "seed \(Self.seed)")
            } else {
                try client.feed(answer.span.bytes) { _ in }
                let error = end(server, mutate(client.takePending(), &generator), &generator)
                #expect(error != nil, "seed \(Self.seed)")
                if let evidence = server.evidence { #expect(evidence.leaf?.names().operators == ["field-7"]) }
            }
        }
    }

    @Test func `a line cut anywhere in the handshake is told as that`() async throws {
        let flights = try await Flights()
        let length = try flights.start().answer.count
        for cut in stride(from: 0, to: length - 1, by: 13) {
            let (client, _, answer) = try flights.start()
            try client.feed(Array(answer.prefix(min(cut, answer.count - 1))).span.bytes) { _ in }
            #expect(throws: TLSError.connectionLost(cut == 0 ? .silence : .handshake)) { try client.endOfInput() }
        }
    }

    @Test func `mutated certificates and lists are refused or judged, never more`() async throws {
        let company = try await TestCompany.shared
        let good = try Certificate.all(in: company.device.certificate, of: "device")[0]
        let root = try Certificate.all(in: company.deviceRoot.certificate, of: "root")[0]
        let list = try await company.workshop.revocationList(by: company.deviceRoot, serials: ["01", "02"])
        let verifier = try ChainVerifier(roots: [root], lists: [.init(name: "list", bytes: list)], peerIsServer: true)
        #expect(verifier.evidence(for: good.handle, others: nil, isResumed: false).findings.isEmpty)
        var generator = SeededGenerator(seed: Self.seed)
        var parsed = 0
        for _ in 0..<2_000 {
            let bytes = mutate(good.der, &generator)
            if bytes != good.der, let certificate = try? Certificate(der: bytes, of: "mutated") {
                parsed += 1
                _ = (certificate.facts.names(), "\(certificate.facts.notAfter) \(certificate.facts.notBefore)")
                let evidence = verifier.evidence(for: certificate.handle, others: nil, isResumed: false)
                // The root's signature covers everything but the signature's own encoding.
                if evidence.findings.isEmpty { #expect(certificate.facts.uris == good.facts.uris, "seed \(Self.seed)") }
            }
            _ = try? RevocationList.all(in: mutate(list, &generator), of: "mutated")
            _ = try? Certificate.all(in: mutate(company.device.certificate, &generator), of: "mutated")
        }
        #expect(parsed > 50)
    }
}
