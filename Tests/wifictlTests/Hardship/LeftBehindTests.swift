import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// `send` after runs that were killed: no accepted message is left behind, wherever it lies and whoever answers now.
@Suite("Messages that earlier runs of send have left", .timeLimit(.minutes(10)))
struct LeftBehindTests {
    private let home: TemporaryDirectory
    private let port: Int

    init() throws {
        home = try TemporaryDirectory()
        port = try Loopback.freePort()
    }

    private func run(_ words: [String]) async throws -> CommandResult {
        try await BuiltTool.run(words + ["--interface", "lo", "--port", "\(port)"], home: home.path, within: .seconds(200))
    }

    private func router(tcp: Int = 0, _ words: [String] = []) async throws -> (child: ChildProcess, tcp: Int) {
        try await Loopback.router(port: port, ["--mac", HardRouter.mac, "--name", "Attic", "--tcp", "\(tcp)"] + words)
    }

    private func kill(_ child: ChildProcess) async throws -> CommandResult {
        child.signal(SIGKILL)
        return try await child.result()
    }

    private func texts(_ child: ChildProcess) async throws -> [String] {
        child.signal(SIGINT)
        return try jsonLines(try await child.result(), "message").compactMap { $0["text"]?.stringValue }
    }

    private func summary(_ result: CommandResult) throws -> JSONValue {
        try #require(try jsonLines(result, "summary").last, "\(result.text)\(result.errorText)")
    }

    /// A `send` with these words, killed once it has accepted a body.
    private func sendAndKill(_ words: [String]) async throws {
        let sender = try sender(words)
        _ = try await sender.line("acceptance") { $0.contains("\"type\":\"accepted\"") }
        _ = try await kill(sender)
    }

    private func sender(_ words: [String]) throws -> ChildProcess {
        try ChildProcess(
            [BuiltTool.path, "send", HardRouter.mac, "--json", "--timeout", "120s", "--interface", "lo", "--port", "\(port)"] + words,
            environment: ["WIFICTL_HOME": home.path, "WIFICTL_CONFIG": "/dev/null"])
    }

    @Test func `two at once, both killed: the next send settles what either has left`() async throws {
        let deaf = try await router(["--lose-receipts", "1"])
        let first = try sender(["--stdin"])
        first.write(lines: ["first"])
        _ = try await first.line("acceptance") { $0.contains("\"type\":\"accepted\"") }
        try await sendAndKill(["precious"])
        _ = try await kill(first)
        _ = try await kill(deaf.child)
        let alive = try await router(tcp: deaf.tcp)
        let settled = try await run(["send", HardRouter.mac, "--json"])
        #expect(settled.status == 0, "\(settled.text)\(settled.errorText)")
        let summary = try summary(settled)
        #expect(summary["restored"] == 2 && summary["delivered"] == 2 && summary["unsettled"] == 0, "\(summary.text)")
        #expect(Set(try await texts(alive.child)) == ["first", "precious"])
        // One session for each, and each line tells of its own, to the last.
        let told = try jsonLines(settled, "session")
        let sessions = Set(told.compactMap { $0["session"]?.stringValue })
        #expect(sessions.count == 2 && told.allSatisfy { $0["session"]?.stringValue != nil }, "\(settled.text)")
        for one in sessions { #expect(told.last { $0["session"]?.stringValue == one }?["state"] == "closed", "\(settled.text)") }
    }

    @Test func `a smaller limit: the larger message stays, is named, and is settled by a send that allows it`() async throws {
        let deaf = try await router(["--lose-receipts", "1"])
        let large = String(repeating: "a", count: 44)
        try await sendAndKill([large])
        _ = try await kill(deaf.child)
        let alive = try await router(tcp: deaf.tcp)
        let small = try await run(["send", HardRouter.mac, "hi", "--limit", "16", "--json"])
        #expect(small.status == 1, "\(small.text)\(small.errorText)")
        #expect(small.errorText.contains("message 1 of 44 bytes") && small.errorText.contains("limit"), "\(small.errorText)")
        #expect(try summary(small)["delivered"] == 1)
        let settled = try await run(["send", HardRouter.mac, "--json"])
        #expect(try settled.status == 0 && summary(settled)["restored"] == 1, "\(settled.text)\(settled.errorText)")
        #expect(try await texts(alive.child) == ["hi", large])
    }

    @Test func `a known router that is away: messages for it are kept, other commands say what is known of it`() async throws {
        let first = try await router()
        #expect(try await run(["send", HardRouter.mac, "zero"]).status == 0)
        _ = try await kill(first.child)
        for (name, text) in [("Attic", "one"), ("current", "two")] {
            let kept = try await run(["send", name, text, "--timeout", "1s", "--json"])
            #expect(kept.status == 1 && kept.errorText.contains("kept for the next send"), "\(kept.text)\(kept.errorText)")
            #expect(kept.errorText.contains("cannot connect"), "the reason: \(kept.errorText)")
            #expect(try jsonLines(kept, "accepted").count == 1)
        }
        for words in [
            ["get", "Attic", "wifi.ssid"], ["get", "Attic", "wifi.ssid", "--timeout", "1s"], ["set", "current", "wifi.ssid=x"],
            ["read", HardRouter.mac, "log"], ["switch", "Attic"],
        ] {
            let away = try await run(words)
            #expect(away.status == 2, "\(words): \(away.text)\(away.errorText)")
            #expect(
                away.errorText.contains("Attic (\(HardRouter.mac)) is known (last seen at 127.0.0.1 on lo, ")
                    && away.errorText.contains(") but doesn't answer"),
                "\(words): \(away.errorText)")
            #expect(away.errorText.components(separatedBy: "doesn't answer").count == 2, "told once: \(away.errorText)")
        }
        let alive = try await router(tcp: first.tcp)
        let settled = try await run(["send", "current", "--json"])
        #expect(try settled.status == 0 && summary(settled)["restored"] == 2, "\(settled.text)\(settled.errorText)")
        #expect(try await texts(alive.child) == ["one", "two"])
    }

    @Test func `without a current router nobody is looked for by that name`() async throws {
        let result = try await run(["get", "current", "wifi.ssid"])
        #expect(result.status == 2 && result.errorText.contains("no router is the current one"), "\(result.errorText)")
    }

    @Test func `whoever has taken the place of the company's router that is away gets nothing of what is kept for it`() async throws {
        let company = try await TestCompany.shared
        let stranger = try await company.workshop.selfSigned("Somebody else")
        let trusting = VerifyToolTests.trusting(company, operatorIdentity: company.operatorIdentity)
        let honest = try await router(VerifyToolTests.words(company.device, company))
        let zero = try await run(["send", HardRouter.mac, "zero"] + trusting)
        #expect(zero.status == 0, "\(zero.errorText)")
        _ = try await kill(honest.child)
        // At its place, in its name, and silent when it's looked for; with a key of its own, or none.
        let forged = try await VerifyToolTests.device(company, "01", by: stranger)
        for words in [VerifyToolTests.words(forged, company), []] {
            let other = try Loopback.freePort()
            let impostor = try await Loopback.router(port: other, ["--mac", HardRouter.mac, "--tcp", "\(honest.tcp)"] + words).child
            let kept = try await run(["send", HardRouter.mac, "secret", "--timeout", "3s", "--json"] + trusting)
            #expect(kept.status != 0 && kept.errorText.contains("kept for the next send"), "\(kept.text)\(kept.errorText)")
            impostor.signal(SIGINT)
            let lines = try await impostor.result().text
            #expect(!lines.contains("\"type\":\"hello\"") && !lines.contains("secret"), "\(lines)")
        }
        let back = try await router(tcp: honest.tcp, VerifyToolTests.words(company.device, company))
        let settled = try await run(["send", HardRouter.mac, "--json"] + trusting)
        #expect(settled.status == 0, "\(settled.text)\(settled.errorText)")
        #expect(try await texts(back.child) == ["secret", "secret"])
    }
}
