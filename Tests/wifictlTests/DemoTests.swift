import Foundation
import SocketCore
import TestSupport
import Testing

/// The demonstration, run as a newcomer would.
@Suite(.timeLimit(.minutes(10)))
struct DemoTests {
    @Test func `every step holds, and they are the steps that the README shows`() async throws {
        let result = try await BuiltTool.run(["demo", "--json", "--routers", "6", "--seed", "3"], within: .seconds(150))
        let steps = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(result.status == 0, "\(result.text) \(result.errorText)")
        #expect(steps.allSatisfy { $0["type"] == "step" && $0["ok"] == true })
        let verify = try #require(steps.first { $0["name"] == "verify" }?["detail"]?.stringValue)
        #expect(verify.hasPrefix("4 of 6 prove") && verify.contains("Next door is foreign, Stranger is unproven (plaintext)"))
        let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        let shown = readme.split(separator: "\n").filter { $0.hasPrefix("    ok   ") }.map { String($0.split(separator: " ")[1]) }
        #expect(steps.compactMap { $0["name"]?.stringValue } == shown)
    }
}
