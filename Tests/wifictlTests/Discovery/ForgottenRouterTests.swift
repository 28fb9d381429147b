import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// `routers --forget`: whole, or not at all.
@Suite("Routers that are forgotten", .timeLimit(.minutes(10)))
struct ForgottenRouterTests {
    private let home: TemporaryDirectory
    private let port: Int

    init() throws {
        home = try TemporaryDirectory()
        port = try Loopback.freePort()
    }

    private func run(_ words: [String]) async throws -> CommandResult {
        try await BuiltTool.run(words, home: home.path, within: .seconds(200))
    }

    private var network: [String] { ["--interface", "lo", "--port", "\(port)"] }

    private func router(tcp: Int = 0) async throws -> (child: ChildProcess, tcp: Int) {
        try await Loopback.router(port: port, ["--mac", HardRouter.mac, "--name", "Attic", "--tcp", "\(tcp)"])
    }

    /// A router that is known and away, with so many messages kept for it; gives its port.
    private func away(_ texts: [String]) async throws -> Int {
        let first = try await router()
        #expect(try await run(["send", "Attic", "zero"] + network).status == 0)
        first.child.signal(SIGKILL)
        _ = try await first.child.result()
        for text in texts {
            let kept = try await run(["send", "Attic", text, "--timeout", "1s"] + network)
            #expect(kept.status == 1 && kept.errorText.contains("kept for the next send"), "\(kept.text)\(kept.errorText)")
        }
        return first.tcp
    }

    @Test func `messages that wait for it go too, and are told`() async throws {
        let tcp = try await away(["one", "two"])
        let forgotten = try await run(["routers", "--forget", "Attic", "--forget", HardRouter.mac])
        #expect(forgotten.status == 0, "\(forgotten.errorText)")
        #expect(forgotten.errorText.contains("Attic (\(HardRouter.mac)) is forgotten; it was the current one"), "\(forgotten.errorText)")
        #expect(forgotten.errorText.contains("2 messages that were kept for Attic are discarded"), "\(forgotten.errorText)")
        let back = try await router(tcp: tcp)
        let sent = try await run(["send", "Attic", "three", "--json"] + network)
        let summary = try #require(try jsonLines(sent, "summary").last, "\(sent.errorText)")
        #expect(summary["restored"] == 0 && summary["delivered"] == 1, "\(summary.text)")
        back.child.signal(SIGINT)
        #expect(try jsonLines(try await back.child.result(), "message").compactMap { $0["text"]?.stringValue } == ["three"])
    }

    @Test func `a state that can't be written keeps both, and nobody is told otherwise`() async throws {
        _ = try await away(["one"])
        // Where the new state would be written beside the old one.
        try FileManager.default.createDirectory(atPath: home.file("state.json.new"), withIntermediateDirectories: false)
        let failed = try await run(["routers", "--forget", "Attic"])
        #expect(failed.status == 2 && failed.errorText.contains("cannot keep state"), "\(failed.errorText)")
        #expect(!failed.errorText.contains("forgotten") && !failed.errorText.contains("discarded"), "\(failed.errorText)")
        try FileManager.default.removeItem(atPath: home.file("state.json.new"))
        let again = try await run(["routers", "--forget", "Attic", "--json"])
        let line = try #require(try jsonLines(again, "router").first, "\(again.errorText)")
        #expect(line["forgotten"] == true && line["discarded"] == 1, "\(line.text)")
    }

    @Test func `a process that talks to it keeps it on the list`() async throws {
        let router = try await router()
        let sender = try ChildProcess(
            [BuiltTool.path, "send", HardRouter.mac, "--stdin", "--json"] + network,
            environment: ["WIFICTL_HOME": home.path, "WIFICTL_CONFIG": "/dev/null"])
        sender.write(lines: ["first"])
        _ = try await sender.line("outcome") { $0.contains("\"type\":\"outcome\"") }
        let refused = try await run(["routers", "--forget", "Attic"])
        #expect(refused.status == 2 && refused.errorText.contains("another process has a session"), "\(refused.text)\(refused.errorText)")
        sender.signal(SIGINT)
        _ = try await sender.result()
        #expect(try await run(["routers", "--forget", "Attic"]).status == 0)
        withExtendedLifetime(router.child) {}
    }

    @Test func `a port that is none is no name`() async throws {
        let wrong = try await run(["get", "127.0.0.1:99999", "wifi.ssid"] + network)
        #expect(wrong.status == 2 && wrong.errorText.contains("127.0.0.1:99999: '99999' is no port"), "\(wrong.errorText)")
    }
}
