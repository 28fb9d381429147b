import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// Killed at any point and started again, the tool is back with its router, its session and its unfinished messages.
///
/// Real processes on loopback, killed with SIGKILL after a random time: while they look for the router, connect, send,
/// read and switch. Two hundred times with the tests of the LAN, a dozen times with the others.
@Suite("Killed and restored") struct RestoreTests {
    private static let macs = ["02:00:5e:00:53:01", "02:00:5e:00:53:02"]
    private static let rounds = ProcessInfo.processInfo.environment["WIFI_LAN_TESTS"] == "1" ? 200 : 12

    private struct Message: Hashable {
        var mac: String
        var text: String
    }

    /// Commands that are killed, over one state directory.
    private struct Victims {
        let home: TemporaryDirectory
        let port: Int
        var dice: SeededGenerator
        /// Bodies whose acceptance was printed.
        var accepted: Set<String> = []
        var unfinished = 0
        /// Kills come within this time.
        var span = Duration.milliseconds(100)

        func words(_ words: [String]) -> [String] {
            [BuiltTool.path] + words + ["--interface", "lo", "--port", "\(port)", "--home", home.path]
        }

        func run(_ words: [String], within limit: Duration = .seconds(120)) async throws -> CommandResult {
            try await runCommand(self.words(words), environment: ["WIFICTL_CONFIG": "/dev/null"], within: limit)
        }

        /// Runs a command and kills it after a random time; takes note of what it had accepted by then.
        mutating func runAndKill(_ words: [String], bodies: [String] = []) async throws {
            let limit = "\(Double(dice.duration(in: .zero...span).inNanoseconds) / 1e9)"
            let result = try await runCommand(
                ["timeout", "--signal=KILL", limit] + self.words(words), environment: ["WIFICTL_CONFIG": "/dev/null"])
            if result.status != 0 { unfinished += 1 }
            var hasAccepted = false
            for line in result.lines {
                // A line that was cut by the kill wasn't printed: nothing was promised.
                guard let value = try? JSONValue.parse(Array(line.utf8)), value["type"] == "accepted" else { continue }
                let number = Int(try #require(value["line"]?.integerValue))
                accepted.insert(bodies[number - 1])
                hasAccepted = true
            }
            // On a machine that gets slower as it goes, too.
            if !bodies.isEmpty, !hasAccepted { span = span.scaled(by: 1.3) }
        }
    }

    @Test func `nothing accepted is lost, nothing is delivered twice, and a read goes on`() async throws {
        let seed = UInt64(truncatingIfNeeded: SystemCalls.monotonicNow().nanoseconds)
        print("restore: seed \(seed), \(Self.rounds) rounds")
        let home = try TemporaryDirectory()
        var victims = Victims(home: home, port: try Loopback.freePort(), dice: SeededGenerator(seed: seed))
        let router = try await Loopback.router(
            port: victims.port, ["--mac", Self.macs[0], "--name", "Attic", "--lose-receipts", "0.1", "--seed", "3"], count: 2
        ).child
        for mac in Self.macs {
            let start = ContinuousClock().now
            #expect(try await victims.run(["send", mac, "hello from \(mac)"]).status == 0)
            // On a slow machine the kills come later, so that they hit every part of a command.
            victims.span = max(victims.span, (ContinuousClock().now - start).scaled(by: 1.5))
        }
        for round in 0..<Self.rounds {
            switch round % 5 {
            case 3: try await victims.runAndKill(["switch", Self.macs[Int(victims.dice.next() % 2)]])
            case 4: try await victims.runAndKill(["read", Self.macs[0], "log", "--output", home.file("log")])
            default:
                let bodies = (1...6).map { "\(round).\($0)" }
                try await victims.runAndKill(["send", "current"] + bodies + ["--json"], bodies: bodies)
            }
        }
        // What is still unsettled lies with either router.
        for mac in Self.macs {
            let rest = try await victims.run(["send", mac, "--timeout", "110s", "--json"])
            #expect(rest.status == 0, "seed \(seed): \(rest.text)\(rest.errorText)")
        }
        let read = try await victims.run(["read", Self.macs[0], "log", "--output", home.file("log")])
        #expect(read.status == 0, "\(read.errorText)")
        let whole = try await victims.run(["read", Self.macs[0], "log", "--output", home.file("whole")])
        #expect(whole.status == 0)
        #expect(FileManager.default.contentsEqual(atPath: home.file("log"), andPath: home.file("whole")))

        router.signal(SIGINT)
        let log = try await router.result().lines.map { try JSONValue.parse(Array($0.utf8)) }
        var taken: [Message: Int] = [:]
        for line in log where line["type"] == "message" {
            guard let text = line["text"]?.stringValue, let mac = line["mac"]?.stringValue else { continue }
            taken[Message(mac: mac, text: text), default: 0] += 1
        }
        let bodies = taken.filter { $0.key.text.first?.isNumber ?? false }
        #expect(bodies.filter { $0.value > 1 }.isEmpty, "seed \(seed)")
        let texts = bodies.map(\.key.text)
        #expect(Set(texts).count == texts.count, "seed \(seed): one body reached both routers")
        let lost = victims.accepted.subtracting(texts)
        #expect(lost.isEmpty, "seed \(seed)")
        let least = max(1, Self.rounds / 10)
        #expect(victims.accepted.count >= least && victims.unfinished >= least, "the kills hit all parts of a command")
        let sessions = Set(log.filter { $0["type"] == "hello" }.compactMap { $0["session"]?.stringValue })
        #expect(sessions.count == Self.macs.count, "seed \(seed): a killed command's session is taken up again")
    }

    @Test func `a router that has moved is found anew, and one that is gone is reported`() async throws {
        let home = try TemporaryDirectory()
        let victims = Victims(home: home, port: try Loopback.freePort(), dice: SeededGenerator(seed: 1))
        var router = try await Loopback.router(port: victims.port, ["--mac", Self.macs[0], "--name", "Attic"]).child
        #expect(try await victims.run(["send", "Attic", "one"]).status == 0)
        router.signal(SIGKILL)
        _ = try await router.result()
        let gone = try await victims.run(["get", "Attic", "wifi.ssid"])
        #expect(gone.status == 2 && gone.errorText.contains("doesn't answer"), "\(gone.text)\(gone.errorText)")
        router = try await Loopback.router(
            port: victims.port, ["--mac", Self.macs[0], "--name", "Attic", "--tcp", "\(try Loopback.freePort())"]
        ).child
        let found = try await victims.run(["send", "Attic", "three"])
        #expect(found.status == 0, "\(found.text)\(found.errorText)")
    }
}
