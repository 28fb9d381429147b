import SocketCore
import TestSupport
import Testing

/// `wifictl bench` as people call it, and what it counts.
struct BenchTests {
    @Test func `the list names every benchmark`() async throws {
        let result = try await BuiltTool.run(["bench", "--list", "--json"])
        let names = try result.lines.map { try JSONValue.parse(Array($0.utf8))["name"]?.stringValue }
        #expect(
            result.status == 0 && names.contains("decode") && names.contains("encode") && names.contains("session") && names.contains("tls")
        )
    }

    @Test func `status reports reach their subscriber in few batches, beside a plain dictionary`() async throws {
        let result = try await BuiltTool.run(["bench", "status", "--for", "1ms", "--json"], within: .seconds(180))
        #expect(result.status == 0, "\(result.errorText)")
        let rows = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(rows.map { $0["name"] } == ["statusReference", "status", "statusReference", "status"])
        for row in rows where row["name"] == "status" {
            #expect((1...5).contains(row["batchesPerSecond"]?.integerValue ?? 0) && row["ratio"]?.doubleValue ?? 0 > 0)
            // Two hundred thousand reports: were anything kept of each, it would be more.
            #expect(row["memoryGrowth"]?.integerValue ?? .max < 4 << 20)
        }
    }

    @Test func `an unknown benchmark is wrong usage, with the nearest right word`() async throws {
        let result = try await BuiltTool.run(["bench", "decod"])
        #expect(result.status == 64 && result.errorText.contains("decode"))
    }

    @Test func `without a compiler the figures come alone, with a remark`() async throws {
        let result = try await BuiltTool.run(["bench", "encode", "--for", "1ms", "--json"], environment: ["PATH": "/nowhere"])
        #expect(result.status == 0 && result.errorText.contains("no C compiler"))
        let figures = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(figures.count == 8 && figures.allSatisfy { $0["name"]?.stringValue == "encode" && $0["ratio"] == nil })
    }

    @Test func `TLS is measured beside its twin in C and, in the same run, openssl's own measurements`() async throws {
        let result = try await BuiltTool.run(["bench", "tls", "--for", "1ms", "--json"], within: .seconds(120))
        let figures = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        let ours = figures.filter { $0["name"]?.stringValue == "tls" }
        #expect(result.status == 0 && ours.count == 4 && ours.dropLast().allSatisfy { $0["ratio"] != nil }, "\(result.errorText)")
        #expect(figures.filter { $0["name"]?.stringValue == "openssl s_time" }.count == 2, "\(result.text)")
        #expect(figures.filter { $0["name"]?.stringValue == "openssl speed" }.count == 5, "\(result.text)")
        for figure in figures { #expect(figure["value"]?.doubleValue ?? 0 > 0, "\(figure.text)") }
        // An idle session's memory doesn't depend on the machine's speed, nor on optimisation.
        let idle = try #require(ours.last { $0["unit"]?.stringValue == "bytes/session" })
        #expect(idle["value"]?.doubleValue ?? .infinity < 40_960, "\(idle.text)")
    }

    @Test func `discovery is measured from one router to a thousand, beside C in the same run`() async throws {
        let result = try await BuiltTool.run(["bench", "discovery", "--for", "1ms", "--json"], within: .seconds(240))
        let figures = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(result.status == 0, "\(result.errorText)")
        let kinds = figures.map { "\($0["name"]?.stringValue ?? "") \($0["parameters"]?["what"]?.stringValue ?? "")" }
        let times = [1, 10, 100, 1_000].flatMap { _ in ["discovery matched", "discovery all"] }
        #expect(
            kinds == ["discovery roundTrip"] + times + ["discovery replies", "discovery cpu", "discoveryReference cpu", "discovery memory"])
        for figure in figures { #expect(figure["value"]?.doubleValue ?? 0 > 0, "\(figure.text)") }
        // What a known router takes depends neither on the machine's speed nor on optimisation.
        #expect(figures.last?["value"]?.doubleValue ?? .infinity < 8_192, "\(figures.last?.text ?? "")")
    }

    @Test func `no face of the decoder allocates or counts references, neither a frame nor a read`() async throws {
        let scratch = try TemporaryDirectory()
        let library = scratch.file("count.so")
        try await runCommand(
            ["cc", "-O2", "-shared", "-fPIC", "-o", library, Repository.path("Fixtures/bench/count.c"), "-ldl"], mustSucceed: true)
        let result = try await BuiltTool.run(["bench", "decode", "--for", "1ms", "--json"], environment: ["LD_PRELOAD": library])
        let figures = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["name"]?.stringValue == "decode" }
        #expect(result.status == 0 && figures.count == 16)
        for figure in figures {
            let parameters = try #require(figure["parameters"])
            #expect(try #require(figure["countedFrames"]?.integerValue) > 0)
            #expect(figure["allocations"]?.integerValue == 0, "\(parameters)")
            #expect(figure["referenceCounts"]?.integerValue == 0, "\(parameters)")
            // The counter sees the buffer that every decoder makes for its half packets.
            #expect(try #require(figure["allocationsOnce"]?.integerValue) > 0)
            #expect(figure["value"]?.doubleValue ?? 0 > 0 && figure["unit"]?.stringValue == "ns/frame")
        }
    }
}
