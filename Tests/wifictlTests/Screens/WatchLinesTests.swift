import Foundation
import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery
@testable import wifictl

/// `wifictl watch` where there is no terminal.
@Suite(.timeLimit(.minutes(10)))
struct WatchLinesTests {
    @Test func `JSON lines tell routers, session and properties, and end with Ctrl-C`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let home = try TemporaryDirectory()
        let environment = ["WIFICTL_HOME": home.path, "WIFICTL_CONFIG": "/dev/null"]
        let common = ["--interface", "lo", "--port", "\(port)"]
        let watch = try ChildProcess(
            [BuiltTool.path, "watch", "02:00:5e:00:53:01", "--json", "--bssid", "none"] + common, environment: environment)
        _ = try await watch.line("ssid", within: .seconds(60)) {
            $0 == #"{"type":"property","mac":"02:00:5e:00:53:01","name":"wifi.ssid","value":"Home"}"#
        }
        // Three changes at once are one batch, in which the last value counts.
        let names = ["set", "02:00:5e:00:53:01", "wifi.ssid=A", "--json"] + common
        _ = try await BuiltTool.run(names, home: home.path)
        _ = try await watch.line("change", within: .seconds(60)) { $0.hasSuffix(#""name":"wifi.ssid","value":"A"}"#) }
        watch.signal(SIGINT)
        let result = try await watch.result()
        #expect(result.status == 130)
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(lines.contains { $0["type"] == "router" && $0["change"] == "found" && $0["name"] == "Attic" })
        #expect(lines.contains { $0["type"] == "session" && $0["state"] == "open" })
        child.signal(SIGINT)
        _ = try await child.result()
    }

    @Test func `a router that isn't there yet is tried for until it is`() async throws {
        let port = try Loopback.freePort()
        let home = try TemporaryDirectory()
        let words = ["watch", "Attic", "--interface", "lo", "--port", "\(port)", "--bssid", "none"]
        let watch = try ChildProcess(
            [BuiltTool.path] + words, environment: ["WIFICTL_HOME": home.path, "WIFICTL_CONFIG": "/dev/null"])
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        _ = try await watch.line("session", within: .seconds(60)) { $0.contains("session with 02:00:5e:00:53:01: open at 127.0.0.1:") }
        watch.signal(SIGTERM)
        #expect(try await watch.result().status == 130)
        child.signal(SIGINT)
        _ = try await child.result()
    }

    @Test func `what a certificate proves is final, and what may pass isn't`() throws {
        let mac = try #require(MACAddress("02:00:5e:00:53:01"))
        let place = Endpoint(.loopback, port: 19_510)
        let refused = Judgement(.unproven(.plaintext), "it offers no TLS")
        #expect(WatchSessions.isFinal(ManagerError.notProven(mac, refused)))
        #expect(WatchSessions.isFinal(ManagerError.notOpened(mac, place, .refused("impostor"))))
        #expect(!WatchSessions.isFinal(ManagerError.notOpened(mac, place, .connectFailed("refused"))))
        #expect(!WatchSessions.isFinal(ManagerError.unknownRouter("Attic")) && !WatchSessions.isFinal(CancellationError()))
        #expect("\(TrustOptions.explained(ManagerError.notProven(mac, refused)))".hasSuffix("(--unproven talks to it all the same)"))
    }

    @Test func `changes are gathered until it is quiet, and no longer than a second`() {
        var batch = ChangeBatch()
        let at = { (milliseconds: Int) in Instant.zero + .milliseconds(milliseconds) }
        #expect(batch.deadline == nil && batch.due(at(0)).isEmpty)
        batch.add([.init("a", 1), .init("b", 1)], now: at(0))
        batch.add([.init("a", 2)], now: at(150))
        #expect(batch.due(at(349)).isEmpty)
        #expect(batch.due(at(350)) == [.init("b", 1), .init("a", 2)])
        #expect(batch.deadline == nil)
        for time in stride(from: 1_000, to: 2_000, by: 100) { batch.add([.init("a", .whole(time))], now: at(time)) }
        #expect(batch.deadline == at(2_000))
        for number in 0..<1_000 { batch.add([.init("p\(number)", 0)], now: at(2_000)) }
        #expect(batch.values.count == ChangeBatch.mostProperties)
    }
}
