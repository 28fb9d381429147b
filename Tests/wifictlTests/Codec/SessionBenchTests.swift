import SocketCore
import TestSupport
import Testing

/// `wifictl bench session` as people call it.
@Suite(.timeLimit(.minutes(10)))
struct SessionBenchTests {
    @Test func `every figure is there, the bare loop's in the same run, and each side is held against it`() async throws {
        let result = try await BuiltTool.run(["bench", "session", "--for", "1ms", "--sessions", "20", "--json"], within: .seconds(120))
        #expect(result.status == 0, "\(result.errorText)")
        let figures = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        for inFlight in [1, 64] {
            for name in ["session", "sessionReference"] {
                for what in ["rate", "p50", "p99", "server CPU", "client CPU"] {
                    let figure = try #require(
                        figures.first { $0["name"]?.stringValue == name && isAt($0, inFlight, what) }, "\(name) \(inFlight) \(what)")
                    #expect(figure["value"]?.doubleValue ?? 0 > 0)
                    #expect(figure["samples"]?.arrayValue?.count ?? 0 >= 5)
                }
            }
            for what in ["server CPU, client in C", "client CPU, server in C"] {
                let figure = try #require(figures.first { isAt($0, inFlight, what) }, "\(inFlight) \(what)")
                #expect(figure["ratio"]?.doubleValue ?? 0 > 0)
            }
        }
    }

    @Test func `idle sessions are counted and beat, without a compiler too`() async throws {
        let result = try await BuiltTool.run(
            ["bench", "session", "--for", "1ms", "--sessions", "20", "--json"], environment: ["PATH": "/nowhere"],
            within: .seconds(120))
        #expect(result.status == 0 && result.errorText.contains("no C compiler"))
        let figures = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        let idle = figures.filter { $0["parameters"]?["idle"]?.integerValue == 20 }
        #expect(idle.compactMap { $0["parameters"]?["figure"]?.stringValue } == ["memory", "allocated", "heartbeats"])
        #expect(idle.last?["value"]?.doubleValue ?? 0 > 0)
        #expect(!figures.contains { $0["ratio"] != nil || $0["name"]?.stringValue == "sessionReference" })
    }

    private func isAt(_ figure: JSONValue, _ inFlight: Int, _ what: String) -> Bool {
        figure["parameters"]?["inFlight"]?.integerValue == Int64(inFlight) && figure["parameters"]?["figure"]?.stringValue == what
    }
}
