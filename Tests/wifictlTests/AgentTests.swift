import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// Commands over the sessions that an agent keeps, between real processes on loopback.
@Suite("The agent") struct AgentTests {
    /// A router, a state directory, and an agent for it.
    private struct Scene {
        let home: TemporaryDirectory
        let port: Int
        let router: ChildProcess
        let agent: ChildProcess

        init(_ routerWords: [String] = [], count: Int = 1) async throws {
            home = try TemporaryDirectory()
            port = try Loopback.freePort()
            router = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic"] + routerWords, count: count)
                .child
            agent = try ChildProcess([BuiltTool.path, "agent", "run", "--home", home.path])
            _ = try await agent.line("listening") { $0.hasPrefix("listening") }
        }

        func run(_ words: [String], within limit: Duration = .seconds(60)) async throws -> CommandResult {
            try await BuiltTool.run(words + ["--interface", "lo", "--port", "\(port)"], home: home.path, within: limit)
        }

        /// How many times a controller said hello to the router, once it has ended.
        func hellos() async throws -> Int {
            router.signal(SIGINT)
            return try await router.result().lines.count { $0.contains(#""type":"hello""#) }
        }
    }

    @Test func `many commands make one session`() async throws {
        let scene = try await Scene()
        for _ in 0..<10 {
            let got = try await scene.run(["get", "02:00:5e:00:53:01", "wifi.ssid"])
            #expect(got.status == 0 && got.text == "wifi.ssid = Home\n", "\(got.text)\(got.errorText)")
        }
        let set = try await scene.run(["set", "Attic", "wifi.ssid=Cellar", "--json"])
        #expect(set.text.contains(#""value":"Cellar""#), "\(set.text)\(set.errorText)")
        let sent = try await scene.run([
            "send", "current", #"{"op":"get","names":["wifi.ssid"]}"#, "two", "--expect-reply", "--timeout", "3s",
        ])
        #expect(sent.text.contains("Cellar"), "\(sent.text)\(sent.errorText)")
        let read = try await scene.run(["read", "Attic", "log", "--output", scene.home.file("log")])
        #expect(read.status == 0, "\(read.errorText)")
        let status = try await scene.run(["agent", "status", "--json"])
        #expect(status.text.contains(#""mac":"02:00:5e:00:53:01""#) && status.text.contains(#""commands":13"#), "\(status.text)")
        #expect(try await scene.hellos() == 1)
    }

    @Test func `commands tell of their session, and name a file as it was written`() async throws {
        let scene = try await Scene()
        for _ in 0..<2 {
            let got = try await scene.run(["get", "Attic", "wifi.ssid", "--verbose"])
            #expect(got.errorText.contains("session with 02:00:5e:00:53:01: open"), "\(got.errorText)")
            let sent = try await scene.run(["send", "Attic", "x", "--json"])
            let states = sent.lines.filter { $0.contains(#""type":"session""#) }
            #expect(states.count == 1 && states[0].contains(#""state":"open","mac":"02:00:5e:00:53:01""#), "\(sent.text)")
            #expect(!states[0].contains(#""session":null"#))
        }
        let words = "'\(BuiltTool.path)' read Attic log --output a.log --interface lo --port \(scene.port)"
        for mode in ["", " --json"] {
            let read = try await runCommand(
                ["sh", "-c", "cd '\(scene.home.path)' && \(words)\(mode)"], environment: ["WIFICTL_HOME": scene.home.path])
            #expect(read.status == 0 && !read.text.contains(scene.home.path) && !read.errorText.contains(scene.home.path), "\(read.text)")
            #expect(read.errorText.contains("bytes in a.log") && FileManager.default.fileExists(atPath: scene.home.file("a.log")))
            #expect(mode.isEmpty || read.text.contains(#""file":"a.log""#), "\(read.text)")
        }
        #expect(try await scene.hellos() == 1)
    }

    @Test func `commands at the same time make one session too`() async throws {
        let scene = try await Scene()
        // Known beforehand, so that all of them name the same router in the same way.
        #expect(try await scene.run(["discover", "--for", "2s"]).status == 0)
        try await withThrowingTaskGroup(of: CommandResult.self) { group in
            for _ in 0..<8 { group.addTask { try await scene.run(["get", "Attic", "clients"]) } }
            for try await result in group { #expect(result.status == 0, "\(result.errorText)") }
        }
        #expect(try await scene.hellos() == 1)
    }

    @Test func `a switch moves the session that is kept`() async throws {
        let scene = try await Scene(count: 2)
        #expect(try await scene.run(["get", "02:00:5e:00:53:01", "wifi.ssid"]).status == 0)
        let moved = try await scene.run(["switch", "02:00:5e:00:53:02", "--json"])
        #expect(
            moved.text.contains(#""type":"switched","mac":"02:00:5e:00:53:02","from":"02:00:5e:00:53:01""#),
            "\(moved.text)\(moved.errorText)")
        #expect(try await scene.run(["get", "current", "wifi.ssid"]).status == 0)
        let status = try await scene.run(["agent", "status", "--json"])
        let held = status.lines.filter { $0.contains(#""type":"held""#) }
        #expect(held.count == 1 && held[0].contains("02:00:5e:00:53:02"), "\(status.text)")
        #expect(try await scene.hellos() == 2)
    }

    @Test func `--alone makes a session of its own, and without an agent each command works`() async throws {
        let scene = try await Scene()
        #expect(try await scene.run(["get", "Attic", "wifi.ssid"]).status == 0)
        #expect(try await scene.run(["get", "Attic", "wifi.ssid", "--alone"]).status == 0)
        #expect(try await scene.run(["agent", "stop"]).status == 0)
        #expect(try await scene.agent.result().status == 0)
        #expect(try await scene.run(["agent", "status"]).status == 1)
        #expect(try await scene.run(["get", "Attic", "wifi.ssid"]).status == 0)
        #expect(try await scene.hellos() == 3)
    }

    @Test func `once a stop has returned the next agent starts, again and again`() async throws {
        let scene = try await Scene()
        #expect(try await scene.run(["get", "Attic", "wifi.ssid"]).status == 0)
        for _ in 0..<3 {
            let stopped = try await BuiltTool.run(["agent", "stop", "--json"], home: scene.home.path)
            #expect(stopped.status == 0 && stopped.text.contains(#""running":false"#), "\(stopped.text)\(stopped.errorText)")
            let started = try await BuiltTool.run(["agent", "start", "--json"], home: scene.home.path)
            #expect(started.status == 0 && started.text.contains(#""running":true"#), "\(started.text)\(started.errorText)")
        }
        #expect(try await BuiltTool.run(["agent", "stop"], home: scene.home.path).status == 0)
        #expect(try await BuiltTool.run(["agent", "stop"], home: scene.home.path).status == 1)
    }

    @Test func `a stop waits for the commands under way, and says so`() async throws {
        let scene = try await Scene(["--lose-receipts", "1"])
        let words = ["send", "Attic", "never receipted", "--json", "--interface", "lo", "--port", "\(scene.port)", "--timeout", "1m"]
        let sender = try ChildProcess([BuiltTool.path] + words, environment: ["WIFICTL_HOME": scene.home.path])
        _ = try await sender.line("accepted") { $0.contains(#""type":"accepted""#) }
        let stop = try ChildProcess(["sh", "-c", "exec \(BuiltTool.path) agent stop --home \(scene.home.path) 2>&1"])
        _ = try await stop.line("the wait") { $0.contains("after the 1 command that it runs") }
        sender.signal(SIGINT)
        #expect(try await sender.result().status == 130)
        #expect(try await stop.result().status == 0)
        #expect(try await scene.agent.result().status == 0)
    }

    @Test func `an agent of another version refuses commands, and is ended all the same`() async throws {
        let scene = try await Scene()
        let link = try await LocalLink.connect(to: AgentWire.path(home: scene.home.path))
        var request = AgentRequest(
            words: ["agent", "status"], directory: "/",
            terminal: OutputTarget.Facts(width: nil, remarksWidth: nil, isPainted: false, remarksArePainted: false), environment: [:])
        request.version = "0.0.1"
        link.post(AgentWire.Kind.request.rawValue, request.encoded)
        link.post(AgentWire.Kind.begin.rawValue)
        let answer = try #require(await link.next())
        #expect(answer.map(\.msgId) == [AgentWire.Kind.refusal.rawValue])
        let stopper = try await LocalLink.connect(to: AgentWire.path(home: scene.home.path))
        // Nothing of a version is in it.
        stopper.post(AgentWire.Kind.stop.rawValue)
        #expect(try await scene.agent.result().status == 0)
    }

    @Test func `an agent that was killed is no obstacle`() async throws {
        let scene = try await Scene()
        #expect(try await scene.run(["get", "Attic", "wifi.ssid"]).status == 0)
        scene.agent.signal(SIGKILL)
        _ = try await scene.agent.result()
        #expect(FileManager.default.fileExists(atPath: AgentWire.path(home: scene.home.path)))
        #expect(try await scene.run(["get", "Attic", "wifi.ssid"]).status == 0)
        let next = try ChildProcess([BuiltTool.path, "agent", "run", "--home", scene.home.path])
        _ = try await next.line("listening") { $0.hasPrefix("listening") }
        #expect(try await scene.run(["agent", "status"]).status == 0)
    }

    @Test func `paths are relative to where the command was written, and errors come from there`() async throws {
        let scene = try await Scene()
        let directory = try TemporaryDirectory()
        try Data("from a file".utf8).write(to: URL(fileURLWithPath: directory.file("body")))
        let network = "--interface lo --port \(scene.port)"
        let sent = try await runCommand(
            ["sh", "-c", "cd \(directory.path) && \(BuiltTool.path) send Attic --file body \(network)"],
            environment: ["WIFICTL_HOME": scene.home.path])
        #expect(sent.status == 0, "\(sent.errorText)")
        let missing = try await scene.run(["send", "Attic", "--file", "no-such-file"])
        #expect(missing.status == 2 && missing.errorText.contains("no-such-file"), "\(missing.errorText)")
        let wrong = try await scene.run(["get", "Attic", "no.such.property"])
        #expect(wrong.status == 2 && wrong.errorText.contains("wifictl: "), "\(wrong.errorText)")
    }

    @Test func `Ctrl-C ends the command and not the agent`() async throws {
        let scene = try await Scene(["--lose-receipts", "1"])
        let sender = try ChildProcess(
            [BuiltTool.path, "send", "Attic", "never receipted", "--json", "--interface", "lo", "--port", "\(scene.port)"],
            environment: ["WIFICTL_HOME": scene.home.path])
        _ = try await sender.line("accepted") { $0.contains(#""type":"accepted""#) }
        sender.signal(SIGINT)
        #expect(try await sender.result().status == 130)
        #expect(try await scene.run(["agent", "status"]).status == 0)
    }

    @Test func `a send tells what became of what earlier ones have left, though it ended before`() async throws {
        let tcp = try FreePort.next()
        let scene = try await Scene(["--lose-receipts", "1", "--tcp", "\(tcp)"])
        let mac = "02:00:5e:00:53:01"
        func replace(_ old: ChildProcess, _ words: [String] = []) async throws -> ChildProcess {
            old.signal(SIGKILL)
            _ = try await old.result()
            return try await Loopback.router(port: scene.port, ["--mac", mac, "--name", "Attic", "--tcp", "\(tcp)"] + words).child
        }
        func send(_ words: String...) async throws -> (restored: JSONValue?, delivered: JSONValue?, lines: [JSONValue]) {
            let sent = try await scene.run(["send", mac, "--json"] + words)
            let summary = try #require(try jsonLines(sent, "summary").last, "\(sent.text)\(sent.errorText)")
            return (summary["restored"], summary["delivered"], try jsonLines(sent, "outcome").map { $0["line"] ?? "?" })
        }
        // Left in the journal: the agent's session delivers it while it opens.
        #expect(try await scene.run(["send", mac, "one", "--alone", "--timeout", "1s"]).status == 1)
        var router = try await replace(scene.router)
        #expect(try await send() == (1, 1, [.null]))
        #expect(try await send() == (0, 0, []))
        // Left in the agent, whose session goes on with it.
        router = try await replace(router, ["--lose-receipts", "1"])
        #expect(try await scene.run(["get", mac, "wifi.ssid"]).status == 0)
        #expect(try await send("two", "--timeout", "1s") == (0, 0, []))
        router = try await replace(router)
        #expect(try await scene.run(["get", mac, "wifi.ssid"]).status == 0)
        #expect(try await send("three") == (1, 2, [.null, 1]))
        router.signal(SIGKILL)
        _ = try await router.result()
        let away = try await scene.run(["send", mac, "four", "--timeout", "1s"])
        #expect(away.errorText.contains("doesn't answer; it's dialled where it was, 127.0.0.1:\(tcp)"), "\(away.errorText)")
    }

    @Test func `a request survives the wire`() {
        let request = AgentRequest(
            words: ["send", "Attic", "a \"b\"\n\u{1F4E1}"], directory: "/tmp/with space",
            terminal: OutputTarget.Facts(width: 80, remarksWidth: nil, isPainted: true, remarksArePainted: false),
            environment: ["HOME": "/somewhere", "WIFICTL_PORT": "29510"])
        #expect(AgentRequest(request.encoded) == request)
        #expect(AgentRequest(Array("no request".utf8)) == nil)
    }
}
