import Foundation
import SocketCore
import Synchronization
import TestSupport
import Testing

/// A long script of commands on a LAN with trouble: every command has its one outcome, and no router takes anything twice.
@Suite("Commands on a LAN", .enabled(if: TestLAN.isWanted), .serialized, .timeLimit(.minutes(5)))
struct CommandsLANTests {
    private static let routers = (1...4).map { (host: "r\($0)", mac: "02:00:5e:00:53:0\($0)", address: "192.0.2.\($0)") }
    private static let commands = 1_000
    private static let switches = 50
    private static let workers = 8

    /// One life of a router: until it's rebooted it mustn't take a message twice.
    private struct Life {
        var host: String
        var log: CommandResult
    }

    /// What commands came to.
    private struct Tally {
        var statuses: [Int32: Int] = [:]
        /// Bodies with the outcome that `send` printed.
        var outcomes: [String: [String]] = [:]
        var complaints: [String] = []
    }

    /// What the workers share.
    private final class Ledger: Sendable {
        private let tally = Mutex(Tally())

        var result: Tally { tally.withLock { $0 } }
        func note(_ change: (inout Tally) -> Void) { tally.withLock { change(&$0) } }
    }

    /// Lines that are still to be done.
    private final class Pile: Sendable {
        private let lines: [[String]]
        private let position = Atomic<Int>(0)

        init(_ lines: [[String]]) { self.lines = lines }

        func next() -> [String]? {
            let index = position.add(1, ordering: .relaxed).oldValue
            return index < lines.count ? lines[index] : nil
        }
    }

    private static func start(_ lan: TestLAN, _ router: (host: String, mac: String, address: String)) async throws -> ChildProcess {
        let child = try lan.start(
            router.host,
            [BuiltTool.path, "router", "--mac", router.mac, "--name", router.host, "--lose-receipts", "0.2", "--seed", "5", "--json"])
        _ = try await child.line("listening") { $0.contains(#""type":"listening""#) }
        return child
    }

    /// A command of the script, drawn.
    private static func words(_ number: Int, _ dice: inout SeededGenerator) -> [String] {
        let router = routers[Int(dice.next() % 4)].mac
        switch dice.next() % 20 {
        case 0..<12: return ["get", router, "wifi.ssid", "clients", "--timeout", "5s"]
        case 12..<16: return ["set", router, "wifi.ssid=\(number)", "--timeout", "5s"]
        default: return ["send", router, "body \(number)", "--timeout", "20s"]
        }
    }

    private static func run(_ lan: TestLAN, _ home: TemporaryDirectory, _ words: [String], _ ledger: Ledger) async throws {
        let child = try lan.start("ctl", [BuiltTool.path] + words + ["--json"], environment: ["WIFICTL_HOME": home.path])
        child.closeInput()
        let result = try await child.result(within: .seconds(120))
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        // What earlier runs had left behind has outcomes here as well, in other sessions and behind this run's own.
        let all = lines.filter { $0["type"] == "outcome" }
        let id = lines.first { $0["type"] == "accepted" }?["msgId"]
        let restored = Int(lines.last { $0["type"] == "summary" }?["restored"]?.integerValue ?? 0)
        let outcomes = all.filter { $0["msgId"] == id }.prefix(1).compactMap { $0["outcome"]?.stringValue }
        ledger.note { tally in
            tally.statuses[result.status, default: 0] += 1
            if words[0] == "send" {
                tally.outcomes[words[2], default: []] += outcomes
                if all.count > 1 + restored { tally.complaints.append("\(words): \(all.count) outcomes, \(restored) restored") }
            }
            if ![0, 1, 2].contains(result.status) || result.status == 2 && result.errorText.isEmpty {
                tally.complaints.append("\(words): \(result.status) \(result.errorText)")
            }
        }
    }

    @Test func `a thousand commands with switches, reboots, a pulled cable and lost receipts`() async throws {
        let seed = UInt64(truncatingIfNeeded: SystemCalls.monotonicNow().nanoseconds)
        print("commands: seed \(seed)")
        var hosts = Self.routers.map { TestLAN.Host($0.host, mac: $0.mac, addresses: [$0.address + "/24"]) }
        hosts.append(TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: Self.routers[0].address))
        try await TestLAN.with(hosts) { lan in
            var running: [ChildProcess] = []
            for router in Self.routers { running.append(try await Self.start(lan, router)) }
            let home = try TemporaryDirectory()
            let agent = try lan.start("ctl", [BuiltTool.path, "agent", "run"], environment: ["WIFICTL_HOME": home.path])
            _ = try await agent.line("listening") { $0.hasPrefix("listening") }
            let ledger = Ledger()
            var lives: [Life] = []

            var dice = SeededGenerator(seed: seed)
            var script = (0..<(Self.commands - Self.switches)).map { Self.words($0, &dice) }
            // Switches come one after another, spread over the script; each worker takes the next line.
            for _ in 0..<Self.switches {
                script.insert(["switch", Self.routers[Int(dice.next() % 3)].mac], at: Int(dice.next() % UInt64(script.count)))
            }
            let quarter = script.count / 4
            for part in 0..<4 {
                let end = part == 3 ? script.count : (part + 1) * quarter
                let pile = Pile(Array(script[(part * quarter)..<end]))
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<Self.workers {
                        group.addTask {
                            while let words = pile.next() { try await Self.run(lan, home, words, ledger) }
                        }
                    }
                    // The trouble happens while the workers are at it.
                    switch part {
                    case 1, 2:
                        running[part].signal(SIGKILL)
                        lives.append(Life(host: Self.routers[part].host, log: try await running[part].result()))
                        running[part] = try await Self.start(lan, Self.routers[part])
                    case 3: try await lan.unplug(Self.routers[3].host)
                    default: break
                    }
                    try await group.waitForAll()
                }
            }
            try await lan.plug(Self.routers[3].host)
            // What the pulled cable kept back goes now.
            for router in Self.routers { try await Self.run(lan, home, ["send", router.mac, "last", "--timeout", "60s"], ledger) }
            agent.signal(SIGINT)
            _ = try await agent.result()
            for (index, router) in Self.routers.enumerated() {
                running[index].signal(SIGINT)
                lives.append(Life(host: router.host, log: try await running[index].result()))
            }
            try check(ledger.result, lives, seed)
        }
    }

    private func check(_ tally: Tally, _ lives: [Life], _ seed: UInt64) throws {
        #expect(tally.complaints.isEmpty, "seed \(seed)")
        #expect(tally.statuses.values.reduce(0, +) == Self.commands + Self.routers.count)
        let good = tally.statuses[0, default: 0]
        print("commands: \(good) done, \(tally.statuses[1, default: 0]) not delivered in time, \(tally.statuses[2, default: 0]) failed")
        #expect(good > Self.commands / 2, "seed \(seed): the trouble isn't everything")
        for (body, outcomes) in tally.outcomes where body != "last" { #expect(outcomes.count <= 1, "seed \(seed): \(body) \(outcomes)") }
        var delivered: Set<String> = []
        for life in lives {
            var ids: Set<String> = []
            for line in life.log.lines {
                // A router that was killed may leave half a line.
                guard let value = try? JSONValue.parse(Array(line.utf8)), value["type"] == "message" else { continue }
                let id = "\(value["session"]?.stringValue ?? "") \(value["msgId"]?.integerValue ?? 0)"
                #expect(ids.insert(id).inserted, "seed \(seed): \(life.host) took \(id) twice")
                if let text = value["text"]?.stringValue { delivered.insert(text) }
            }
        }
        let promised = tally.outcomes.filter { $0.value.contains("delivered") }.map(\.key)
        #expect(Set(promised).subtracting(delivered).isEmpty, "seed \(seed): delivered by word only")
    }
}
