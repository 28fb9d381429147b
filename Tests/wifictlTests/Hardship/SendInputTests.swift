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
        let sender = try ChildProcess(
            [BuiltTool.path, "send", HardRouter.mac, "--stdin"] + VerifyToolTests.on(port) + VerifyToolTests.trusting(company))
        // Its input stays open.
        let result = try await sender.result()
        #expect(result.status == 2 && result.errorText.contains("no session"), "\(result.errorText)")
        _ = router
    }
}
