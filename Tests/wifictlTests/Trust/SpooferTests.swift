import Foundation
import SocketCore
import TestSupport
import Testing

/// Attackers between a controller and its router: they gain nothing. One after the other: several floods at once would only show how much a
/// machine can do.
@Suite("Spoofers", .serialized, .timeLimit(.minutes(10)))
struct SpooferTests {
    /// No other test's: that a message came to this suite's router, and not to one with the same certificate, is what these tests are about.
    private static let mac = "02:00:5e:00:53:77"
    private static let bssid = "02:00:5e:00:53:11"

    /// A genuine router whose answers come after everybody else's, and a spoofer with a listener of its own, whose certificate has the right
    /// name and the wrong issuer.
    private func start(flood: Int, hosts: Int, replays: Bool) async throws -> (
        port: Int, router: (child: ChildProcess, tcp: Int), others: [ChildProcess]
    ) {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let words = ["--mac", Self.mac, "--bssid", Self.bssid, "--tcp", "0", "--address", "127.0.0.1", "--reply-delay", "50ms"]
        let router = try await Loopback.router(port: port, words + VerifyToolTests.words(try await Self.device(company), company))
        let stranger = try await VerifyToolTests.device(company, "77", by: try await company.workshop.selfSigned("Cloner"))
        let (server, ports) = try await PythonPeer.listening(
            PythonPeer.servers, ["new,\(stranger.certificateFile),\(stranger.keyFile)"])
        let arguments = ["\(port)", Self.mac, Self.bssid, "\(ports[0])", "\(flood)", replays ? "replay" : "nothing", "\(hosts)"]
        let forger = try ChildProcess(["python3", "-c", SpooferScripts.forger] + arguments)
        _ = try await forger.line("ready", within: .seconds(60))
        return (port, router, [server, forger])
    }

    private static func device(_ company: TestCompany) async throws -> CertificateWorkshop.Issued {
        try await VerifyToolTests.device(company, "77")
    }

    private func trusting() async throws -> [String] {
        let company = try await TestCompany.shared
        return VerifyToolTests.trusting(company, operatorIdentity: company.operatorIdentity)
    }

    // The one from many addresses fills the list, and fits the socket's buffer: how fast this machine reads doesn't matter.
    @Test(arguments: [(0, 1), (10_000, 1), (8_000, 10)])
    func `forged and replayed replies that come first, alone or in thousands, from one address or many, hide no genuine router`(
        flood: Int, hosts: Int
    ) async throws {
        let (port, router, others) = try await start(flood: flood, hosts: hosts, replays: true)
        let found = try await Loopback.discover(
            port: port, ["--for", hosts > 1 ? "15s" : "5s", "--bssid", Self.bssid] + trusting(), within: .seconds(180))
        #expect(found.selected["mac"] == .string(Self.mac) && found.selected["why"] == "radio", "\(found.selected.text)")
        let genuine = found.routers.filter { $0["mac"] == .string(Self.mac) }
        #expect(genuine.count == 1 && genuine.first?["verdict"] == "company", "\(genuine.map(\.text))")
        #expect(found.routers.filter { $0["verdict"] == "company" }.count == 1)
        // A reply to somebody else's question is nothing, however often it comes.
        #expect((found.summary["stale"]?.integerValue ?? 0) > 0, "\(found.summary.text)")
        if flood > 0 {
            _ = try await others[1].line("the flood", within: .seconds(60)) { $0 == "flooded" }
            #expect(found.routers.count > (hosts > 1 ? 4_000 : 100), "\(found.summary.text)")
        }
        if hosts > 1 {
            #expect((found.summary["flood"]?["sources"]?.integerValue ?? 0) > 1, "\(found.summary.text)")
        }
        let sent = try await BuiltTool.run(
            ["send", Self.mac, "for the genuine one", "--json"] + VerifyToolTests.on(port) + trusting(), within: .seconds(120))
        #expect(sent.status == 0 && sent.text.contains(#""outcome":"delivered""#), "\(sent.text)\(sent.errorText)")
        #expect(sent.text.contains("\"address\":\"127.0.0.1:\(router.tcp)\""), "\(sent.text)")
        _ = try await router.child.line("message", within: .seconds(60)) { $0.contains("for the genuine one") }
        // They live until here: a forger's port that is free again may be anybody's.
        withExtendedLifetime(others) {}
    }

    @Test func `a flood of ports from the router's own address, before it answers, hides its own port from nobody`() async throws {
        let (port, router, others) = try await start(flood: -9_000, hosts: 1, replays: false)
        let found = try await Loopback.discover(
            port: port, ["--for", "5s", "--bssid", Self.bssid] + trusting(), within: .seconds(180))
        let genuine = found.routers.filter { $0["mac"] == .string(Self.mac) }
        #expect(genuine.count == 1 && genuine.first?["verdict"] == "company", "\(genuine.map(\.text)) \(found.summary.text)")
        #expect(found.selected["mac"] == .string(Self.mac), "\(found.selected.text)")
        withExtendedLifetime((router, others)) {}
    }

    @Test func `a relay proves nothing for itself, reads nothing and changes nothing`() async throws {
        let company = try await TestCompany.shared
        let folder = try TemporaryDirectory()
        let (router, tcp) = try await Loopback.router(
            port: try Loopback.freePort(),
            ["--mac", Self.mac, "--tcp", "0", "--address", "127.0.0.1"] + VerifyToolTests.words(try await Self.device(company), company))
        func relay(_ mode: String) async throws -> (child: ChildProcess, port: Int) {
            let child = try ChildProcess(["python3", "-c", SpooferScripts.relay, "\(tcp)", mode, folder.file(mode)])
            return (child, try #require(Int(try await child.line("port", within: .seconds(60)))))
        }
        let (passing, changing) = (try await relay("pass"), try await relay("change"))
        let (own, proxied, altered) = ("02:00:5e:00:53:66", try Loopback.freePort(), try Loopback.freePort())
        let replies = [PythonPeer.Reply(mac: own, tcp: passing.port), PythonPeer.Reply(mac: Self.mac, tcp: passing.port)]
        let responders = [
            try await PythonPeer.respond(on: proxied, replies),
            try await PythonPeer.respond(on: altered, [PythonPeer.Reply(mac: Self.mac, tcp: changing.port)]),
        ]
        // Its own name: the genuine router's certificate speaks against it.
        let verdicts = try await RouterMatrixTests.verify(port: proxied, trusting())
        #expect(verdicts[own]?["verdict"] == "impostor" && verdicts[Self.mac]?["verdict"] == "company", "\(verdicts)")
        // The genuine name: then it is a cable, and no more.
        let body = "the secret of the attic"
        let sent = try await BuiltTool.run(["send", Self.mac, body] + VerifyToolTests.on(proxied) + trusting())
        #expect(sent.status == 0, "\(sent.errorText)")
        _ = try await router.line("message", within: .seconds(60)) { $0.contains(body) }
        let seen = try Data(contentsOf: URL(fileURLWithPath: folder.file("pass")))
        #expect(seen.count > 1_000)
        for text in [body, "hello", "session", Self.mac] { #expect(seen.range(of: Data(text.utf8)) == nil, "\(text)") }
        // A changed bit ends the connection: nothing of it arrives.
        let spoiled = try await BuiltTool.run(
            ["send", Self.mac, "for the other side", "--timeout", "3s"] + VerifyToolTests.on(altered) + trusting())
        #expect(spoiled.status == 1, "\(spoiled.text)\(spoiled.errorText)")
        router.signal(SIGINT)
        let log = try await router.result()
        #expect(!log.text.contains("other side") && log.text.contains("changed on its way"), "\(log.text)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file("change"))).range(of: Data("other side".utf8)) == nil)
        _ = responders
    }

    @Test func `a crowd of unfinished handshakes keeps no honest controller out`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let (router, tcp) = try await Loopback.router(
            port: port,
            ["--mac", Self.mac, "--tcp", "0", "--address", "127.0.0.1"] + VerifyToolTests.words(try await Self.device(company), company))
        let crowd = try ChildProcess(["python3", "-c", SpooferScripts.crowd, "\(tcp)"])
        _ = try await crowd.line("crowd", within: .seconds(60))
        for number in 1...3 {
            let sent = try await BuiltTool.run(
                ["send", Self.mac, "honest \(number)"] + VerifyToolTests.on(port) + trusting())
            #expect(sent.status == 0, "\(sent.errorText)")
            _ = try await router.line("message", within: .seconds(60)) { $0.contains("honest \(number)") }
            _ = try await crowd.line("crowd", within: .seconds(60))
        }
        router.signal(SIGINT)
        #expect(try await router.result().text.contains("displaced by newcomers"))
    }
}
