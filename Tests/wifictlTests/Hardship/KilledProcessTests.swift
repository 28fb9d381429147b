import Glibc
import SocketCore
import TestSupport
import Testing

@Suite("Processes that are killed or stopped", .timeLimit(.minutes(10)))
struct KilledProcessTests {
    @Test func `kill -9 at any instant, again and again: what was accepted arrives once, what wasn't at most once`() async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var accepted: [String] = []
        var written: [String] = []
        for round in 1...12 {
            let lines = (1...40).map { "round \(round) line \($0)" }
            written += lines
            let sender = try router.sender(home)
            sender.write(lines: lines)
            // At once, when the session says something, or when so many are accepted.
            let moment = Int.random(in: 0...40, using: &random)
            if moment > 0 { _ = try await sender.line("acceptance \(moment)") { $0.contains("\"line\":\(moment)") } }
            sender.signal(SIGKILL)
            let result = try await sender.result()
            accepted += try jsonLines(result, "accepted").compactMap { $0["line"]?.integerValue }.map { lines[Int($0) - 1] }
        }
        try await router.settle(home, "last")
        let taken = try await router.taken()
        #expect(Set(taken).count == taken.count, "seed \(seed): something came twice")
        #expect(Set(accepted).isSubset(of: taken), "seed \(seed): lost are \(Set(accepted).subtracting(taken))")
        let places = Dictionary(uniqueKeysWithValues: (written + ["last"]).enumerated().map { ($1, $0) })
        #expect(taken.compactMap { places[$0] } == taken.compactMap { places[$0] }.sorted(), "seed \(seed): order")
        #expect(taken.last == "last" && accepted.count > 12)
    }

    @Test func `a router that is killed and started anew gets what it hadn't receipted, and takes nothing twice in one life`() async throws
    {
        let first = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let lines = (1...300).map { "line \($0)" }
        let sender = try first.sender(home)
        sender.write(lines: Array(lines[..<150]))
        _ = try await first.child.line("the hundredth message") { $0.contains("\"text\":\"line 100\"") }
        first.child.signal(SIGKILL)
        let before = try jsonLines(try await first.child.result(), "message").compactMap { $0["text"]?.stringValue }
        sender.write(lines: Array(lines[150...]))
        sender.closeInput()
        let second = try await HardRouter.start(port: first.port, tcp: first.tcp)
        let result = try await sender.result(within: .seconds(150))
        #expect(result.status == 0, "\(result.errorText)")
        let outcomes = try jsonLines(result, "outcome")
        #expect(outcomes.count == 300 && outcomes.allSatisfy { $0["outcome"] == "delivered" })
        let after = try await second.taken()
        for life in [before, after] { #expect(life == lines.filter { Set(life).contains($0) }, "each once, in order") }
        #expect(Set(before + after) == Set(lines))
        #expect(after.count <= 300 - before.count + SessionLimits.window, "no more than a window was in doubt")
    }

    @Test func `a router that is stopped is slow and not lost: it gets everything when it goes on`() async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let lines = (1...200).map { "line \($0)" }
        let sender = try router.sender(home)
        sender.write(lines: Array(lines[..<50]))
        _ = try await router.child.line("the fiftieth message") { $0.contains("\"text\":\"line 50\"") }
        router.child.signal(SIGSTOP)
        sender.write(lines: Array(lines[50..<150]))
        _ = try await sender.line("acceptance while it's stopped") { $0.contains("\"line\":150") }
        router.child.signal(SIGCONT)
        sender.write(lines: Array(lines[150...]))
        sender.closeInput()
        let result = try await sender.result(within: .seconds(150))
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try await router.taken() == lines)
    }

    @Test func `a router that is stopped for too long is given up and dialled, and what it was owed comes once`() async throws {
        let router = try await HardRouter.start()
        var configuration = SessionConfiguration(role: .controller)
        configuration.timing.heartbeat = .milliseconds(300)
        configuration.timing.silence = .seconds(1)
        configuration.timing.hello = .seconds(1)
        configuration.timing.reconnect.base = .milliseconds(20)
        configuration.timing.reconnect.ceiling = .milliseconds(200)
        let session = Session(to: router.endpoint, configuration)
        let (states, continuation) = AsyncStream<SessionState>.makeStream()
        Task(executorPreference: session.loop) {
            for await batch in session.events { for case .state(let state) in batch { continuation.yield(state) } }
        }
        await session.start()
        for number in 1...100 { _ = try await session.post(Array("line \(number)".utf8)) }
        await session.settled()
        router.child.signal(SIGSTOP)
        for number in 101...200 { _ = try await session.post(Array("line \(number)".utf8)) }
        var isSilent = false
        for await state in states {
            if case .lost(.silent) = state { isSilent = true }
            // The kernel takes connections for a process that is stopped; nobody answers the hello.
            if isSilent, case .lost(.noHello) = state { break }
        }
        router.child.signal(SIGCONT)
        await session.settled()
        await session.close()
        #expect(try await router.taken() == (1...200).map { "line \($0)" })
    }

    @Test(arguments: [false, true])
    func `a controller that is stopped goes on with everything once, both ways`(untilItIsGivenUp: Bool) async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let app = try router.sender(home, timeout: "400s")
        app.write(lines: [#"{"op":"subscribe","names":["wifi.ssid"]}"#] + (1...50).map { "line \($0)" })
        _ = try await router.child.line("line 50") { $0.contains("\"text\":\"line 50\"") }
        app.signal(SIGSTOP)
        // Its kernel takes what it's given; nobody reads it.
        app.write(lines: (51...100).map { "line \($0)" })
        for name in ["One", "Two", "Three"] {
            let other = try await runCommand(
                router.tool(["set", HardRouter.mac, "wifi.ssid=\(name)"]), environment: ["WIFICTL_HOME": try TemporaryDirectory().path])
            #expect(other.status == 0, "\(other.errorText)")
        }
        // After 30 s without a byte of it the router gives the connection up, and keeps the session.
        if untilItIsGivenUp {
            _ = try await router.child.line("the end of a silent connection", within: .seconds(300)) {
                $0.contains("\"type\":\"closed\"") && $0.contains("nothing heard")
            }
        }
        app.signal(SIGCONT)
        app.closeInput()
        let result = try await app.result(within: .seconds(400))
        #expect(result.status == 0, "\(result.errorText)")
        #expect(try jsonLines(result, "outcome").count { $0["outcome"] == "delivered" } == 101)
        let heard = try jsonLines(result, "message").compactMap { $0["text"]?.stringValue }
        for name in ["One", "Two", "Three"] {
            #expect(heard.count { $0.contains("changed") && $0.contains("\"\(name)\"") } == 1, "\(name) in \(heard)")
        }
        let resumed = try jsonLines(result, "session").contains { $0["state"] == "resumed" }
        #expect(resumed == untilItIsGivenUp)
        #expect(try await router.taken().filter { $0.hasPrefix("line") } == (1...100).map { "line \($0)" })
    }

    @Test func `an app killed in the background hears on its return what the router had for it`() async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let app = try router.sender(home)
        app.write(lines: [#"{"op":"subscribe","names":["wifi.ssid"]}"#])
        _ = try await app.line("the answer") { $0.contains("\"type\":\"message\"") && $0.contains(#"\"ok\":true"#) }
        app.signal(SIGKILL)
        _ = try await app.result()
        for name in ["One", "Two", "Three"] {
            let other = try await runCommand(
                router.tool(["set", HardRouter.mac, "wifi.ssid=\(name)"]), environment: ["WIFICTL_HOME": try TemporaryDirectory().path])
            #expect(other.status == 0, "\(other.errorText)")
        }
        let back = try await runCommand(
            router.tool(["send", HardRouter.mac, #"{"op":"get","names":["wifi.ssid"]}"#, "--expect-reply", "--json"]),
            environment: ["WIFICTL_HOME": home.path])
        #expect(back.status == 0, "\(back.text)\(back.errorText)")
        #expect(try jsonLines(back, "session").contains { $0["state"] == "resumed" })
        let heard = try jsonLines(back, "message").compactMap { $0["text"]?.stringValue }
        for name in ["One", "Two", "Three"] {
            #expect(heard.count { $0.contains("changed") && $0.contains("\"\(name)\"") } == 1, "\(name) in \(heard)")
        }
        _ = router
    }
}
