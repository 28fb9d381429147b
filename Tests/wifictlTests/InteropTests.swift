import SocketCore
import TestSupport
import Testing

/// Both roles against a peer that shares no code with us.
@Suite(
    "Interoperation with the independent peer", .enabled(if: WifiPeer.isThere, "wifipeer.py isn't here (see WIFIPEER)"),
    .timeLimit(.minutes(10)))
struct InteropTests {
    static let mac = "02:00:5e:00:53:01"

    /// The peer as a router, once it listens.
    func peer(port: Int, _ words: [String] = []) async throws -> ChildProcess {
        let common = ["router", "--mac", Self.mac, "--bssid", "02:00:5e:00:53:11", "--port", "\(port)", "--tcp", "\(port)"]
        let child = try ChildProcess(try WifiPeer.words(common + words))
        _ = try await child.line("listening") { $0.contains(#""event": "listening""#) }
        return child
    }

    @Test func `discover finds the peer by its BSSID in another spelling`() async throws {
        let port = try Loopback.freePort()
        let child = try await peer(port: port)
        let found = try await Loopback.discover(port: port, ["--for", "1s", "--bssid", "0200.5E00.5311"])
        #expect(found.status == 0)
        #expect(found.routers.count == 1)
        let router = try #require(found.routers.first)
        #expect(router["mac"] == .string(Self.mac) && router["grade"] == "radio" && router["confirmed"] == true)
        #expect(router["tcp"] == .integer(Int64(port)) && router["address"] == "127.0.0.1" && router["interface"] == "lo")
        #expect(found.selected["mac"] == .string(Self.mac) && found.selected["why"] == "radio" && found.selected["certainty"] == "certain")
        child.signal(15)
    }

    @Test func `a peer that answers twice is one router and the second answers are counted`() async throws {
        let port = try Loopback.freePort()
        let child = try await peer(port: port, ["--duplicate-replies"])
        let found = try await Loopback.discover(port: port, ["--for", "1s"])
        #expect(found.routers.count == 1)
        #expect(try #require(found.summary["duplicates"]?.integerValue) > 0)
        child.signal(15)
    }

    @Test func `answers with a nonce that nobody asked with are stale and no router`() async throws {
        let port = try Loopback.freePort()
        let child = try await peer(port: port, ["--wrong-nonce"])
        let found = try await Loopback.discover(port: port, ["--for", "1s"])
        #expect(found.status == 1)
        #expect(found.routers.isEmpty && found.summary["routers"] == 0 && found.summary["replies"] == 0)
        #expect(try #require(found.summary["stale"]?.integerValue) > 0)
        child.signal(15)
    }

    @Test func `the peer's probe is answered once by each of our routers`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", Self.mac, "--tcp", "0"], count: 3)
        let probe = try await runCommand(try WifiPeer.words(["probe", "--port", "\(port)", "--max-wait", "50"]))
        let replies = try probe.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(replies.allSatisfy { $0["event"] == "reply" && $0["repeated"] == false }, "\(probe.text)")
        let macs = replies.compactMap { $0["mac"]?.stringValue }.sorted()
        #expect(macs == [Self.mac, "02:00:5e:00:53:02", "02:00:5e:00:53:03"])
        let summary = try await child.summary()
        #expect(summary["probes"] == 1 && summary["replies"] == 3)
    }

    @Test func `the peer's messages are receipted, and not taken twice in a session that comes back`() async throws {
        let port = try Loopback.freePort()
        let (child, tcp) = try await Loopback.router(port: port, ["--tcp", "0"])
        let session = ["--session", "0123456789abcdef0123456789abcdef"]
        let first = try await runCommand(try WifiPeer.words(["talk", "127.0.0.1", "\(tcp)", "one", "two"] + session))
        #expect(first.status == 0, "\(first.text)")
        #expect(first.lines.filter { $0.contains(#""event": "receipt""#) }.count == 2, "\(first.text)")
        // The same ids with the same bodies: what a controller sends that has heard no receipt.
        let again = try await runCommand(try WifiPeer.words(["talk", "127.0.0.1", "\(tcp)", "one", "two", "three"] + session))
        #expect(again.status == 0, "\(again.text)")
        #expect(again.text.contains(#""resumed": true"#) && again.text.contains(#""received": 2"#), "\(again.text)")
        child.signal(2)
        let result = try await child.result()
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(lines.filter { $0["type"] == "message" }.map { $0["text"] } == ["one", "two", "three"])
        #expect(lines.filter { $0["type"] == "hello" }.map { $0["resumed"] } == [false, true])
        #expect(lines.last?["messages"] == 3)
    }
}
