import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// Routers whose frames look otherwise, and commands that are told so.
@Suite(.timeLimit(.minutes(10))) struct FramingTests {
    private static let mac = "02:00:5e:00:53:01"

    private static func router(_ port: Int) async throws -> ChildProcess {
        try await Loopback.router(port: port, ["--mac", mac, "--name", "Attic", "--tcp", "0", "--layout", "asciiLength"]).child
    }

    private static func on(_ port: Int) -> [String] { ["--interface", "lo", "--port", "\(port)"] }

    @Test func `every command that opens a session takes layout and limit`() {
        let talking = CommandRegistry.commands.filter { command in command.options.contains { $0.name == TrustOptions.unproven.name } }
        #expect(talking.map(\.name) == ["watch", "send", "get", "set", "read", "switch"])
        for command in talking {
            let names = command.options.map(\.name)
            #expect(names.contains("layout") && names.contains("limit"), "\(command.name)")
            #expect(Setting.all.filter { ["layout", "limit"].contains($0.name) }.allSatisfy { $0.holds(for: command) })
        }
    }

    @Test(arguments: [
        ["get", mac, "wifi.ssid"], ["set", mac, "led=false"], ["read", mac, "log", "--output", "/dev/null"], ["switch", mac],
        ["send", mac, #"{"op":"get","names":["led"]}"#, "--expect-reply"],
    ])
    func `another layout is reached by option and by variable, and without them the error names it`(words: [String]) async throws {
        let port = try Loopback.freePort()
        let router = try await Self.router(port)
        let told = try await BuiltTool.run(words + Self.on(port) + ["--layout", "asciiLength"])
        #expect(told.status == 0, "\(told.errorText)")
        let set = try await BuiltTool.run(words + Self.on(port), environment: ["WIFICTL_LAYOUT": "asciiLength", "WIFICTL_LIMIT": "8KiB"])
        #expect(set.status == 0, "\(set.errorText)")
        let time = words[0] == "send" ? ["--timeout", "3s"] : []
        let untold = try await BuiltTool.run(words + Self.on(port) + time)
        #expect(untold.status != 0 && untold.errorText.contains("--layout"), "\(untold.errorText)")
        withExtendedLifetime(router) {}
    }

    @Test func `watch follows a session in another layout`() async throws {
        let port = try Loopback.freePort()
        let router = try await Self.router(port)
        let home = try TemporaryDirectory()
        let watch = try ChildProcess(
            [BuiltTool.path, "watch", Self.mac, "--json", "--layout", "asciiLength"] + Self.on(port),
            environment: ["WIFICTL_HOME": home.path])
        _ = try await watch.line("a property") { $0.contains(#""type":"property""#) && $0.contains("wifi.ssid") }
        withExtendedLifetime(router) {}
    }

    @Test func `a plain device's session is told too, by its address`() async throws {
        let port = try Loopback.freePort()
        let (child, tcp) = try await Loopback.router(port: port, ["--mac", Self.mac, "--plain", "--tcp", "0"])
        let sent = try await BuiltTool.run(["send", "127.0.0.1:\(tcp)", "hello", "--plain", "--json"] + Self.on(port))
        #expect(sent.status == 0, "\(sent.errorText)")
        try JSONContract.check(sent.lines, "send --plain")
        let states = try sent.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"] == "session" }
        #expect(states.contains { $0["state"] == "open" } && states.allSatisfy { $0["mac"] == .null }, "\(sent.text)")
        for state in states where state["state"] != "connecting" {
            #expect(state["address"] == .string("127.0.0.1:\(tcp)"), "\(sent.text)")
        }
        withExtendedLifetime(child) {}
    }
}
