import SocketCore
import TestSupport
import Testing

/// A router that is told over which interfaces to be reached is reached over no other, by datagram or by connection.
@Suite(
    "Served interfaces on a LAN", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(3)))
struct ServedInterfacesLANTests {
    /// Python that connects, says hello, and prints whether anything came back.
    private static let caller = """
        import socket, sys, json
        family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
        place = socket.getaddrinfo(sys.argv[1], int(sys.argv[2]), family, socket.SOCK_STREAM)[0][4]
        body = json.dumps({"hello": {"session": "ab" * 16, "versions": [1], "received": 0, "resume": False}}).encode()
        line = socket.socket(family, socket.SOCK_STREAM)
        line.settimeout(20)
        try:
            line.connect(place)
            line.sendall(b"\\0\\0\\0\\0\\0\\1" + len(body).to_bytes(4, "big") + body)
            print("answered" if line.recv(1) else "closed")
        except OSError:
            print("closed")
        """

    private func call(_ lan: TestLAN, from host: String, _ address: String, _ port: UInt16) async throws -> String {
        try await lan.run(host, ["python3", "-c", Self.caller, address, "\(port)"]).lines.first ?? ""
    }

    @Test("one for this machine alone, and one for one of two networks")
    func served() async throws {
        let second = TestLAN.Bridge("second", mac: "00:00:5e:00:53:b2", isApart: true)
        let attic = TestLAN.Host(
            "attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"],
            others: [.init("eth1", mac: "02:00:5e:20:53:01", addresses: ["198.51.100.1/24"], plug: "second")])
        let near = TestLAN.Host("near", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"], gateway: "192.0.2.1")
        let far = TestLAN.Host("far", mac: "02:00:5e:00:53:f1", addresses: ["198.51.100.100/24"], gateway: "198.51.100.1", plug: "second")
        try await TestLAN.with([attic, near, far], bridges: [second]) { lan in
            let alone = try await lan.startRouter("attic", ["--interface", "lo", "--port", "20000", "--tcp", "20000"])
            let one = try await lan.startRouter("attic", ["--interface", "eth0", "--port", "20001", "--tcp", "20001"])
            let linkLocal = "\(attic.linkLocal)%eth0"
            for (host, address, port, expected) in [
                ("attic", "127.0.0.1", 20_000, "answered"), ("attic", "::1", 20_000, "answered"),
                ("attic", "192.0.2.1", 20_000, "closed"),
                ("near", "192.0.2.1", 20_000, "closed"), ("near", linkLocal, 20_000, "closed"), ("far", "198.51.100.1", 20_000, "closed"),
                ("near", "192.0.2.1", 20_001, "answered"), ("near", linkLocal, 20_001, "answered"),
                ("far", "198.51.100.1", 20_001, "closed"),
                // Its own other address is on the wrong side, by whatever name.
                ("far", "192.0.2.1", 20_001, "closed"), ("attic", "192.0.2.1", 20_001, "answered"),
            ] as [(String, String, UInt16, String)] {
                #expect(try await call(lan, from: host, address, port) == expected, "\(host) to \(address) port \(port)")
            }
            withExtendedLifetime([alone, one]) {}
        }
    }
}
