import Foundation
import Glibc
import SocketCore
import Synchronization
import TestSupport
import Testing
import WifiDiscovery

@testable import wifictl

/// How commands end that somebody ends: with what they have, with the status of an interruption, and with nothing left behind.
@Suite(.timeLimit(.minutes(10)))
struct EndingTests {
    private static func on(_ port: Int) -> [String] { ["--interface", "lo", "--port", "\(port)"] }

    @Test func `a child program has no signal blocked or ignored, whatever the thread that starts it has`() async throws {
        // A thread of the pool, as in a benchmark. What the C library uses for itself, 32 and 33, stays as it wants it.
        let result = await Task.detached {
            ChildRun.run(["sh", "-c", "test $(grep -Ec '^(SigBlk:[[:space:]]*0*|SigIgn:.*[08]0{7})$' /proc/self/status) = 2"])
        }.value
        #expect(result == .ended(status: 0))
    }

    @Test func `a child program ends with the task that waits for it, and so does what it has started`() async throws {
        let scratch = try TemporaryDirectory()
        let fifo = scratch.file("fifo")
        try await runCommand(["mkfifo", fifo], mustSucceed: true)
        // Whoever reads the pipe sees its end when the last process that holds it is gone.
        let reader = try ChildProcess(["sh", "-c", "cat '\(fifo)'; echo gone"])
        let task = Task.detached { ChildRun.run(["sh", "-c", "exec 3>'\(fifo)'; sleep 1000 & echo started >&3; wait"]) }
        _ = try await reader.line("the start") { $0 == "started" }
        task.cancel()
        #expect(await task.value == .ended(status: 128 + SIGTERM))
        _ = try await reader.line("the end") { $0 == "gone" }
    }

    @Test func `a search that is broken off is an interruption, and not that nobody was found`() async throws {
        for _ in 0..<5 {
            let port = try Loopback.freePort()
            let home = try TemporaryDirectory()
            let cancellation = CancellationSignal()
            var options = RouterResponder.Options()
            options.interfaces = ["lo"]
            options.port = UInt16(port)
            // In the middle of the search: its first probe has come.
            let responder = RouterResponder(options) { _, _ in cancellation.raise(.interrupt) }
            try await responder.open()
            let said = Mutex("")
            let target = OutputTarget(
                facts: OutputTarget.Facts(width: nil, remarksWidth: nil, isPainted: false, remarksArePainted: false),
                write: { bytes, _ in
                    said.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                    return nil
                }, room: {})
            let runner = Runner(cancellation: cancellation, target: target, environment: { _ in nil })
            let status = await runner.run(["get", "nobody", "wifi.ssid", "--home", home.path] + Self.on(port))
            #expect(status == .interrupted && said.withLock { $0 }.isEmpty, "\(said.withLock { $0 })")
            await responder.close()
        }
    }

    @Test func `a benchmark that is broken off in a scan says what was measured, and doesn't blame the routers`() async throws {
        let bench = try ChildProcess([BuiltTool.path, "bench", "discovery", "--for", "10m", "--json"])
        _ = try await bench.line("the first figure") { $0.contains("roundTrip") }
        bench.signal(SIGINT)
        let result = try await bench.result()
        #expect(result.status == 130 && result.errorText.hasSuffix("interrupted: 1 figure was measured\n"), "\(result.errorText)")
    }

    @Test func `verify and conform print their last line also when they're interrupted`() async throws {
        let port = try Loopback.freePort()
        let verify = try ChildProcess([BuiltTool.path, "verify", "--for", "10m", "--json"] + Self.on(port))
        // A router that is there hears the probe.
        let router = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--tcp", "0"])
        _ = try await router.child.line("a probe") { $0.contains(#""type":"probe""#) }
        verify.signal(SIGINT)
        let verified = try await verify.result()
        #expect(verified.status == 130, "\(verified.errorText)")
        #expect(try JSONContract.check(verified.lines, "verify") == ["summary"], "\(verified.text)")
        let conform = try ChildProcess(
            [
                BuiltTool.path, "conform", "127.0.0.1:\(router.tcp)", "--port", "\(port)", "--json", "--only", "alive", "--only",
                "frame-cuts",
            ])
        _ = try await conform.line("a rule") { $0.contains("frame-cuts") }
        conform.signal(SIGINT)
        let judged = try await conform.result()
        #expect(judged.status == 130, "\(judged.errorText)")
        let last = try JSONValue.parse(Array(#require(judged.lines.last).utf8))
        #expect(last["type"] == "summary" && last["passed"] == 1 && last["failed"] == 0 && last["skipped"] == 1, "\(judged.text)")
    }

    @Test func `a rule about time that is asked alone takes only its own time`() throws {
        let waiting = try #require(ConformTrial.all.first { $0.rules.contains(.helloTimeout) })
        var subject = ConformSubject()
        var bytes = ConformBytes(layout: .standard, seed: 1)
        subject.wanted = [.helloTimeout, .receipt]
        #expect(waiting.script(subject, &bytes) == [.open(0), .listen([0], .ended, atMost: .seconds(44))])
        subject.wanted = Set(ConformRule.all)
        #expect(waiting.script(subject, &bytes).count > 8)
    }

    @Test(arguments: [SIGTERM, SIGHUP])
    func `a router and an agent that a service manager ends have ended well, and in order`(signal: Int32) async throws {
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let router = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let agent = try ChildProcess([BuiltTool.path, "agent", "run", "--home", home.path])
        _ = try await agent.line("listening") { $0.hasPrefix("listening") }
        #expect(try await BuiltTool.run(["get", "Attic", "wifi.ssid"] + Self.on(port), home: home.path).status == 0)
        agent.signal(signal)
        #expect(try await agent.result().status == 0)
        // Its session was closed, and not cut.
        _ = try await router.child.line("the session's end") { $0.contains(#""type":"closed""#) && $0.contains("the peer closed") }
        router.child.signal(signal)
        let result = try await router.child.result()
        #expect(result.status == 0 && result.lines.last?.contains(#""type":"summary""#) == true, "\(result.text)\(result.errorText)")
    }

    @Test func `who ignores a hangup goes on`() async throws {
        let port = try Loopback.freePort()
        let router = try ChildProcess([
            "sh", "-c", "trap '' HUP; exec \(BuiltTool.path) router --interface lo --port \(port) --tcp 0 --mac 02:00:5e:00:53:01 --json",
        ])
        _ = try await router.line("listening") { $0.contains(#""type":"listening""#) }
        router.signal(SIGHUP)
        #expect(
            try await Loopback.discover(port: port, ["--for", "5s", "--bssid", "02:00:5e:00:53:01", "--until-match"]).routers.count == 1)
        router.signal(SIGTERM)
        #expect(try await router.result().status == 0)
    }
}
