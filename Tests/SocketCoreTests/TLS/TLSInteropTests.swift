import Foundation
import TestSupport
import Testing

@testable import SocketCore

/// The engine against other implementations over loopback: OpenSSL's own tools, Python's ssl module, and GnuTLS where it's installed.
@Suite(.serialized) struct TLSInteropTests {
    static let hasGnuTLS = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].contains {
        FileManager.default.isExecutableFile(atPath: $0 + "/gnutls-cli")
    }

    private static let pythonServer = """
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.load_verify_locations(sys.argv[3])
        context.verify_mode = ssl.CERT_REQUIRED
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        connection = context.wrap_socket(listener.accept()[0], server_side=True)
        connection.sendall(connection.recv(1000).upper())
        connection.unwrap()
        """
    private static let pythonClient = """
        import socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.load_verify_locations(sys.argv[3])
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[4]))))
        connection.sendall(b"from python\\n")
        print(connection.recv(1000).decode(), end="", flush=True)
        connection.unwrap()
        """

    private func clientConfiguration(identity: TLSIdentity? = nil) async throws -> TLSConfiguration {
        let company = try await TestCompany.shared
        return company.clientConfiguration(identity: identity ?? company.operatorIdentity.identity)
    }

    /// `openssl s_server` on a port of its own choice.
    private func startServer(_ options: [String]) async throws -> (process: ChildProcess, port: UInt16) {
        let company = try await TestCompany.shared
        let process = try ChildProcess(
            [
                "openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-cert", company.device.certificateFile, "-key",
                company.device.keyFile, "-rev",
            ] + options)
        let line = try await process.line("port") { $0.hasPrefix("ACCEPT 127.0.0.1:") }
        return (process, try #require(line.split(separator: ":").last.flatMap { UInt16($0) }))
    }

    private func clientWords(_ port: UInt16, _ options: [String]) -> [String] {
        ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-quiet", "-no_ign_eof", "-verify_return_error"] + options
    }

    @Test func `openssl's server proves itself and admits the operator`() async throws {
        let company = try await TestCompany.shared
        let server = try await startServer([
            "-tls1_3", "-Verify", "1", "-verify_return_error", "-CAfile", company.operatorRoot.certificateFile,
        ])
        let outcome = try await LoopbackPump.connect(to: server.port, clientConfiguration(), saying: "abc\n") { $0.last == 0x0A }
        #expect(outcome.error == nil)
        #expect(outcome.text == "cba\n")
        #expect(outcome.evidence?.leaf?.names().deviceAddresses == [0x0200_5E00_5301])
    }

    @Test func `openssl's server with TLS 1.2 alone is refused by version`() async throws {
        let server = try await startServer(["-tls1_2"])
        let outcome = try await LoopbackPump.connect(to: server.port, clientConfiguration(), saying: "abc\n") { $0.last == 0x0A }
        #expect(outcome.error == .versionRefused)
        #expect(outcome.plaintext.isEmpty)
    }

    @Test func `openssl's server that wants another operator root tells so`() async throws {
        let company = try await TestCompany.shared
        let server = try await startServer([
            "-tls1_3", "-Verify", "1", "-verify_return_error", "-CAfile", company.deviceRoot.certificateFile,
        ])
        let outcome = try await LoopbackPump.connect(to: server.port, clientConfiguration(), saying: "abc\n") { $0.last == 0x0A }
        #expect(outcome.error == .alert(.unknownAuthority))
        // The router's own proof stands all the same.
        #expect(outcome.evidence?.findings.isEmpty == true)
    }

    @Test func `openssl's client is admitted with the operator's certificate, and resumes`() async throws {
        let company = try await TestCompany.shared
        let server = try LoopbackPump.serve(company.serverConfiguration(), count: 2)
        let saved = company.workshop.directory.appending(path: "session.pem").path
        let identity = ["-cert", company.operatorIdentity.certificateFile, "-key", company.operatorIdentity.keyFile]
        for session in [["-sess_out", saved], ["-sess_in", saved]] {
            let client = try ChildProcess(
                clientWords(server.port, ["-tls1_3", "-CAfile", company.deviceRoot.certificateFile] + identity + session))
            client.write(Array("echo me\n".utf8))
            #expect(try await client.line("echo") == "echo me")
            client.closeInput()
            _ = try await client.result()
        }
        let outcomes = try await server.outcomes.value
        #expect(outcomes.map(\.error) == [nil, nil])
        #expect(outcomes.map(\.isResumed) == [false, true])
        #expect(outcomes.allSatisfy { $0.evidence?.leaf?.names().operators == ["field-7"] })
        #expect(outcomes.map(\.evidence?.isResumed) == [false, true])
    }

    @Test func `openssl's client is told why it isn't admitted`() async throws {
        let company = try await TestCompany.shared
        let expired = try await company.workshop.issue(
            "Operator", by: company.operatorRoot, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName],
            from: "20250101000000Z", to: "20260101000000Z")
        let revoked = try await company.workshop.issue(
            "Operator", by: company.operatorRoot, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName],
            serial: "3001")
        let list = try await company.workshop.revocationList(by: company.operatorRoot, serials: ["3001"])
        let nameless = try await company.workshop.issue(
            "Operator", by: company.operatorRoot, extensions: CertificateWorkshop.operatorExtensions)
        let early = try await company.workshop.issue(
            "Operator", by: company.operatorRoot, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName],
            from: "20330101000000Z")
        let server = try await company.workshop.issue(
            "Router", by: company.operatorRoot, extensions: CertificateWorkshop.deviceExtensions, names: [TestCompany.operatorName])
        let cases: [(words: String, identity: CertificateWorkshop.Issued?)] = [
            ("certificate required", nil), ("certificate expired", expired), ("certificate revoked", revoked),
            ("unknown ca", company.device),
            ("bad certificate", nameless), ("certificate expired", early), ("unsupported certificate", server),
        ]
        for (words, identity) in cases {
            let listener = try LoopbackPump.serve(company.serverConfiguration(lists: [list]))
            let options = identity.map { ["-cert", $0.certificateFile, "-key", $0.keyFile] } ?? []
            let client = try ChildProcess(clientWords(listener.port, ["-tls1_3", "-CAfile", company.deviceRoot.certificateFile] + options))
            let result = try await client.result()
            #expect(result.errorText.contains(words), "\(words): \(result.errorText)")
            let outcome = try #require(try await listener.outcomes.value.first)
            #expect(outcome.error != nil && outcome.evidence == nil && outcome.plaintext.isEmpty)
        }
    }

    @Test func `a client with TLS 1.2 alone, HTTP and rubbish end in their own errors`() async throws {
        let company = try await TestCompany.shared
        let old = try LoopbackPump.serve(company.serverConfiguration())
        _ = try await runCommand(clientWords(old.port, ["-tls1_2"]))
        #expect(try await old.outcomes.value.first?.error == .versionRefused)
        for (words, error) in [
            ("GET / HTTP/1.0\\r\\n\\r\\n", TLSError.notTLS(.http)), ("\\001\\002\\003\\004\\005\\006", .notTLS(.bytes)),
            ("\\026\\003\\001", .connectionLost(.handshake)), ("", .connectionLost(.silence)),
        ] {
            let server = try LoopbackPump.serve(company.serverConfiguration())
            try await runCommand(["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/\(server.port); printf '\(words)' >&3"])
            #expect(try await server.outcomes.value.first?.error == error)
        }
    }

    @Test func `Python's server and client`() async throws {
        let company = try await TestCompany.shared
        let server = try ChildProcess([
            "python3", "-c", Self.pythonServer, company.device.certificateFile, company.device.keyFile,
            company.operatorRoot.certificateFile,
        ])
        let port = try #require(UInt16(try await server.line("port")))
        let outcome = try await LoopbackPump.connect(to: port, clientConfiguration(), saying: "to python\n") { $0.last == 0x0A }
        #expect(outcome.error == nil && outcome.text == "TO PYTHON\n")

        let ours = try LoopbackPump.serve(company.serverConfiguration())
        let client = try await runCommand([
            "python3", "-c", Self.pythonClient, company.operatorIdentity.certificateFile, company.operatorIdentity.keyFile,
            company.deviceRoot.certificateFile, String(ours.port),
        ])
        #expect(client.text == "from python\n", "\(client.errorText)")
        #expect(try await ours.outcomes.value.first?.error == nil)
    }

    @Test(.enabled(if: TLSInteropTests.hasGnuTLS)) func `GnuTLS's client`() async throws {
        let company = try await TestCompany.shared
        let server = try LoopbackPump.serve(company.serverConfiguration())
        let client = try ChildProcess([
            "gnutls-cli", "--x509cafile", company.deviceRoot.certificateFile, "--x509certfile", company.operatorIdentity.certificateFile,
            "--x509keyfile", company.operatorIdentity.keyFile, "--no-ca-verification", "-p", String(server.port), "127.0.0.1",
        ])
        _ = try await client.line("handshake") { $0.contains("Handshake was completed") }
        client.write(Array("from gnutls\n".utf8))
        _ = try await client.line("echo") { $0 == "from gnutls" }
        client.closeInput()
        _ = try await client.result()
        #expect(try await server.outcomes.value.first?.evidence?.leaf?.names().operators == ["field-7"])
    }
}
