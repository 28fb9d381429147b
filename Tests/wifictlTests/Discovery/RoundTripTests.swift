import SocketCore
import TestSupport
import Testing
import WifiDiscovery

@testable import wifictl

/// What is told of round trips is the way's time.
@Suite(.timeLimit(.minutes(10))) struct RoundTripTests {
    private static func mac(_ last: UInt8) -> MACAddress { MACAddress(2, 0, 0x5E, 0, 0x53, last) }

    private static func question(_ number: UInt8, sent: Duration) -> TripLedger.Question {
        TripLedger.Question(nonce: HexToken(UInt64(number)), msgId: UInt32(number), mac: mac(number), sent: .zero + sent)
    }

    private static func reply(_ number: UInt8, nonce: UInt8, mac: UInt8) -> [UInt8] {
        DiscoveryDatagram(msgId: UInt32(number), .reply(nonce: HexToken(UInt64(nonce)), RouterDescription(mac: Self.mac(mac)))).encoded()
    }

    @Test func `each answer is measured against its own probe, and only the router that was asked counts`() {
        var ledger = TripLedger()
        for number in UInt8(1)...3 { ledger.asked(Self.question(number, sent: .milliseconds(10 * Int(number))), Int(number)) }
        ledger.heard(Self.reply(1, nonce: 1, mac: 1), at: .zero + .milliseconds(12), 1)
        // Somebody else's nonce, another router, no datagram.
        ledger.heard(Self.reply(2, nonce: 1, mac: 2), at: .zero + .milliseconds(21), 2)
        ledger.heard(Self.reply(2, nonce: 2, mac: 3), at: .zero + .milliseconds(22), 2)
        ledger.heard([1, 2, 3], at: .zero + .milliseconds(23), 2)
        ledger.heard(Self.reply(3, nonce: 3, mac: 3), at: .zero + .milliseconds(37), 3)
        ledger.heard(Self.reply(3, nonce: 3, mac: 3), at: .zero + .milliseconds(90), 3)
        #expect(ledger.trips == [1: .milliseconds(2), 3: .milliseconds(7)])
    }

    @Test func `a datagram came when the kernel had it, however late it is read`() throws {
        let socket = try TimedDatagrams(towards: .loopback, interface: 0)
        // The kernel begins to stamp a moment after it was asked to.
        for _ in 0..<100_000 {
            let sent = try socket.send([1], to: Endpoint(.loopback, port: socket.port))
            // Over loopback it lies in the queue once the call has returned.
            let there = SystemCalls.monotonicNow()
            let arrival = try #require(try socket.receive(within: .seconds(10)).first)
            #expect(arrival.bytes == [1] && arrival.at >= sent)
            if arrival.at <= there { return }
        }
        Issue.record("what came was stamped when it was read, each time")
    }

    @Test func `rttMs holds no wait of our own asking, and no two routers share a number`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--tcp", "0"], count: 5)
        let found = try await Loopback.discover(port: port, ["--for", "1s"])
        let trips = found.routers.compactMap { $0["rttMs"]?.doubleValue }
        #expect(trips.count == 5 && Set(trips).count > 1, "\(trips)")
        child.signal(2)
        // Each was asked alone, for an answer at once.
        let probes = try await child.result().lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"] == "probe" }
        #expect(probes.count { $0["maxWait"] == 0 && $0["answers"] == 1 } >= 5)
    }

    @Test func `in a watch, whose probes ask for waits, rttMs is null`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--tcp", "0"])
        let home = try TemporaryDirectory()
        let words = [BuiltTool.path, "discover", "--interface", "lo", "--port", "\(port)", "--watch", "--json"]
        let watcher = try ChildProcess(words, environment: ["WIFICTL_HOME": home.path])
        let line = try await watcher.line("found") { $0.contains(#""change":"found""#) }
        #expect(line.contains(#""rttMs":null"#), "\(line)")
        withExtendedLifetime(child) {}
    }
}
