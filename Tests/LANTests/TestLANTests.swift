import TestSupport
import Testing

/// The LAN itself: if these fail, the other LAN tests mean nothing.
@Suite(.enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"))
struct TestLANTests {
    private static let one = TestLAN.Host("one", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"])
    private static let two = TestLAN.Host("two", mac: "02:00:5e:00:53:02", addresses: ["192.0.2.2/24"], gateway: "192.0.2.1", plug: "child")
    private static let child = TestLAN.Bridge("child", mac: "02:00:5e:ff:53:01")

    /// Sends one datagram and prints what comes back; the other end sends it back.
    private static let echo = """
        import socket, sys
        family = socket.AF_INET6 if ':' in sys.argv[2] else socket.AF_INET
        s = socket.socket(family, socket.SOCK_DGRAM)
        address = socket.getaddrinfo(sys.argv[2], 5000, family, socket.SOCK_DGRAM)[0][4]
        if sys.argv[1] == 'serve':
            s.bind(address); print('ready', flush=True)
            while True:
                data, sender = s.recvfrom(1500); s.sendto(data, sender)
        else:
            s.settimeout(float(sys.argv[3])); s.sendto(b'ping', address); print(s.recvfrom(1500)[0].decode())
        """

    @Test func `datagrams cross bridge and child bridge by IPv4 and by IPv6 and the neighbour's MAC is the host's own`() async throws {
        try await TestLAN.with([Self.one, Self.two], bridges: [Self.child]) { lan in
            for address in ["192.0.2.1", Self.one.linkLocal + "%eth0"] {
                let server = try lan.start("one", ["python3", "-c", Self.echo, "serve", address])
                _ = try await server.line("ready") { $0 == "ready" }
                let answer = try await lan.run("two", ["python3", "-c", Self.echo, "ask", address, "10"])
                #expect(answer.text == "ping\n", "\(answer.errorText)")
            }
            let neighbours = try await lan.run("two", ["ip", "neigh", "show", "192.0.2.1"])
            #expect(neighbours.text.contains("lladdr 02:00:5e:00:53:01"), "\(neighbours.text)")
            let route = try await lan.run("two", ["ip", "route", "show", "default"])
            #expect(route.text.contains("via 192.0.2.1 dev eth0"), "\(route.text)")
        }
    }

    @Test func `an unplugged host has no carrier and is heard again once it is plugged in`() async throws {
        try await TestLAN.with([Self.one, Self.two], bridges: [Self.child]) { lan in
            let server = try lan.start("one", ["python3", "-c", Self.echo, "serve", "192.0.2.1"])
            _ = try await server.line("ready") { $0 == "ready" }
            try await lan.unplug("two")
            let link = try await lan.run("two", ["ip", "link", "show", "eth0"])
            #expect(link.text.contains("NO-CARRIER"), "\(link.text)")
            try await lan.plug("two")
            let answer = try await lan.run("two", ["python3", "-c", Self.echo, "ask", "192.0.2.1", "10"])
            #expect(answer.text == "ping\n", "\(answer.errorText)")
        }
    }

    @Test func `a filter that loses everything lets nothing through`() async throws {
        try await TestLAN.with([Self.one, Self.two], bridges: [Self.child]) { lan in
            let server = try lan.start("one", ["python3", "-c", Self.echo, "serve", "192.0.2.1"])
            _ = try await server.line("ready") { $0 == "ready" }
            try await lan.lose("one", percent: 100)
            let answer = try await lan.run("two", ["python3", "-c", Self.echo, "ask", "192.0.2.1", "0.3"])
            #expect(answer.status != 0)
            #expect(answer.errorText.contains("timed out"), "\(answer.errorText)")
        }
    }

    @Test func `a removed LAN leaves no namespace and no process`() async throws {
        let lan = try await TestLAN([Self.one])
        let server = try lan.start("one", ["python3", "-c", Self.echo, "serve", "192.0.2.1"])
        _ = try await server.line("ready") { $0 == "ready" }
        await lan.remove()
        #expect(try await server.result().status == -9)
        let left = try await runCommand(["ip", "netns", "list"])
        #expect(!left.text.contains(lan.namespace("one")))
    }

    @Test func `what a killed test run left is swept away and what others made is not`() async throws {
        let dead = try await runCommand(["sh", "-c", "echo $$"])
        let process = try #require(dead.lines.first)
        try await runCommand(["ip", "netns", "add", "wd\(process)-left"], mustSucceed: true)
        try await runCommand(["ip", "netns", "add", "wdguest-\(process)"], mustSucceed: true)
        try await TestLAN.with([Self.one]) { _ in
            let left = try await runCommand(["ip", "netns", "list"])
            #expect(!left.text.contains("wd\(process)-left"))
            #expect(left.text.contains("wdguest-\(process)"))
        }
        try await runCommand(["ip", "netns", "delete", "wdguest-\(process)"], mustSucceed: true)
    }
}
