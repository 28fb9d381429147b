import Foundation
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// Runs `wifictl fuzz --target` against a port of this machine.
private func fuzz(_ port: String, _ place: TemporaryDirectory, runs: Int, _ more: [String] = []) async throws -> CommandResult {
    try await BuiltTool.run(
        [
            "fuzz", "--target", "127.0.0.1:\(port)", "--runs", "\(runs)", "--rate", "1000", "--seed", "21", "--json", "--artifacts",
            place.path,
        ] + more, within: .seconds(300))
}

private let brokenRouter = Repository.path("Tests/Fuzz/broken-router.py")

/// Routers that are broken in one way each. They spend their time in waiting for time-outs, so they do it side by side.
struct FuzzBrokenRouterTests {
    @Test(arguments: [
        ("crash-on-negative", "crash", "a length that can't be right, then a message"),
        ("crash-on-4096", "crash", "well-formed body of 4096 bytes"), ("hang-on-huge", "hang", ""),
        ("skips-oversize", "acceptsMalformed", "a length that can't be right, then a message"),
        ("takes-any-version", "acceptsMalformed", "version "), ("wrong-receipt", "wrongReceipt", "well-formed body of "),
        ("no-receipt-for-255", "lostReceipt", "well-formed body of 255 bytes"), ("leak", "slowing", ""), ("dies", "refusal", ""),
        ("crash-after-30", "crash", ""),
    ])
    func `a broken router is found out`(fault: String, kind: String, culprit: String) async throws {
        let place = try TemporaryDirectory()
        let router = try ChildProcess(["python3", brokenRouter, fault])
        let port = try await router.line("port")
        let result = try await fuzz(port, place, runs: 400, ["--recovery", "2s", "--patience", "2s", "--findings", "1"])
        #expect(result.status == 1, "\(result.errorText)")
        let findings = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"]?.stringValue == "finding" }
        let right = findings.first { finding in
            finding["kind"]?.stringValue == kind
                && (finding["cases"]?.arrayValue?.last?["kind"]?.stringValue?.hasPrefix(culprit) ?? false)
        }
        // The last line says it in words.
        let sum = try JSONValue.parse(Array(try #require(result.lines.last).utf8))
        let told = (sum["faults"]?.arrayValue ?? []).compactMap(\.stringValue)
        #expect(told.count == findings.count && told.first?.hasPrefix(findings.first?["kind"]?.stringValue ?? "-") == true, "\(sum.text)")
        let file = try #require(right?["file"]?.stringValue, "\(result.text.prefix(2_000))")
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("Do it again: wifictl fuzz --target 127.0.0.1:\(port) --replay"))
    }
}

/// `wifictl fuzz --target` against real sockets on loopback: routers that aren't broken.
@Suite(.serialized) struct FuzzTargetTests {
    @Test func `a sound router is not accused`() async throws {
        let place = try TemporaryDirectory()
        let router = try ChildProcess(["python3", brokenRouter, "none"])
        let result = try await fuzz(try await router.line("port"), place, runs: 150)
        #expect(result.status == 0, "\(result.text.prefix(2_000)) \(result.errorText)")
    }

    @Test(.enabled(if: IndependentPeer.path != nil, IndependentPeer.remark))
    func `the independent peer survives`() async throws {
        let peer = try #require(IndependentPeer.path)
        let place = try TemporaryDirectory()
        let router = try ChildProcess(["python3", peer, "router", "--mac", "02:00:5e:00:53:01", "--tcp", "0", "--port", "0"])
        let listening = try JSONValue.parse(Array(try await router.line("listening") { $0.contains("listening") }.utf8))
        let port = try #require(listening["tcp"]?.integerValue)
        let result = try await fuzz("\(port)", place, runs: 150)
        #expect(result.status == 0, "\(result.text.prefix(2_000)) \(result.errorText)")
    }

    @Test func `nobody there is an error before anything is sent`() async throws {
        let place = try TemporaryDirectory()
        // Port 1 is reserved and not listened to.
        let result = try await fuzz("1", place, runs: 10)
        #expect(result.status == 2)
        #expect(result.errorText.contains("can't be fuzzed"))
    }

    @Test func `a public address is refused as wrong usage`() async throws {
        let result = try await BuiltTool.run(["fuzz", "--target", "8.8.8.8:53"])
        #expect(result.status == 64)
        #expect(result.errorText.contains("--allow-public"))
    }
}
