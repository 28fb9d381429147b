import Foundation
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// What commands say, and when they end, where something isn't as they would have it.
@Suite(.timeLimit(.minutes(10)))
struct MannersTests {
    @Test func `a router ends when nobody reads it any more, though it has nothing to say`() async throws {
        let port = try Loopback.freePort()
        let router = "'\(BuiltTool.path)' router --interface lo --port \(port) --tcp 0 --json"
        let shell = try ChildProcess(["sh", "-c", "{ \(router); echo $? >&2; } | head -1"])
        let result = try await shell.result()
        #expect(result.lines.count == 1 && result.lines[0].contains(#""type":"listening""#))
        #expect(result.errorText.split(separator: "\n").last == "0", "\(result.errorText)")
    }

    @Test func `a second router process on the port says so, and can be switched to all the same`() async throws {
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let (first, second) = ("02:00:5e:00:53:01", "02:00:5e:00:53:02")
        let one = try await Loopback.router(port: port, ["--mac", first, "--tcp", "0"])
        let two = try await Loopback.router(port: port, ["--mac", second, "--tcp", "0"])
        let network = ["--interface", "lo", "--port", "\(port)"]
        for mac in [first, second, first] {
            let moved = try await BuiltTool.run(["switch", mac] + network, home: home.path)
            #expect(moved.status == 0, "\(moved.errorText)")
        }
        for (router, isShared) in [(one, false), (two, true)] {
            router.child.signal(SIGINT)
            let errors = try await router.child.result().errorText
            #expect(errors.contains("another router of this machine answers on this UDP port") == isShared, "\(errors)")
        }
    }

    @Test func `a name that a router doesn't have is answered with those that it has; sessions are told to their end`() async throws {
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let router = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let network = ["--interface", "lo", "--port", "\(port)"]
        let result = try await BuiltTool.run(["get", "Attic", "nix"] + network, home: home.path)
        #expect(result.status == 2 && result.errorText.hasPrefix("wifictl: 02:00:5e:00:53:01: the router refused"), "\(result.errorText)")
        #expect(result.errorText.contains("(it has ") && result.errorText.contains("wifi.ssid"), "\(result.errorText)")
        let told = try await BuiltTool.run(["get", "Attic", "wifi.ssid", "--json"] + network, home: home.path)
        let sessions = try told.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"] == "session" }
        #expect(sessions.map { $0["state"]?.stringValue } == ["connecting", "resumed", "closed"], "\(told.text)")
        #expect(sessions.last?["session"] == sessions[1]["session"] && sessions.last?["session"] != .null)
        let kept = try await BuiltTool.run(["routers", "--json"], home: home.path)
        #expect(try JSONValue.parse(Array(#require(kept.lines.first).utf8))["evidence"]?["gateway"] == .null)
        let forgotten = try await BuiltTool.run(["routers", "--forget", "Attic", "--json"], home: home.path)
        #expect(try JSONContract.check(forgotten.lines, "routers --forget") == ["router"])
        withExtendedLifetime(router.child) {}
    }

    @Test func `empty input, closed ports and names that can't be are told as what they are`() async throws {
        let home = try TemporaryDirectory()
        let empty = try await BuiltTool.run(["frames", "/dev/null"], home: home.path)
        #expect(empty.status == 1 && empty.output.isEmpty)
        let closed = try await BuiltTool.run(
            ["fuzz", "--target", "127.0.0.1:1", "--runs", "1", "--artifacts", home.file("a")], home: home.path)
        #expect(closed.status == 2 && closed.errorText.contains("127.0.0.1:1 can't be fuzzed: "), "\(closed.errorText)")
        #expect(!closed.errorText.contains("any more"), "\(closed.errorText)")
        let named = try await BuiltTool.run(["identity", "issue-operator", home.path, "--id", "bad id/.."], home: home.path)
        #expect(named.status == 64, "\(named.errorText)")
        let folder = try await BuiltTool.run(["read", "Attic", "log", "--output", home.path], home: home.path)
        #expect(folder.status == 2 && folder.errorText.contains("is a directory (name a file)"), "\(folder.errorText)")
        let page = try await BuiltTool.run(["report", "/dev/full", "--interface", "lo", "--port", "1", "--for", "50ms"], home: home.path)
        #expect(page.status == 2 && page.errorText.contains("cannot write /dev/full"), "\(page.errorText)")
    }

    @Test func `where a sentence has no room beside the other columns, it stands below them whole`() {
        var table = Table([.init("NAME", least: 8, goes: 1), .init("MAC"), .init("WHY", least: 24, wraps: true)])
        table.add(["Attic", "02:00:5e:00:53:01", "no company root is configured: name one with --root"])
        #expect(
            table.lines(width: 40, painted: false) == [
                "NAME   MAC", "Attic  02:00:5e:00:53:01", "  no company root is configured: name", "  one with --root",
            ])
        #expect(table.lines(width: 80, painted: false).count == 2)
        for columns in 30...120 { #expect(table.lines(width: columns, painted: false).allSatisfy { $0.count <= columns }) }
    }

    @Test func `one of a thing is one`() {
        #expect(
            counted(1, "reply", "replies") == "1 reply" && counted(0, "reply", "replies") == "0 replies"
                && counted(2, "hello") == "2 hellos")
    }
}
