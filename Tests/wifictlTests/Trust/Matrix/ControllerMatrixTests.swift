import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing

/// `wifictl router` against TLS clients that others have written, with certificates that the openssl command has made.
@Suite("Controllers of all kinds told apart", .timeLimit(.minutes(10)))
struct ControllerMatrixTests {
    /// Whose TLS the controller speaks.
    enum Client: String, CaseIterable, Sendable {
        case openssl, python, gnutls

        var isThere: Bool { self != .gnutls || TestProgram.isThere("gnutls-cli") }
    }

    /// Connects, says the hello that comes on its standard input as hex, and prints what comes back, as hex.
    private static let pythonClient = """
        import socket, ssl, sys
        port, root, version, chain, key = int(sys.argv[1]), sys.argv[2], sys.argv[3], *sys.argv[4:6]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(root)
        if version == "old":
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        if chain:
            context.load_cert_chain(chain, key)
        connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
        connection.sendall(bytes.fromhex(sys.stdin.readline()))
        print(connection.recv(4096).hex(), flush=True)
        sys.stdin.readline()
        """

    /// A controller's first frame, for a session of its own.
    static func hello() throws -> [UInt8] {
        let hello = ControllerHello(session: .random(), versions: [1], received: 0, resume: false, client: "stranger")
        return try FrameEncoder().encode(Frame(msgId: 0, version: 1, body: hello.encoded()))
    }

    private func connect(_ client: Client, to port: Int, _ one: OperatorCases.Case) async throws -> ChildProcess {
        let company = try await TestCompany.shared
        let root = company.deviceRoot.certificateFile
        let chain = try one.leaf.map { try company.workshop.file($0.certificate + one.others.flatMap(\.certificate)) }
        let child: ChildProcess
        switch client {
        case .openssl:
            let identity = chain.map { ["-cert", $0, "-cert_chain", $0, "-key", one.leaf?.keyFile ?? ""] } ?? []
            let words = ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-quiet", "-CAfile", root]
            child = try ChildProcess(words + [one.isOld ? "-tls1_2" : "-tls1_3"] + identity)
        case .python:
            let identity = [chain ?? "", one.leaf?.keyFile ?? ""]
            child = try ChildProcess(["python3", "-c", Self.pythonClient, "\(port)", root, one.isOld ? "old" : "new"] + identity)
            child.write(Array((try Self.hello().map { String(format: "%02x", $0) }.joined() + "\n").utf8))
            return child
        case .gnutls:
            let identity = chain.map { ["--x509certfile", $0, "--x509keyfile", one.leaf?.keyFile ?? ""] } ?? []
            let versions = one.isOld ? ["--priority", "NORMAL:-VERS-ALL:+VERS-TLS1.2"] : []
            let words = ["gnutls-cli", "--no-ca-verification", "-p", "\(port)", "127.0.0.1", "--logfile", "/dev/null"]
            child = try ChildProcess(words + versions + identity)
        }
        child.write(try Self.hello())
        return child
    }

    /// What the router said of a controller: nil for its hello, else why it was turned away.
    private func judgement(of router: ChildProcess) async throws -> String? {
        let line = try JSONValue.parse(
            Array(
                try await router.line("judgement", within: .seconds(120)) {
                    $0.contains(#""type":"hello""#) || $0.contains(#""type":"refused""#)
                }
                .utf8))
        return line["type"] == "hello" ? nil : line["reason"]?.stringValue ?? ""
    }

    /// How late it certainly is, a router keeps in its state: what one learned by a clock that stood still isn't for those of other tests.
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func startRouter(_ words: [String] = [], environment: [String: String] = [:]) async throws -> (ChildProcess, tcp: Int) {
        let company = try await TestCompany.shared
        let all = ["--mac", VerifyToolTests.mac, "--tcp", "0", "--address", "127.0.0.1"] + VerifyToolTests.words(company.device, company)
        return try await Loopback.router(port: try Loopback.freePort(), all + words + ["--home", home.path], environment: environment)
    }

    private func expect(_ cases: [OperatorCases.Case], _ client: Client, _ router: (ChildProcess, tcp: Int), hasClock: Bool = true)
        async throws
    {
        for one in cases {
            let child = try await connect(client, to: router.tcp, one)
            let reason = try await judgement(of: router.0)
            let isAdmitted = one.refusal == nil || !hasClock && one.isForgivenWithoutClock
            #expect((reason == nil) == isAdmitted, "\(client) \(one.name): \(reason ?? "admitted")")
            if let reason, let refusal = one.refusal { #expect(reason.contains(refusal), "\(client) \(one.name): \(reason)") }
            child.signal(SIGKILL)
        }
    }

    @Test(arguments: Client.allCases.filter(\.isThere))
    func `each certificate is admitted or turned away for its reason, whoever shows it`(client: Client) async throws {
        let all = try await OperatorCases.shared
        let router = try await startRouter(["--crl", all.freshList])
        try await expect(all.cases, client, router)
        // Honest ones are admitted as before.
        try await expect(Array(all.cases.prefix(1)), client, router)
    }

    @Test func `a stale list refuses what it lists and locks nobody else out; without a list nobody is revoked`() async throws {
        let all = try await OperatorCases.shared
        try await expect(all.cases, .openssl, try await startRouter(["--crl", all.staleList]))
        let router = try await startRouter()
        for one in all.cases where one.isRevoked {
            let child = try await connect(.openssl, to: router.tcp, one)
            #expect(try await judgement(of: router.0) == nil)
            child.signal(SIGKILL)
        }
    }

    @Test(.enabled(if: TestProgram.isThere("cc"), "no C compiler to make a clock with"))
    func `a router whose clock shows 1970 forgives what begins later, and nothing else`() async throws {
        let all = try await OperatorCases.shared
        let clock = try await TestProgram.clock(stoppedAt: 86_400)
        let router = try await startRouter(["--crl", all.freshList], environment: clock.environment)
        try await expect(all.cases, .openssl, router, hasClock: false)
        _ = clock
    }

    @Test func `who speaks no TLS, garbage, half a hello or nothing is turned away for it, as is who stalls`() async throws {
        let router = try await startRouter()
        let speeches: [(speech: [UInt8], isKept: Bool, reason: String)] = [
            (try Self.hello(), false, "in the clear"), (Array("GET / HTTP/1.0\r\n\r\n".utf8), false, "HTTP"),
            ((0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 201) }, false, "aren't TLS"),
            ([0x16, 0x03, 0x01, 0x02, 0x00, 0x01], false, "middle of the handshake"), ([], false, "before the peer said anything"),
            ([0x16, 0x03, 0x01, 0x02, 0x00, 0x01], true, "no TLS handshake within"),
        ]
        for (speech, isKept, reason) in speeches {
            let escaped = speech.map { String(format: "\\x%02x", $0) }.joined()
            let stay = isKept ? "; read -r" : ""
            let child = try ChildProcess(["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/\(router.tcp); printf '\(escaped)' >&3\(stay)"])
            let said = try await judgement(of: router.0)
            #expect(said?.contains(reason) == true, "\(reason): \(said ?? "admitted")")
            child.signal(SIGKILL)
        }
    }
}
