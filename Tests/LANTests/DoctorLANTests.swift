import SocketCore
import TestSupport
import Testing

/// What the doctor says of networks with something wrong.
@Suite("The doctor on a LAN", .enabled(if: TestLAN.isWanted), .serialized, .timeLimit(.minutes(3)))
struct DoctorLANTests {
    static let attic = TestLAN.Host("attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"])
    static let cellar = TestLAN.Host("cellar", mac: "02:00:5e:00:53:02", addresses: ["192.0.2.2/24"])
    static let garden = TestLAN.Host("garden", mac: "02:00:5e:00:53:03", addresses: ["192.0.2.3/24"])
    static let controller = TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1")

    private func checks(_ lan: TestLAN, _ words: [String] = []) async throws -> (status: Int32, checks: [JSONValue]) {
        let result = try await lan.run("ctl", [BuiltTool.path, "doctor", "--json", "--for", "0s"] + words)
        return (result.status, try result.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"]?.stringValue == "check" })
    }

    private func verdict(_ checks: [JSONValue], _ check: String) -> String? {
        checks.first { $0["check"]?.stringValue == check }?["verdict"]?.stringValue
    }

    @Test("a filter that swallows replies is the cause, a port held by another program only a note")
    func filterAndPort() async throws {
        try await TestLAN.with([Self.attic, Self.controller]) { lan in
            let healthy = try await checks(lan)
            #expect(verdict(healthy.checks, "selfProbe") == "fine", "\(healthy.checks)")
            #expect(verdict(healthy.checks, "network") == "fine", "\(healthy.checks)")

            let holder =
                "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('', 19510)); print('held', flush=True); input()"
            let holding = try lan.start("ctl", ["python3", "-c", holder])
            _ = try await holding.line("held") { $0 == "held" }
            let held = try await checks(lan)
            let port = held.checks.first { $0["check"]?.stringValue == "port" }
            #expect(port?["verdict"]?.stringValue == "note")
            #expect(port?["detail"]?.stringValue?.contains("python3") == true, "\(held.checks)")
            holding.closeInput()

            try await lan.filter(
                "ctl", "table inet guard { chain arriving { type filter hook input priority 0; policy drop; iif lo accept; }; }")
            let guarded = try await checks(lan)
            #expect(guarded.status == 1)
            #expect(verdict(guarded.checks, "selfProbe") == "cause", "\(guarded.checks)")
            #expect(verdict(guarded.checks, "firewall") == "note", "\(guarded.checks)")
        }
    }

    @Test("rules of nftables that drop probes, replies or unicast are seen at work, though no chain drops by itself")
    func rules() async throws {
        try await TestLAN.with([Self.attic, Self.controller]) { lan in
            let rules = [
                ("output", "ip daddr 239.255.19.51 drop"), ("input", "udp dport 19510 drop"), ("input", "ip daddr 239.255.19.51 drop"),
                ("input", "iif lo ip protocol udp drop"),
            ]
            for (hook, rule) in rules {
                try await lan.filter("ctl", "table inet guard { chain passing { type filter hook \(hook) priority 0; \(rule); }; }")
                let found = try await checks(lan)
                #expect(found.status == 1 && verdict(found.checks, "selfProbe") == "cause", "\(rule): \(found.checks)")
                #expect(verdict(found.checks, "firewall") == "fine", "\(rule): \(found.checks)")
            }
            try await lan.filter("ctl", "")
            let healthy = try await checks(lan)
            #expect(healthy.status == 0 && verdict(healthy.checks, "selfProbe") == "fine", "\(healthy.checks)")
        }
    }

    @Test("a gateway that nobody has asked for yet is asked, one that isn't there is the cause, and an IPv6 group is probed")
    func gateway() async throws {
        try await TestLAN.with([Self.attic, Self.controller]) { lan in
            try await lan.run("ctl", ["ip", "neigh", "flush", "all"], mustSucceed: true)
            let quiet = try await checks(lan)
            #expect(verdict(quiet.checks, "isolation") == "fine", "\(quiet.checks)")
            let sixth = try await checks(lan, ["--group", "ff12::1951"])
            let probe = sixth.checks.first { $0["check"] == "selfProbe" && $0["subject"] == "eth0" }
            #expect(probe?["verdict"] == "fine", "\(sixth.checks)")
            try await lan.filter(
                "ctl", "table inet guard { chain leaving { type filter hook output priority 0; ip6 daddr ff12::1951 drop; }; }")
            #expect(try verdict(await checks(lan, ["--group", "ff12::1951"]).checks, "selfProbe") == "cause")
            #expect(try verdict(await checks(lan).checks, "selfProbe") == "fine")
            try await lan.filter("ctl", "")
            try await lan.run("attic", ["ip", "address", "flush", "dev", "eth0"], mustSucceed: true)
            try await lan.run("ctl", ["ip", "neigh", "flush", "all"], mustSucceed: true)
            let gone = try await checks(lan)
            #expect(gone.status == 1 && verdict(gone.checks, "isolation") == "cause", "\(gone.checks)")
        }
    }

    @Test("the way out for multicast is told, and isolation is suspected where the gateway answers and its neighbours don't")
    func routesAndIsolation() async throws {
        try await TestLAN.with([Self.attic, Self.cellar, Self.garden, Self.controller]) { lan in
            let ports = ["cellar", "garden", "ctl"].map { "ip link set p-\($0) type bridge_slave isolated on" }
            try await lan.run("lan", ["sh", "-ec", ports.joined(separator: "\n")], mustSucceed: true)
            let asking = """
                import socket, subprocess
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                while 'lladdr' not in subprocess.run(['ip', 'neigh', 'show', '192.0.2.1'], capture_output=True, text=True).stdout:
                    for last in (1, 2, 3): s.sendto(b'hello', (f'192.0.2.{last}', 9))
                """
            try await lan.run("ctl", ["python3", "-c", asking], mustSucceed: true)
            let found = try await checks(lan)
            let isolation = found.checks.first { $0["check"] == "isolation" }
            // A cable isolates nobody, as a rule, so that it's a note here and a cause on Wi-Fi.
            #expect(isolation?["verdict"] == "note" && isolation?["detail"]?.stringValue?.contains("isolate") == true, "\(found.checks)")
            let route = found.checks.first { $0["check"] == "route" && $0["subject"] == "multicast" }
            #expect(route?["verdict"] == "fine" && route?["detail"]?.stringValue?.contains("eth0") == true, "\(found.checks)")
            try await lan.run("ctl", ["ip", "route", "add", "prohibit", "224.0.0.0/4"], mustSucceed: true)
            let prohibited = try await checks(lan)
            #expect(prohibited.checks.first { $0["subject"] == "multicast" }?["verdict"] == "note", "\(prohibited.checks)")
            #expect(verdict(prohibited.checks, "selfProbe") == "fine", "\(prohibited.checks)")
        }
    }
}
