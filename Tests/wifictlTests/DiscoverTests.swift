import SocketCore
import TestSupport
import Testing

/// `discover`, `routers` and `router` against each other on loopback.
@Suite("discover and routers", .timeLimit(.minutes(10)))
struct DiscoverTests {
    @Test func `a router is found, graded, chosen and kept until it is forgotten`() async throws {
        let port = try Loopback.freePort()
        let (child, tcp) = try await Loopback.router(
            port: port, ["--mac", "02:00:5e:00:53:01", "--bssid", "02:00:5e:00:53:11", "--name", "Attic", "--tcp", "0"])
        let home = try TemporaryDirectory()
        let found = try await Loopback.discover(port: port, ["--for", "500ms", "--bssid", "2:0:5e:0:53:1"], home: home.path)
        #expect(found.status == 0 && found.selected["why"] == "exact" && found.summary["finish"] == "timeUp")
        let known = try await BuiltTool.run(["routers", "--json"], home: home.path)
        let line = try JSONValue.parse(known.output)
        #expect(line["name"] == "Attic" && line["tcp"] == .integer(Int64(tcp)) && line["current"] == false)
        let slip = try await BuiltTool.run(["routers", "--forget", "Atitc"], home: home.path)
        #expect(slip.status == 2 && slip.errorText.contains("did you mean Attic?"))
        #expect(try await BuiltTool.run(["routers", "--forget", "02-00-5E-00-53-01"], home: home.path).status == 0)
        let left = try await BuiltTool.run(["routers"], home: home.path)
        #expect(left.status == 1 && left.output.isEmpty && left.errorText.contains("no router is known"))
        #expect(try await child.summary()["replies"] != 0)
    }

    @Test func `with --until-match it ends at the access point's router, and none is status 1`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--tcp", "0"], count: 3)
        // An hour, which a run that doesn't end at the match would take.
        let words = ["--until-match", "--for", "60m", "--bssid", "02:00:5e:00:53:02"]
        let found = try await Loopback.discover(port: port, words)
        #expect(found.status == 0 && found.selected["mac"] == "02:00:5e:00:53:02" && found.summary["finish"] == "matched")
        let all = try await Loopback.discover(port: port, words + ["--dialect", "all"])
        #expect(all.status == 0 && all.selected["mac"] == "02:00:5e:00:53:02")
        let none = try await Loopback.discover(port: port, ["--until-match", "--for", "1s", "--bssid", "02:00:5e:aa:00:01"])
        #expect(none.status == 1 && none.summary["finish"] == "timeUp" && none.routers.count == 3)
        // Not asked to, it looks for the whole time and lists the others too.
        let listed = try await Loopback.discover(port: port, ["--for", "1s", "--bssid", "02:00:5e:00:53:02"])
        #expect(listed.status == 0 && listed.summary["finish"] == "timeUp" && listed.routers.count == 3)
        _ = try await child.summary()
    }

    @Test func `the table marks the chosen router and says why in a sentence`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(
            port: port, ["--mac", "02:00:5e:00:53:01", "--bssid", "02:00:5e:00:53:11", "--name", "Attic", "--tcp", "0"])
        let words = ["discover", "--interface", "lo", "--port", "\(port)", "--for", "400ms", "--bssid", "02005e005311"]
        let shown = try await BuiltTool.run(words)
        #expect(shown.text.contains("*  Attic") && shown.text.contains("radio: same BSSID"), "\(shown.text)")
        #expect(shown.text.contains("Connected to Attic (02:00:5e:00:53:01): your access point is its 2.4 GHz radio \"Home\"."))
        #expect(shown.errorText.hasPrefix("1 router in "))
        _ = try await child.summary()
    }

    @Test func `nothing found is status 1 with the reason`() async throws {
        let words = ["discover", "--interface", "lo", "--port", "\(try Loopback.freePort())", "--for", "200ms"]
        let result = try await BuiltTool.run(words)
        #expect(result.status == 1 && result.output.isEmpty)
        #expect(result.errorText.contains("no router answered") && result.errorText.contains("on lo"), "\(result.errorText)")
    }

    @Test(arguments: [
        (["discover", "--interface", "nope0"], 2, "there is no interface nope0"),
        (["discover", "--bssid", "02:00:5e"], 64, "is no BSSID: 3 groups where a MAC address has 6"),
        (["discover", "--bssid", "auto", "--bssid", "02:00:5e:00:53:11"], 64, "addresses don't go together with auto or none"),
        (["discover", "--until-match", "--watch"], 64, "a watch has no end"),
        (["discover", "--until-match", "--dialect", "ssdp"], 64, "--until-match needs the native dialect"),
        (["discover", "--to", "router"], 64, "is no IP address"), (["discover", "--group", "10.0.0.1"], 64, "is no multicast address"),
        (["router", "--mac", "01:00:5e:00:53:01"], 64, "is no device's address"),
        (["router", "--interface", "lo", "--slow-read", "0"], 64, "would let nothing through"),
        (["router", "--interface", "lo", "--tcp", "65535", "--count", "3"], 64, "the ports end at 65535"),
        (["router", "--interface", "lo", "--address", "203.0.113.7"], 2, "203.0.113.7"),
    ])
    func `wrong arguments are named`(words: [String], status: Int32, message: String) async throws {
        let result = try await BuiltTool.run(words)
        #expect(result.status == status && result.errorText.contains(message), "\(result.errorText)")
    }

    @Test func `a TCP port that is taken is an error that names it`() async throws {
        let port = try Loopback.freePort()
        let (child, tcp) = try await Loopback.router(port: port, ["--tcp", "0"])
        let second = try await BuiltTool.run(["router", "--interface", "lo", "--port", "\(port)", "--tcp", "\(tcp)"])
        #expect(second.status == 2)
        #expect(second.errorText == "wifictl: cannot bind TCP \(tcp): address in use (another wifictl router? see --tcp)\n")
        _ = try await child.summary()
    }

    @Test func `watch tells what comes, and what goes with a goodbye`() async throws {
        let port = try Loopback.freePort()
        let words = ["discover", "--interface", "lo", "--port", "\(port)", "--watch", "--json", "--bssid", "02:00:5e:00:53:01"]
        let home = try TemporaryDirectory()
        let watcher = try ChildProcess([BuiltTool.path] + words, environment: ["WIFICTL_HOME": home.path])
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--tcp", "0"])
        let found = try JSONValue.parse(Array(try await watcher.line("found") { $0.contains(#""change":"found""#) }.utf8))
        #expect(found["mac"] == "02:00:5e:00:53:01")
        _ = try await watcher.line("the choice") { $0.contains(#""type":"selected","mac":"02:00:5e:00:53:01","why":"exact""#) }
        _ = try await child.summary()
        _ = try await watcher.line("lost") { $0.contains(#""change":"lost","changes":["bye"]"#) }
        #expect(try await watcher.summary()["finish"] == "stopped")
    }

    @Test func `a watch in which routers came and left doesn't end with "no router answered"`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let home = try TemporaryDirectory()
        let words = [BuiltTool.path, "discover", "--interface", "lo", "--port", "\(port)", "--watch", "--bssid", "none"]
        let watcher = try ChildProcess(words, environment: ["WIFICTL_HOME": home.path])
        _ = try await watcher.line("found") { $0.hasPrefix("+ 02:00:5e:00:53:01  Attic") }
        _ = try await child.summary()
        _ = try await watcher.line("lost") { $0.hasPrefix("- 02:00:5e:00:53:01") && $0.contains("(bye)") }
        watcher.signal(2)
        let result = try await watcher.result()
        #expect(result.status == 130 && result.errorText.contains("no router is left after"), "\(result.errorText)")
        #expect(!result.errorText.contains("answered"))
    }

    @Test func `a thousand routers are all found in one scan, none twice`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:10:00:00"], count: 1_000)
        let found = try await Loopback.discover(port: port, ["--for", "3s"])
        #expect(found.routers.count == 1_000)
        #expect(Set(found.routers.compactMap { $0["mac"]?.stringValue }).count == 1_000)
        #expect(Set(found.routers.compactMap { $0["tcp"]?.integerValue }).count == 1_000)
        #expect(found.summary["routers"] == 1_000 && found.summary["rateLimited"] == 0)
        _ = try await child.summary()
    }
}
