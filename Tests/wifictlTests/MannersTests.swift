import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing
import WifiDiscovery

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
        let elsewhere = try TemporaryDirectory()
        let folder = try await BuiltTool.run(["read", "Attic", "log", "--output", elsewhere.path], home: home.path)
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

    @Test func `a page is written to what is no file: standard output by its name, and a pipe`() async throws {
        let scratch = try TemporaryDirectory()
        let words = "--interface lo --port \(try Loopback.freePort()) --for 50ms"
        let shown = try await BuiltTool.run(["report", "/dev/stdout"] + words.split(separator: " ").map(String.init))
        #expect(shown.status == 1 && shown.text.contains("</html>"), "\(shown.errorText)")
        let fifo = scratch.file("fifo")
        try await runCommand(["mkfifo", fifo], mustSucceed: true)
        let piped = try await runCommand(
            ["sh", "-c", "cat '\(fifo)' & '\(BuiltTool.path)' report '\(fifo)' --home '\(scratch.path)' \(words); echo $? >&2; wait"])
        #expect(piped.text.contains("</html>") && piped.errorText.hasSuffix("1\n"), "\(piped.errorText)")
        let full = try await BuiltTool.run(["report", "/dev/full"] + words.split(separator: " ").map(String.init))
        #expect(full.status == 2 && full.errorText.contains("no space left on device"), "\(full.errorText)")
    }

    @Test func `what frames prints of a capture, encode reads, its other lines passed over`() async throws {
        let shown = Array(
            """
            {"type":"stream","stream":1,"client":"192.0.2.1:5","server":"192.0.2.2:19510","toServer":null,"toClient":null}
            {"type":"datagram","kind":"probe","bytes":100,"source":"192.0.2.1:5","destination":"239.255.19.51:19510","time":null}
            {"type":"frame","offset":0,"msgId":7,"version":1,"len":1,"body":"41","stream":1,"direction":"toServer","time":null}
            {"type":"error","error":"truncated","offset":11,"have":3,"need":10}
            {"type":"summary","frames":1}
            """.utf8)
        let bytes = try await BuiltTool.run(["encode", "--hex"], input: shown)
        #expect(bytes.status == 0 && bytes.text == "0000000700010000000141\n", "\(bytes.text)\(bytes.errorText)")
        let other = try await BuiltTool.run(["encode", "--hex"], input: Array(#"{"type":"router","mac":null}"#.utf8))
        #expect(other.status == 2 && other.errorText.contains("a line of type 'router' is no frame"), "\(other.errorText)")
    }

    @Test func `settings are shown to scripts as to people, and a comment behind one is told as that`() async throws {
        let directory = try TemporaryDirectory()
        let shown = try await BuiltTool.run(["config", "--json"])
        for (name, value) in [("port", "19510"), ("bssid", "auto"), ("interface", "all")] {
            let line = try shown.lines.map { try JSONValue.parse(Array($0.utf8)) }.first { $0["name"] == .string(name) }
            #expect(line?["value"] == .string(value) && line?["source"] == "default", "\(shown.text)")
        }
        for text in ["timeout = 2s # hi", "interface = lo # mine"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file("config")))
            let result = try await BuiltTool.run(["config"], environment: ["WIFICTL_CONFIG": directory.file("config")])
            #expect(result.status == 2 && result.errorText.contains("(comments need a line of their own)"), "\(result.errorText)")
        }
    }

    @Test func `files that aren't there, and commands half written, are answered with what to do`() async throws {
        for words in [
            ["trust", "add", "/nope"], ["identity", "show", "/nope"], ["verify", "--root", "/nope"],
            ["router", "--identity", "/nope", "--key", "/nope", "--client-root", "/nope"],
        ] {
            let result = try await BuiltTool.run(words)
            #expect(result.status == 2 && result.errorText.hasSuffix("cannot open /nope: no such file or directory (check the path)\n"))
        }
        let noKey = try TemporaryDirectory()
        try Data("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8).write(to: URL(fileURLWithPath: noKey.file("a.pem")))
        let damaged = try await BuiltTool.run(["identity", "show", noKey.file("a.pem")])
        #expect(damaged.errorText.contains("is damaged: fetch the file anew (OpenSSL: "), "\(damaged.errorText)")
        let silent = try await BuiltTool.run(
            ["discover", "--to", "127.0.0.1", "--interface", "lo", "--port", "\(try Loopback.freePort())", "--for", "50ms"])
        #expect(silent.status == 1 && !silent.errorText.contains("--to") && silent.errorText.contains("doctor"), "\(silent.errorText)")
        let nowhere = try await BuiltTool.run(["router", "--address", "192.0.2.77"])
        #expect(nowhere.errorText.contains("192.0.2.77 is no address of this machine"), "\(nowhere.errorText)")
    }

    @Test func `help lists the options that a command heeds, and says what a family of commands is for`() throws {
        let help = HelpText(width: 100)
        let find = { (name: String) in try #require(CommandRegistry.commands.first { $0.name == name }) }
        for name in ["encode", "manual", "completions", "dissector"] {
            #expect(!help.render(try find(name)).contains("  --json"), "\(name)")
        }
        for name in ["frames", "dissector"] {
            let text = help.render(try find(name))
            #expect(text.contains("--port N") && !text.contains("--group"), "\(name)")
        }
        for word in ["identity", "trust", "agent"] {
            let text = help.render(family: CommandRegistry.commands.filter { $0.name.hasPrefix(word + " ") })
            #expect(text.hasPrefix("wifictl \(word): ") && !text.hasPrefix("wifictl \(word): \n"))
        }
        #expect(help.render(nil).contains("wifictl help COMMAND"))
    }

    @Test func `addresses of one link are written with the interface's name`() throws {
        let index = try #require(try NetworkInterfaces.current().first { $0.name == "lo" }).index
        #expect(ScopeNames.put(into: "no session at [fe80::1%\(index)]:5, 100%2") == "no session at [fe80::1%lo]:5, 100%2")
        #expect(ScopeNames.put(into: "fe80::1%999999") == "fe80::1%999999")
        for text in ["[fe80::1%lo]:5", "[fe80::1%\(index)]:5"] {
            #expect(try ValueKind<Endpoint>.endpoint.parse(text).address == .v6(high: 0xFE80 << 48, low: 1, scope: index))
        }
        #expect(try ValueKind<Endpoint>.session.parse("[fe80::1%lo]").port == 19_510)
        #expect(try ValueKind<Endpoint>.session.parse("fe80::1%lo").port == 19_510)
    }

    @Test func `one of a thing is one, and a reason is given where it says something`() {
        #expect("\(SessionError.bodyTooLarge(bytes: 1, limit: 0))".hasPrefix("a body of 1 byte is over"))
        #expect(SessionTool.describe(.closed(.closed)).remark == "closed")
        #expect(SessionTool.describe(.closed(.peerClosed)).remark == "closed: the peer closed the connection")
        let loss = LossReason.badFrame("\(FrameError.malformedLength(field: 0x102))")
        #expect("\(loss)" == "the peer's bytes are no frames: the length field 00000102 is no number")

        #expect(
            counted(1, "reply", "replies") == "1 reply" && counted(0, "reply", "replies") == "0 replies"
                && counted(2, "hello") == "2 hellos")
    }
}
