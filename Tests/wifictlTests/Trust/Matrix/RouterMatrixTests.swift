import Foundation
import SocketCore
import TestSupport
import Testing

/// `wifictl verify` against TLS servers that others have written, with certificates that the openssl command has made.
@Suite("Routers of all kinds told apart", .timeLimit(.minutes(10)))
struct RouterMatrixTests {
    /// Whose TLS the router speaks.
    enum Server: String, CaseIterable, Sendable {
        case python, openssl, gnutls, wifictl

        var isThere: Bool { self != .gnutls || TestProgram.isThere("gnutls-serv") }
    }

    /// The routers of one server kind at an UDP port, until they're let go.
    struct Fleet {
        let cases: [DeviceCases.Case]
        let port: Int
        let children: [ChildProcess]
    }

    private func start(_ server: Server, _ device: DeviceCases) async throws -> Fleet {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        // Ours speaks nothing older than TLS 1.3.
        let cases = device.cases.filter { server != .wifictl || !$0.isOld }
        var children: [ChildProcess] = []
        var ports: [Int] = []
        switch server {
        case .wifictl:
            for one in cases {
                let words = ["--mac", one.mac, "--tcp", "0", "--client-root", company.operatorRoot.certificateFile]
                let identity = ["--identity", try one.chainFile(company.workshop), "--key", one.leaf.keyFile]
                children.append(try await Loopback.router(port: port, words + identity).child)
            }
            return Fleet(cases: cases, port: port, children: children)
        case .python:
            let words = try cases.map { "\($0.isOld ? "old" : "new"),\(try $0.chainFile(company.workshop)),\($0.leaf.keyFile)" }
            let (child, listening) = try await PythonPeer.listening(PythonPeer.servers, words)
            (children, ports) = ([child], listening)
        case .openssl:
            for one in cases {
                let (child, listening) = try await TestProgram.opensslServer(
                    chain: try one.chainFile(company.workshop), key: one.leaf.keyFile, [one.isOld ? "-tls1_2" : "-tls1_3"])
                children.append(child)
                ports.append(listening)
            }
        case .gnutls:
            for one in cases {
                let versions = one.isOld ? ["--priority", "NORMAL:-VERS-ALL:+VERS-TLS1.2"] : []
                let (child, listening) = try await TestProgram.gnutlsServer(
                    chain: try one.chainFile(company.workshop), key: one.leaf.keyFile, versions)
                children.append(child)
                ports.append(listening)
            }
        }
        let replies = zip(cases, ports).map { PythonPeer.Reply(mac: $0.0.mac, tcp: $0.1) }
        children.append(try await PythonPeer.respond(on: port, replies))
        return Fleet(cases: cases, port: port, children: children)
    }

    /// The verdict on each router, by its MAC.
    static func verify(
        port: Int, _ words: [String], timeout: String = "60s", environment: [String: String] = [:], home: String? = nil
    ) async throws -> [String: JSONValue] {
        let all = ["verify", "--json", "--for", "2s", "--timeout", timeout, "--interface", "lo", "--port", "\(port)"] + words
        let result = try await BuiltTool.run(all, environment: environment, home: home, within: .seconds(120))
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"] == "verdict" }
        #expect(!lines.isEmpty, "\(result.errorText)")
        return Dictionary(lines.map { ($0["mac"]?.stringValue ?? "", $0) }) { first, _ in first }
    }

    private func expect(_ cases: [DeviceCases.Case], _ found: [String: JSONValue], hasClock: Bool = true) {
        for one in cases {
            guard let line = found[one.mac] else {
                Issue.record("\(one.name): not found")
                continue
            }
            let isForgiven = !hasClock && !one.isJudgedWithoutClock
            #expect(line["verdict"] == (isForgiven ? "company" : one.verdict), "\(one.name): \(line.text)")
            #expect(line["reason"] == (isForgiven ? .null : one.reason), "\(one.name): \(line.text)")
            let words = line["detail"]?.stringValue ?? ""
            #expect(isForgiven || one.words.isEmpty || words.contains(one.words), "\(one.name): \(words)")
            #expect(!words.contains("unknown error") && !words.isEmpty, "\(one.name)")
            guard one.verdict == "company" else { continue }
            #expect(line["certificate"]?["bssids"] == .array(one.bssids.map { .string($0) }), "\(one.name): \(line.text)")
            #expect(line["certificate"]?["mac"] == .string(one.mac), "\(one.name): \(line.text)")
        }
    }

    @Test(arguments: Server.allCases.filter(\.isThere))
    func `each certificate gets its verdict and its sentence, whoever serves it`(server: Server) async throws {
        let device = try await DeviceCases.shared
        let fleet = try await start(server, device)
        let root = ["--root", device.root.certificateFile]
        expect(fleet.cases, try await Self.verify(port: fleet.port, root + ["--crl", device.freshList]))
        _ = fleet
    }

    @Test func `a stale list refuses what it lists and locks nobody else out; without a list nobody is revoked`() async throws {
        let device = try await DeviceCases.shared
        let fleet = try await start(.python, device)
        let root = ["--root", device.root.certificateFile]
        expect(fleet.cases, try await Self.verify(port: fleet.port, root + ["--crl", device.staleList]))
        let unlisted = try await Self.verify(port: fleet.port, root)
        for one in fleet.cases where one.reason == "revoked" { #expect(unlisted[one.mac]?["verdict"] == "company") }
        _ = fleet
    }

    @Test func `a leaf sent alone is the company's where its issuer is the configured anchor`() async throws {
        let device = try await DeviceCases.shared
        let fleet = try await start(.python, device)
        let found = try await Self.verify(port: fleet.port, ["--root", device.intermediate.certificateFile])
        for one in fleet.cases {
            let isBelow = one.name.contains("intermediate") || one.name.contains("its issuer not sent")
            #expect(found[one.mac]?["verdict"] == (isBelow ? "company" : one.isOld ? "unproven" : "foreign"), "\(one.name)")
        }
        _ = fleet
    }

    @Test(.enabled(if: TestProgram.isThere("cc"), "no C compiler to make a clock with"))
    func `a clock of 1970 forgives what begins later, and nothing else`() async throws {
        let device = try await DeviceCases.shared
        let fleet = try await start(.python, device)
        let clock = try await TestProgram.clock(stoppedAt: 86_400)
        let root = ["--root", device.root.certificateFile, "--crl", device.freshList]
        expect(fleet.cases, try await Self.verify(port: fleet.port, root, environment: clock.environment), hasClock: false)
        _ = (fleet, clock)
    }

    @Test func `names of another company don't count where the company's number is given`() async throws {
        let device = try await DeviceCases.shared
        let fleet = try await start(.python, device)
        let root = ["--root", device.root.certificateFile]
        expect(Array(fleet.cases.prefix(2)), try await Self.verify(port: fleet.port, root + ["--pen", "32473"]))
        let other = try await Self.verify(port: fleet.port, root + ["--pen", "99"])
        #expect(other[fleet.cases[0].mac]?["reason"] == "badCertificate")
        _ = fleet
    }

    @Test func `who speaks no TLS, garbage, nothing, or half a handshake is named for it`() async throws {
        let device = try await DeviceCases.shared
        let expected: [(mode: String, reason: JSONValue)] = [
            ("frames", "plaintext"), ("garbage", "notTLS"), ("silent", "connectionLost"), ("stalling", "connectionLost"),
            ("cutting", "connectionLost"), ("closing", "connectionLost"),
        ]
        let (child, ports) = try await PythonPeer.listening(PythonPeer.strangers, expected.map(\.mode))
        let port = try Loopback.freePort()
        var replies = ports.enumerated().map { PythonPeer.Reply(mac: DeviceCases.mac($0.offset + 1), tcp: $0.element) }
        replies.append(PythonPeer.Reply(mac: DeviceCases.mac(100), tcp: ports[0], tls: false))
        let gone = try Loopback.freePort()
        replies.append(PythonPeer.Reply(mac: DeviceCases.mac(101), tcp: gone))
        let responder = try await PythonPeer.respond(on: port, replies)
        let found = try await Self.verify(port: port, ["--root", device.root.certificateFile], timeout: "3s")
        for (index, one) in expected.enumerated() {
            let line = try #require(found[DeviceCases.mac(index + 1)], "\(one.mode)")
            #expect(line["verdict"] == "unproven" && line["reason"] == one.reason, "\(one.mode): \(line.text)")
            #expect(line["certificate"] == .null)
        }
        #expect(found[DeviceCases.mac(100)]?["reason"] == "plaintext")
        #expect(found[DeviceCases.mac(101)]?["reason"] == "unreachable")
        _ = (child, responder)
    }
}
