import Foundation
import SocketCore
import Synchronization
import TestSupport
import Testing

/// The main job on a LAN of namespaces: three routers with MACs of their own, and a child access point of another brand.
@Suite("Sessions on a LAN", .enabled(if: TestLAN.isWanted), .serialized, .timeLimit(.minutes(3)))
struct SessionLANTests {
    static let routers = [
        (host: "attic", mac: "02:00:5e:00:53:01", bssid: "02:00:5e:00:53:11", address: "192.0.2.1"),
        (host: "cellar", mac: "02:00:5e:00:53:02", bssid: "02:00:5e:00:53:12", address: "192.0.2.2"),
        (host: "garden", mac: "02:00:5e:00:53:03", bssid: "02:00:5e:00:53:13", address: "192.0.2.3"),
    ]

    /// Builds the LAN, starts the routers, and gives both to the test; the controller sits behind the child.
    func withRouters(
        _ extra: [String: [String]] = [:], _ body: (TestLAN, [String: ChildProcess]) async throws -> Void
    ) async throws {
        var hosts = Self.routers.map { TestLAN.Host($0.host, mac: $0.mac, addresses: [$0.address + "/24"]) }
        hosts.append(
            TestLAN.Host(
                "ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: Self.routers[0].address, plug: "child"))
        try await TestLAN.with(hosts, bridges: [.init("child", mac: "00:00:5e:00:53:c1")]) { lan in
            var running: [String: ChildProcess] = [:]
            for router in Self.routers {
                let child = try lan.start(
                    router.host,
                    [
                        BuiltTool.path, "router", "--mac", router.mac, "--bssid", router.bssid, "--name", router.host, "--json",
                    ] + (extra[router.host] ?? []))
                running[router.host] = child
                _ = try await child.line("listening") { $0.contains(#""type":"listening""#) }
            }
            try await body(lan, running)
        }
    }

    func tool(_ lan: TestLAN, _ home: TemporaryDirectory, _ words: [String], within limit: Duration = .seconds(60)) async throws
        -> CommandResult
    {
        let child = try lan.start("ctl", [BuiltTool.path] + words, environment: ["WIFICTL_HOME": home.path])
        child.closeInput()
        return try await child.result(within: limit)
    }

    /// The values of one key in JSON lines of one type.
    func values(_ lines: [String], type: String, _ key: String) throws -> [JSONValue] {
        try lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"]?.stringValue == type }.compactMap { $0[key] }
    }

    @Test("send delivers, and switch moves the current session with the old one kept until the new one stands")
    func sendAndSwitch() async throws {
        try await withRouters { lan, running in
            let home = try TemporaryDirectory()
            let sent = try await tool(lan, home, ["send", "attic", "one", "two", "--json"])
            #expect(sent.status == 0, "\(sent.text)\(sent.errorText)")
            #expect(try values(sent.lines, type: "outcome", "outcome") == ["delivered", "delivered"])
            #expect(try await tool(lan, home, ["get", "attic", "wifi.ssid"]).status == 0)
            let moved = try await tool(lan, home, ["switch", Self.routers[1].mac, "--json"])
            #expect(moved.status == 0, "\(moved.text)\(moved.errorText)")
            #expect(try values(moved.lines, type: "switched", "mac") == [.string(Self.routers[1].mac)])
            #expect(try await tool(lan, home, ["send", "current", "three"]).status == 0)
            _ = try await running["cellar"]?.line("the third message") { $0.contains(#""type":"message""#) && $0.contains("three") }
            // A router that isn't there leaves the current one current.
            try await lan.unplug("garden")
            let failed = try await tool(lan, home, ["switch", Self.routers[2].mac, "--for", "1s"])
            #expect(failed.status == 2, "\(failed.text)\(failed.errorText)")
            let known = try await tool(lan, home, ["routers", "--json"])
            let current = try known.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["current"] == true }
            #expect(current.map { $0["mac"] } == [.string(Self.routers[1].mac)])
        }
    }

    @Test("unplugging the router for five seconds in the middle loses nothing and doubles nothing")
    func unplugged() async throws {
        try await withRouters(["attic": ["--lose-receipts", "0.05", "--seed", "7"]]) { lan, running in
            let home = try TemporaryDirectory()
            let router = try #require(running["attic"])
            let sender = try lan.start(
                "ctl", [BuiltTool.path, "send", Self.routers[0].mac, "--stdin", "--json", "--timeout", "120s"],
                environment: ["WIFICTL_HOME": home.path])
            let bodies = (1...300).map { "message \($0)" }
            for body in bodies[..<100] { sender.write(Array((body + "\n").utf8)) }
            _ = try await router.line("the hundredth message") { $0.contains(#""text":"message 100""#) }
            try await lan.unplug("attic")
            for body in bodies[100..<200] { sender.write(Array((body + "\n").utf8)) }
            // The five seconds are the scenario itself, not a wait for something.
            try await runCommand(["sleep", "5"], mustSucceed: true)
            try await lan.plug("attic")
            for body in bodies[200...] { sender.write(Array((body + "\n").utf8)) }
            sender.closeInput()
            let result = try await sender.result(within: .seconds(130))
            #expect(result.status == 0, "\(result.errorText)")
            let outcomes = try values(result.lines, type: "outcome", "outcome")
            #expect(outcomes == [JSONValue](repeating: "delivered", count: 300))
            #expect(try values(result.lines, type: "accepted", "line") == (1...300).map { .integer($0) })
            router.signal(SIGINT)
            let taken = try values(await router.result().lines, type: "message", "text")
            #expect(taken == bodies.map { .string($0) })
        }
    }

    @Test("a sender killed without warning loses nothing that it had accepted, and the next run doubles nothing")
    func killed() async throws {
        try await withRouters { lan, running in
            let home = try TemporaryDirectory()
            let router = try #require(running["attic"])
            // Accepted while the router is away: nothing of it can have been delivered.
            #expect(try await tool(lan, home, ["send", "attic", "zero"]).status == 0)
            let sender = try lan.start(
                "ctl", [BuiltTool.path, "send", "attic", "--stdin", "--json"], environment: ["WIFICTL_HOME": home.path])
            _ = try await sender.line("an open session") { $0.contains(#""state":"resumed""#) }
            try await lan.unplug("attic")
            for number in 1...20 { sender.write(Array("kept \(number)\n".utf8)) }
            _ = try await sender.line("the last acceptance") { $0.contains(#""type":"accepted""#) && $0.contains(#""line":20"#) }
            sender.signal(SIGKILL)
            try await lan.plug("attic")
            let second = try await tool(lan, home, ["send", "attic", "last", "--json"])
            #expect(second.status == 0, "\(second.text)\(second.errorText)")
            #expect(try values(second.lines, type: "summary", "restored") == [20])
            router.signal(SIGINT)
            let taken = try values(await router.result().lines, type: "message", "text")
            #expect(taken == (["zero"] + (1...20).map { "kept \($0)" } + ["last"]).map { .string($0) })
        }
    }
}
