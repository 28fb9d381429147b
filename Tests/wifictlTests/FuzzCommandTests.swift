import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// `wifictl fuzz` as a script sees it.
@Suite struct FuzzCommandTests {
    @Test func `a run says how much, with which seed and what came of it`() async throws {
        let place = try TemporaryDirectory()
        let result = try await BuiltTool.run(
            ["fuzz", "--runs", "2000", "--seed", "7", "--layout", "littleEndian", "--artifacts", place.file("found"), "--json"])
        let last = try JSONValue.parse(Array(try #require(result.lines.last).utf8))
        #expect(last["type"]?.stringValue == "fuzz")
        #expect(last["runs"]?.integerValue == 2_000)
        #expect(last["seed"]?.integerValue == 7)
        #expect((last["execsPerSecond"]?.integerValue ?? 0) > 0)
        let findings = try #require(last["findings"]?.integerValue)
        #expect(result.status == (findings == 0 ? 0 : 1))
        #expect(result.lines.count == Int(findings) + 1)
    }

    @Test(arguments: [(110, nil), (9_999, nil), (20_000, 3_000)])
    func `a span too short to mean anything has no rate`(microseconds: Int, rate: Int64?) throws {
        for json in [true, false] {
            let written = Written()
            var report = FuzzReport(seed: 1, output: Output(mode: json ? .json : .text, verbosity: .normal, to: written.target(nil)))
            report.runs = 60
            report.finish(report.started + .microseconds(microseconds))
            let line = try #require(written.lines.last)
            if json {
                let value = try JSONValue.parse(Array(line.utf8))["execsPerSecond"]
                #expect(value == (rate.map { .integer($0) } ?? .null), "\(line)")
            } else {
                #expect(line.contains("a second") == (rate != nil) && line.contains("60 inputs in "), "\(line)")
            }
        }
    }

    @Test func `a finding's file is judged again`() async throws {
        let place = try TemporaryDirectory()
        let file = place.file("finding.json")
        let finding = Finding(
            fuzzCase: FuzzCase(bytes: [0, 0, 0, 1, 0, 1, 0, 0, 0, 0], cuts: [3]),
            disagreement: Disagreement(kind: .split, drive: .inPlace, detail: ""), seed: 3, run: 4)
        try Data(finding.fileContent).write(to: URL(fileURLWithPath: file))
        let result = try await BuiltTool.run(["fuzz", "--replay", file, "--json"])
        #expect(result.status == 0)
        #expect(result.text.contains(#""runs":1,"#) && result.text.contains(#""seed":3"#))
    }

    @Test func `any stream can be replayed and serve as a corpus`() async throws {
        let place = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: place.file("corpus"), withIntermediateDirectories: true)
        let file = place.file("corpus/stream")
        try Data("GET / HTTP/1.1\r\n\r\n".utf8).write(to: URL(fileURLWithPath: file))
        let replay = try await BuiltTool.run(["fuzz", "--replay", file])
        #expect(replay.status == 0 && replay.text.hasPrefix("clean: 60 inputs"))
        let run = try await BuiltTool.run(
            ["fuzz", "--corpus", place.file("corpus"), "--runs", "100", "--seed", "1", "--json", "--artifacts", place.file("found")])
        #expect(run.text.contains(#""runs":160,"#))
    }

    @Test func `a corpus that isn't there is an error that says so`() async throws {
        let missing = try TemporaryDirectory().file("missing")
        let result = try await BuiltTool.run(["fuzz", "--corpus", missing, "--runs", "1"])
        #expect(result.status == 2)
        #expect(result.errorText.contains("cannot read the corpus in \(missing): no such file or directory"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `an interrupted campaign still gives its verdict`(signal: Int32) async throws {
        let place = try TemporaryDirectory()
        let child = try ChildProcess([BuiltTool.path, "fuzz", "--for", "1h", "--seed", "2", "--json", "--artifacts", place.file("found")])
        // The directory is made right before the first run.
        while !FileManager.default.fileExists(atPath: place.file("found")) { await Task.yield() }
        child.signal(signal)
        let result = try await child.result()
        #expect(result.status == 130)
        #expect(result.lines.last?.contains(#""type":"fuzz""#) == true)
    }

    /// What the signal handler of a crash writes, without the crash.
    @Test func `the case under way is written without allocating and can be replayed`() throws {
        let place = try TemporaryDirectory()
        var fuzzCase = FuzzCase()
        var slot = CrashSlot(seed: 77, directory: place.path, printsFinding: false, remarks: -1)
        for run in UInt64(0)..<20 {
            CaseGenerator(seed: 4).make(run, into: &fuzzCase)
            slot.note(run, fuzzCase)
            slot.report(SIGILL)
            let content = try Data(contentsOf: URL(fileURLWithPath: place.file("crash-77-\(run).json")))
            let artifact = try #require(FuzzArtifact([UInt8](content)))
            #expect(artifact.fuzzCase == fuzzCase && artifact.seed == 77 && artifact.run == run)
        }
        slot.report(SIGALRM)
        let hang = try Data(contentsOf: URL(fileURLWithPath: place.file("hang-77-19.json")))
        #expect(FuzzArtifact([UInt8](hang))?.fuzzCase == fuzzCase)
    }
}
