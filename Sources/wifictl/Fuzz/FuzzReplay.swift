import FrameCodec
import SocketCore

/// `wifictl fuzz --replay FILE`: shows a finding again, or says that it is gone.
struct FuzzReplay {
    let path: String
    let layouts: [FrameLayout]
    let context: Context

    private var judge: CaseJudge<FrameDecoder> { CaseJudge { FrameDecoder(layout: $0, limits: $1) } }

    func run() throws -> ExitStatus {
        let file = try InputFile(path, cancellation: context.cancellation)
        // Hex, cuts and names take more room than the bytes that they tell of.
        let content = try file.all(limit: 4 * FuzzFiles.largestFile)
        let artifact = FuzzArtifact(content)
        let seed = artifact?.seed ?? 0
        CrashRecorder.start(seed: seed, directory: ".", printsFinding: context.output.isJSON)
        defer { CrashRecorder.stop() }
        var report = FuzzReport(seed: seed, output: context.output)
        for fuzzCase in artifact.map({ [$0.fuzzCase] }) ?? StreamCases.all(of: content, layouts: layouts) {
            CrashRecorder.note(artifact?.run ?? 0, fuzzCase)
            report.runs += 1
            guard let found = judge.judge(fuzzCase) else { continue }
            let finding = Finding(fuzzCase: fuzzCase, disagreement: found, seed: seed, run: artifact?.run ?? 0)
            if report.isNew(finding) { report.show(finding, file: path) }
        }
        report.finish(SystemCalls.monotonicNow())
        return report.findings == 0 ? .success : .negative
    }
}

/// What an artifact file holds; nil for a file that is something else, such as a plain stream.
struct FuzzArtifact {
    let fuzzCase: FuzzCase
    let seed: UInt64
    let run: UInt64

    init?(_ content: [UInt8]) {
        guard let json = try? JSONValue.parse(content), json["type"]?.stringValue == "finding", let fuzzCase = FuzzCase(json) else {
            return nil
        }
        self.fuzzCase = fuzzCase
        seed = FuzzArtifact.number(json["seed"])
        run = FuzzArtifact.number(json["run"])
    }

    /// Numbers beyond 63 bits are written as text.
    private static func number(_ value: JSONValue?) -> UInt64 {
        value?.integerValue.flatMap { UInt64(exactly: $0) } ?? value?.stringValue.flatMap { UInt64($0) } ?? 0
    }
}
