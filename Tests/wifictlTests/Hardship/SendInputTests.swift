import Glibc
import SocketCore
import TestSupport
import Testing

@Suite("Bodies from standard input", .timeLimit(.minutes(10)))
struct SendInputTests {
    @Test func `a body that wasn't accepted in time is named, and the end isn't a success though all before it was delivered`() async throws
    {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let words = router.tool(["send", HardRouter.mac, "--stdin", "--json", "--timeout", "8s"])
        let sender = try ChildProcess(
            ["sh", "-c", #"trap '' XFSZ; ulimit -f 40; exec "$@""#, "sh"] + words, environment: ["WIFICTL_HOME": home.path])
        sender.write(lines: ["small"])
        _ = try await sender.line("the outcome") { $0.contains(#""outcome":"delivered""#) }
        // Larger than the journal may become.
        sender.write(lines: [String(repeating: "x", count: 30_000)])
        sender.closeInput()
        let result = try await sender.result()
        #expect(result.status == 1)
        #expect(result.errorText.contains("body 2 wasn't accepted within 8.0 s"), "\(result.errorText)")
        let summary = try #require(try jsonLines(result, "summary").first)
        #expect(summary["accepted"] == 1 && summary["delivered"] == 1 && summary["timedOut"] == .bool(true))
        #expect(try await router.taken() == ["small"])
    }

    @Test func `the router's time stands still while input is waited for`() async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let words = router.tool(["send", HardRouter.mac, "--stdin", "--timeout", "6s"])
        let lines = ["sh", "-c", #"(echo first; sleep 7; echo second) | "$@""#, "sh"] + words
        let result = try await runCommand(lines, environment: ["WIFICTL_HOME": home.path])
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try await router.taken() == ["first", "second"])
    }

    @Test func `whoever is refused isn't left typing`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let router = try await VerifyToolTests.router(port, HardRouter.mac, company.device, company)
        let home = try TemporaryDirectory()
        let sender = try ChildProcess(
            [BuiltTool.path, "send", HardRouter.mac, "--stdin", "--json"] + VerifyToolTests.on(port) + VerifyToolTests.trusting(company),
            environment: ["WIFICTL_HOME": home.path])
        // Its input stays open.
        let result = try await sender.result()
        #expect(result.status == 2 && result.errorText.contains("no session"), "\(result.errorText)")
        #expect(result.lines.last?.contains(#""type":"summary""#) ?? false, "\(result.text)")
        let known = try await BuiltTool.run(["routers", "--json"], home: home.path)
        #expect(!known.text.contains(#""current":true"#), "\(known.text)")
        _ = router
    }

    @Test func `Ctrl-C while input is waited for ends with the account of what was delivered`() async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let sender = try router.sender(home)
        sender.write(lines: ["one"])
        _ = try await sender.line("the outcome") { $0.contains(#""outcome":"delivered""#) }
        sender.signal(SIGINT)
        let result = try await sender.result()
        #expect(result.status == 130)
        let last = try JSONValue.parse(Array(try #require(result.lines.last).utf8))
        #expect(last["type"] == "summary" && last["delivered"] == 1 && last["unsettled"] == 0, "\(result.text)")
        #expect(try await router.taken() == ["one"])
    }

    @Test func `what isn't kept is neither called accepted nor kept: it ends with its outcome`() async throws {
        let nobody = "127.0.0.1:\(try FreePort.next())"
        let sent = try await BuiltTool.run(["send", nobody, "a", "b", "--plain", "--timeout", "1s", "--json"])
        #expect(sent.status == 1)
        #expect(try jsonLines(sent, "outcome").map { $0["outcome"] } == ["notSent", "notSent"], "\(sent.text)")
        let summary = try #require(try jsonLines(sent, "summary").last)
        #expect(summary["notSent"] == 2 && summary["unsettled"] == 0)
        #expect(try jsonLines(sent, "outcome").map { $0["line"] } == [1, 2], "\(sent.text)")
        #expect(try jsonLines(sent, "accepted").isEmpty && !sent.errorText.contains("kept for"), "\(sent.text)\(sent.errorText)")
        #expect(try jsonLines(sent, "session").allSatisfy { $0["address"] == .null }, "\(sent.text)")
        let told = try await BuiltTool.run(["send", nobody, "a", "--plain", "--timeout", "1s"])
        #expect(told.errorText.contains("not sent within 1.0 s (cannot connect"), "\(told.errorText)")
    }

    @Test func `a plain device is named in session lines by where it was reached, whatever it was called`() async throws {
        let port = try Loopback.freePort()
        let (device, tcp) = try await Loopback.router(port: port, ["--plain", "--name", "Bare", "--tcp", "0"])
        defer { device.signal(SIGINT) }
        for name in ["127.0.0.1:\(tcp)", "Bare"] {
            let sent = try await runCommand(
                [BuiltTool.path, "send", name, "--stdin", "--plain", "--json", "--interface", "lo", "--port", "\(port)"],
                input: Array("a\nb\n\nc\n".utf8))
            #expect(sent.status == 0, "\(sent.text)\(sent.errorText)")
            let places = try jsonLines(sent, "session").map { ($0["state"]?.stringValue ?? "", $0["address"]) }
            #expect(places.first.map { $0 == ("connecting", .null) } == true && places.count > 1, "\(sent.text)")
            #expect(places.dropFirst().allSatisfy { $0.1 == .string("127.0.0.1:\(tcp)") }, "\(sent.text)")
            #expect(try jsonLines(sent, "outcome").map { $0["line"] } == [1, 2, 3], "\(sent.text)")
        }
    }

    @Test func `lines may be as long as the limit says, and an answer can't be expected by what has no id`() async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let words = router.tool(["send", HardRouter.mac, "--stdin", "--limit", "10"])
        let long = try await runCommand(words, input: Array("0123456789\n0123456789x\n".utf8), environment: ["WIFICTL_HOME": home.path])
        #expect(long.status == 2 && long.errorText.contains("11 bytes is over this session's limit of 10"), "\(long.errorText)")
        try await router.settle(home, "last")
        let asked = try await runCommand(router.tool(["send", HardRouter.mac, "a", "--no-receipt", "--expect-reply"]))
        #expect(asked.status == 64 && asked.errorText.contains("--expect-reply"), "\(asked.errorText)")
        #expect(try await router.taken() == ["0123456789", "last"])
    }
}
