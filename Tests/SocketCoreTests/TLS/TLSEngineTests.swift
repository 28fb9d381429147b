import Synchronization
import TestSupport
import Testing

@testable import SocketCore

struct TLSEngineTests {
    private func pair(
        client: TLSConfiguration? = nil, server: TLSConfiguration? = nil
    ) async throws -> EnginePair {
        let company = try await TestCompany.shared
        return try EnginePair(
            client: TLSContext(client ?? company.clientConfiguration(identity: company.operatorIdentity.identity)),
            server: TLSContext(server ?? company.serverConfiguration()))
    }

    @Test(arguments: [Int.max, 1, 7, 1_000])
    func `both sides prove who they are, whatever the cuts`(piece: Int) async throws {
        let pair = try await pair()
        pair.piece = piece
        pair.settle()
        #expect(pair.clientError == nil && pair.serverError == nil)
        #expect(pair.client.state == .open && pair.server.state == .open)
        #expect(pair.client.evidence?.leaf?.names().deviceAddresses == [0x0200_5E00_5301])
        #expect(pair.server.evidence?.leaf?.names().operators == ["field-7"])
        #expect(pair.client.cipherName == "TLS_AES_128_GCM_SHA256")
        try pair.client.write(Array("hello".utf8))
        try pair.server.write(Array("welcome".utf8))
        pair.settle()
        #expect(String(decoding: pair.toServer, as: UTF8.self) == "hello")
        #expect(String(decoding: pair.toClient, as: UTF8.self) == "welcome")
    }

    @Test func `a megabyte arrives as it was sent`() async throws {
        let pair = try await pair()
        pair.settle()
        var generator = SeededGenerator(seed: 1)
        let sent = (0..<1_048_576).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        try pair.server.write(sent)
        pair.settle()
        #expect(pair.toClient == sent)
    }

    @Test func `a goodbye lets the other side finish, and an end without one is told`() async throws {
        let pair = try await pair()
        pair.settle()
        pair.client.close()
        pair.settle()
        #expect(pair.server.state == .peerFinished)
        #expect(throws: Never.self) { try pair.server.endOfInput() }
        #expect(throws: TLSError.alreadyOver) { try pair.client.write([1]) }

        let cut = try await self.pair()
        cut.settle()
        #expect(throws: TLSError.connectionLost(.established)) { try cut.server.endOfInput() }
        let silent = try await self.pair()
        #expect(throws: TLSError.connectionLost(.silence)) { try silent.client.endOfInput() }
    }

    @Test func `a controller without a certificate isn't admitted and hears why`() async throws {
        let company = try await TestCompany.shared
        let pair = try await pair(client: company.clientConfiguration(identity: nil))
        pair.settle()
        #expect(pair.serverError == .noCertificate)
        // Its own side was open already: TLS 1.3 tells it afterwards.
        #expect(pair.clientError == .alert(.certificateRequired))
    }

    @Test func `a router's certificate admits no controller`() async throws {
        let company = try await TestCompany.shared
        // The thief configures no root; with the device root, the mistake would be told before any connection.
        let pair = try await pair(client: TLSConfiguration(role: .client, identity: company.device.identity, judge: { _ in nil }))
        pair.settle()
        #expect(pair.serverError.map(isForeign) == true)
        #expect(pair.clientError == .alert(.unknownAuthority))
    }

    @Test func `a router that isn't admitted learns nothing of the controller`() async throws {
        let company = try await TestCompany.shared
        let stranger = try await company.workshop.selfSigned("Stranger", extensions: CertificateWorkshop.deviceExtensions)
        let seen = Mutex<[PeerEvidence]>([])
        let server = company.serverConfiguration(identity: stranger.identity) { evidence in
            seen.withLock { $0.append(evidence) }
            return nil
        }
        let pair = try await pair(server: server)
        pair.settle()
        #expect(pair.clientError.map(isForeign) == true)
        #expect(pair.client.state == .ended)
        #expect(pair.serverError == .noCertificate)
        #expect(seen.withLock { $0.isEmpty })
    }

    private func isForeign(_ error: TLSError) -> Bool {
        if case .certificateRefused(let finding) = error { finding.problem.meansForeign } else { false }
    }

    @Test func `nothing can be written before the peer is known`() async throws {
        let pair = try await pair()
        #expect(throws: TLSError.alreadyOver) { try pair.client.write([1]) }
        #expect(throws: TLSError.alreadyOver) { try pair.server.write([1]) }
    }

    @Test func `a changed record ends the connection`() async throws {
        let pair = try await pair()
        pair.settle()
        try pair.client.write(Array("pay 100".utf8))
        var record = pair.client.takePending()
        record[record.count - 3] ^= 1
        #expect(throws: TLSError.tampered) { try pair.server.feed(record.span.bytes) { _ in Issue.record("delivered a changed record") } }
        #expect(pair.server.state == .ended)
        #expect(throws: TLSError.alreadyOver) { try pair.server.feed(record.span.bytes) { _ in } }
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", TLSOpening.Speech.http), ("SSH-2.0-OpenSSH_9.6\r\n", .text), ("\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}", .bytes),
        ("\0\0\0\0\0\u{1}\0\0\0\u{2}{}", .frames), ("\0\0\0\0\u{1}\0\u{2}\0\0\0{}", .frames),
    ])
    func `whoever doesn't speak TLS is told apart, by both sides`(speech: String, kind: TLSOpening.Speech) async throws {
        for piece in [1, 100] {
            let pair = try await pair()
            for engine in [pair.client, pair.server] {
                var rest = Array(speech.utf8)[...]
                #expect(throws: TLSError.notTLS(kind)) {
                    while let part = Optional(Array(rest.prefix(piece))), !part.isEmpty {
                        rest = rest.dropFirst(part.count)
                        try engine.feed(part.span.bytes) { _ in }
                    }
                }
            }
        }
    }

    @Test func `a hello that declares a hundred thousand bytes is refused at its ninth byte`() async throws {
        let pair = try await pair()
        let header: [UInt8] = [22, 3, 1, 0x40, 0, 1, 1, 0x86, 0xA0]
        #expect(throws: TLSError.handshakeTooLarge(bytes: 100_000, limit: 16_384)) { try pair.server.feed(header.span.bytes) { _ in } }
    }

    @Test func `an endless handshake is cut off`() async throws {
        let pair = try await pair()
        // Complete records of the type that TLS 1.3 tells receivers to skip, without end.
        let filler: [UInt8] = [20, 3, 3, 0, 1, 1]
        let hello = pair.client.takePending()
        try pair.server.feed(hello.span.bytes) { _ in }
        var error: TLSError?
        for _ in 0..<20_000 where error == nil {
            do throws(TLSError) { try pair.server.feed(filler.span.bytes) { _ in } } catch let failure { error = failure }
        }
        #expect(error != nil)
    }

    @Test func `a goodbye in the middle of the handshake is its end, and opens nothing`() async throws {
        let goodbye: [UInt8] = [21, 3, 3, 0, 2, 1, 0]
        let pair = try await pair()
        for engine in [pair.client, pair.server] {
            #expect(throws: TLSError.self) { try engine.feed(goodbye.span.bytes) { _ in } }
            #expect(engine.state == .ended && engine.evidence == nil)
            #expect(throws: TLSError.alreadyOver) { try engine.write([1]) }
        }
    }

    @Test func `an own certificate from the peers' root is refused at once`() async throws {
        let company = try await TestCompany.shared
        let configuration = TLSConfiguration(
            role: .server(requiresPeer: true), identity: company.device.identity, roots: [company.deviceRoot.asRoot], judge: { _ in nil })
        #expect(throws: TLSError.self) { try TLSContext(configuration) }
        #expect(throws: TLSError.self) {
            try TLSContext(
                TLSConfiguration(
                    role: .client, identity: company.operatorIdentity.identity, roots: [company.operatorRoot.asRoot], judge: { _ in nil }))
        }
    }

    @Test func `a wrong key, an encrypted key, no key, rubbish for a certificate and a missing file are each told`() async throws {
        let company = try await TestCompany.shared
        let device = company.device
        func problem(_ identity: TLSIdentity) -> String {
            do throws(TLSError) {
                _ = try TLSContext(company.serverConfiguration(identity: identity))
                return ""
            } catch { return error.description }
        }
        #expect(
            problem(TLSIdentity(certificates: device.certificate, key: SecretBytes(company.operatorIdentity.key))).contains("isn't the key")
        )
        #expect(problem(TLSIdentity(certificates: device.certificate, key: SecretBytes([]))).contains("no usable private key"))
        #expect(problem(TLSIdentity(certificates: Array("rubbish".utf8), key: SecretBytes(device.key))).contains("no certificate"))
        let path = company.workshop.directory.appending(path: "locked.pem").path
        try await runCommand(
            ["openssl", "pkey", "-in", device.keyFile, "-aes128", "-passout", "pass:secret", "-out", path], mustSucceed: true)
        let locked = try TLSIdentity(certificateFile: device.certificateFile, keyFile: path)
        #expect(problem(locked).contains("not encrypted"))
        #expect(throws: TLSError.configuration("cannot open /nonexistent/key.pem: no such file or directory (check the path)")) {
            try TLSIdentity(certificateFile: device.certificateFile, keyFile: "/nonexistent/key.pem")
        }
    }
}
