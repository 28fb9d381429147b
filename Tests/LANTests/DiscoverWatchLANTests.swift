import Glibc
import SocketCore
import TestSupport
import Testing

/// `discover --watch` while cables are pulled and routers come and go.
@Suite("discover --watch on a LAN", .enabled(if: TestLAN.isWanted), .serialized, .timeLimit(.minutes(3)))
struct DiscoverWatchLANTests {
    static let attic = TestLAN.Host("attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"])
    static let cellar = TestLAN.Host("cellar", mac: "02:00:5e:00:53:02", addresses: ["192.0.2.2/24"])
    static let controller = TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1")

    private func router(_ lan: TestLAN, _ host: TestLAN.Host, _ words: [String] = []) async throws -> ChildProcess {
        let child = try lan.start(host.name, [BuiltTool.path, "router", "--mac", host.mac, "--name", host.name, "--json"] + words)
        _ = try await child.line("listening") { $0.contains(#""type":"listening""#) }
        return child
    }

    private func watch(_ lan: TestLAN, _ home: TemporaryDirectory, _ words: [String] = []) throws -> ChildProcess {
        try lan.start(
            "ctl", [BuiltTool.path, "discover", "--watch", "--json", "--bssid", Self.attic.mac, "--home", home.path] + words)
    }

    /// Waits for a change of a router.
    private func change(_ watcher: ChildProcess, _ word: String, _ host: TestLAN.Host, within limit: Duration = .seconds(20)) async throws
        -> JSONValue
    {
        let line = try await watcher.line("\(word) \(host.name)", within: limit) {
            $0.contains(#""mac":"\#(host.mac)""#) && $0.contains(#""change":"\#(word)""#)
        }
        return try JSONValue.parse(Array(line.utf8))
    }

    /// A watch that has begun before there is a network: it has found a router on its own machine.
    private func watchWithoutNetwork(_ lan: TestLAN, _ home: TemporaryDirectory, _ words: [String] = []) async throws -> ChildProcess {
        let own = TestLAN.Host("ctl", mac: "02:00:5e:00:53:99")
        let local = try await router(lan, own, ["--interface", "lo"])
        try await lan.run("ctl", ["ip", "link", "set", "eth0", "down"], mustSucceed: true)
        let watcher = try watch(lan, home, words)
        _ = try await change(watcher, "found", own)
        local.signal(SIGINT)
        _ = try await local.result()
        return watcher
    }

    @Test("a goodbye, a pulled cable and its return are told, over IPv4 and over IPv6", arguments: ["239.255.19.51", "ff12::1951"])
    func comingAndGoing(group: String) async throws {
        try await TestLAN.with([Self.attic, Self.cellar, Self.controller]) { lan in
            let home = try TemporaryDirectory()
            let first = try await router(lan, Self.attic)
            let watcher = try watch(lan, home, ["--group", group])
            let found = try await change(watcher, "found", Self.attic)
            #expect(found["address"]?.stringValue?.contains(":") == group.contains(":"), "\(found.text)")
            let second = try await router(lan, Self.cellar)
            _ = try await change(watcher, "found", Self.cellar)
            second.signal(SIGINT)
            #expect(try await change(watcher, "lost", Self.cellar)["changes"]?.arrayValue == ["bye"])
            try await lan.unplug("ctl")
            #expect(try await change(watcher, "lost", Self.attic)["changes"]?.arrayValue == ["interfaceGone"])
            try await lan.plug("ctl")
            _ = try await change(watcher, "found", Self.attic)
            watcher.signal(SIGINT)
            let result = try await watcher.result()
            let summary = try JSONValue.parse(Array(try #require(result.lines.last).utf8))
            #expect(result.status == 130 && summary["type"] == "summary" && summary["routers"] == 1, "\(summary.text)")
            // Cellar's, at its start: the group itself was heard.
            #expect((summary["announcements"]?.integerValue ?? 0) >= 1 && summary["byes"] == 1, "\(summary.text)")
            #expect(summary["interfaces"]?.arrayValue == ["eth0"], "\(summary.text)")
            withExtendedLifetime(first) {}
        }
    }

    @Test("a watch begun without a network finds what comes with it, and gives up a router that falls silent")
    func silent() async throws {
        try await TestLAN.with([Self.attic, Self.controller]) { lan in
            let home = try TemporaryDirectory()
            let first = try await router(lan, Self.attic)
            let watcher = try await watchWithoutNetwork(lan, home)
            try await lan.run("ctl", ["ip", "link", "set", "eth0", "up"], mustSucceed: true)
            _ = try await change(watcher, "found", Self.attic)
            try await lan.unplug("attic")
            let lost = try await change(watcher, "lost", Self.attic, within: .seconds(90))
            #expect(lost["changes"]?.arrayValue == ["expired"])
            try await lan.plug("attic")
            _ = try await change(watcher, "found", Self.attic)
            withExtendedLifetime(first) {}
        }
    }

    @Test("other makers' devices go with their interface, and are found on one that comes")
    func foreign() async throws {
        try await TestLAN.with([Self.attic, Self.controller]) { lan in
            let home = try TemporaryDirectory()
            let script = """
                import socket
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 10001))
                body = bytes.fromhex('010006') + bytes.fromhex('\(Self.attic.mac)'.replace(':', '')) + bytes.fromhex('0b0005') + b'Attic'
                print('ready', flush=True)
                while True: s.sendto(bytes([1, 0, 0, len(body)]) + body, s.recvfrom(2000)[1])
                """
            let device = try lan.start("attic", ["python3", "-c", script])
            _ = try await device.line("ready")
            let watcher = try watch(lan, home, ["--dialect", "ubnt", "--interface", "eth0"])
            #expect(try await change(watcher, "found", Self.attic)["dialect"] == "ubnt")
            try await lan.unplug("ctl")
            #expect(try await change(watcher, "lost", Self.attic)["changes"]?.arrayValue == ["interfaceGone"])
            try await lan.plug("ctl")
            _ = try await change(watcher, "found", Self.attic)
            let second = try await watchWithoutNetwork(lan, home, ["--dialect", "native,ubnt"])
            try await lan.run("ctl", ["ip", "link", "set", "eth0", "up"], mustSucceed: true)
            #expect(try await change(second, "found", Self.attic)["interface"] == "eth0")
            withExtendedLifetime(device) {}
        }
    }

    @Test("a router that changes its address, within its network or to another one, is followed and still reachable")
    func moving() async throws {
        let controller = TestLAN.Host("ctl", mac: Self.controller.mac, addresses: ["192.0.2.100/24", "198.51.100.100/24"])
        try await TestLAN.with([Self.attic, controller]) { lan in
            let home = try TemporaryDirectory()
            let router = try await router(lan, Self.attic)
            let watcher = try watch(lan, home, ["--group", "239.255.19.51"])
            #expect(try await change(watcher, "found", Self.attic)["address"] == "192.0.2.1")
            for address in ["192.0.2.9", "198.51.100.9"] {
                let lines = "ip address flush dev eth0 scope global; ip address add \(address)/24 brd + dev eth0"
                try await lan.run("attic", ["sh", "-ec", lines], mustSucceed: true)
                let line = try await watcher.line("the address \(address)", within: .seconds(90)) {
                    $0.contains(#""change":"updated""#) && $0.contains(#""address":"\#(address)""#)
                }
                #expect(line.contains(#""changes":["address"]"#), "\(line)")
                let sent = try await lan.run("ctl", [BuiltTool.path, "send", Self.attic.mac, "hello", "--home", home.path])
                #expect(sent.status == 0, "\(sent.text)\(sent.errorText)")
            }
            withExtendedLifetime(router) {}
        }
    }

    @Test("a watch that waits for a network says so")
    func waiting() async throws {
        try await TestLAN.with([Self.controller]) { lan in
            let home = try TemporaryDirectory()
            try await lan.run("ctl", ["ip", "link", "set", "eth0", "down"], mustSucceed: true)
            for words in [[], ["--interface", "eth0"]] {
                let watcher = try watch(lan, home, ["--for", "200ms"] + words)
                let result = try await watcher.result()
                #expect(result.status == 1 && result.errorText.contains("waiting for a network (eth0 is down)"), "\(result.errorText)")
            }
        }
    }

    @Test("an interface that is removed and made again is taken up again")
    func replaced() async throws {
        try await TestLAN.with([Self.attic, Self.controller]) { lan in
            let home = try TemporaryDirectory()
            let first = try await router(lan, Self.attic)
            let watcher = try watch(lan, home, ["--interface", "eth0"])
            _ = try await change(watcher, "found", Self.attic)
            let (space, hub) = (lan.namespace("ctl"), lan.namespace("lan"))
            try await runCommand(["ip", "-n", space, "link", "delete", "eth0"], mustSucceed: true)
            #expect(try await change(watcher, "lost", Self.attic)["changes"]?.arrayValue == ["interfaceGone"])
            let lines = [
                "ip link add p-ctl netns \(hub) type veth peer name eth0 netns \(space) address \(Self.controller.mac)",
                "ip -n \(hub) link set p-ctl master br0 up", "ip -n \(space) link set eth0 up",
                "ip -n \(space) address add 192.0.2.100/24 brd + dev eth0",
            ]
            try await runCommand(["sh", "-ec", lines.joined(separator: "\n")], mustSucceed: true)
            #expect(try await change(watcher, "found", Self.attic)["interface"] == "eth0")
            withExtendedLifetime(first) {}
        }
    }
}
