import SocketCore
import TestSupport
import Testing

/// Half of all datagrams lost, on either way: three routers, a hundred scans of three seconds.
@Suite("Loss on a LAN", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(5)))
struct LossLANTests {
    static let routers = [
        TestLAN.Host("attic", mac: "02:00:5e:00:53:01", addresses: ["192.0.2.1/24"]),
        TestLAN.Host("cellar", mac: "02:00:5e:20:53:02", addresses: ["192.0.2.2/24"]),
        TestLAN.Host("garden", mac: "02:00:5e:40:53:03", addresses: ["192.0.2.3/24"]),
    ]
    /// Controllers side by side. A router answers 200 times a second over all: ten of them at the densest schedule stay below that, so
    /// that what is measured is the loss.
    static let controllers = (1...10).map {
        TestLAN.Host("ctl\($0)", mac: "02:00:5e:00:54:0\($0 % 10)", addresses: ["192.0.2.\(100 + $0)/24"])
    }
    static let rounds = 10

    @Test("three routers are found through 50 % loss in at least 95 of 100 scans of 3 s")
    func half() async throws {
        try await TestLAN.with(Self.routers + Self.controllers) { lan in
            var running: [ChildProcess] = []
            for router in Self.routers { running.append(try await lan.startRouter(router.name)) }
            for host in lan.hosts { try await lan.lose(host.name, percent: 50, of: "meta l4proto udp") }
            var (complete, scans) = (0, 0)
            for _ in 0..<Self.rounds {
                let found = try await withThrowingTaskGroup(of: Findings.self) { group in
                    for controller in Self.controllers {
                        group.addTask { try await lan.discover(from: controller.name, ["--for", "3s", "--bssid", "none"]) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                scans += found.count
                complete += found.count { $0.macs == Self.routers.map(\.mac) }
            }
            #expect(scans == 100 && complete >= 95, "\(complete) of \(scans)")
            withExtendedLifetime(running) {}
        }
    }
}
