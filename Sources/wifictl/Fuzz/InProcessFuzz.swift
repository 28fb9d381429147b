import FrameCodec
import SocketCore

/// `wifictl fuzz` without a target: the campaign against ``FrameDecoder``, with clock, progress, files and verdict.
struct InProcessFuzz {
    /// Cases between two looks at the clock and at Ctrl-C.
    private static let batch = 512
    /// Findings after which going on teaches nothing: fix these first.
    static let mostFindings = 16

    let seed: UInt64
    let layouts: [FrameLayout]
    let corpus: [(name: String, bytes: [UInt8])]
    let artifacts: String
    /// Nil runs without end, until Ctrl-C.
    let time: Duration?
    let runs: UInt64?
    let mostFindings: Int
    let context: Context

    private var judge: CaseJudge<FrameDecoder> { CaseJudge { FrameDecoder(layout: $0, limits: $1) } }

    func run() throws(ToolError) -> ExitStatus {
        try FuzzFiles.makeDirectory(artifacts)
        CrashRecorder.start(seed: seed, directory: artifacts, printsFinding: context.output.isJSON)
        defer { CrashRecorder.stop() }
        context.output.remark("fuzzing the frame decoder in this process, seed \(seed)")
        var report = FuzzReport(seed: seed, output: context.output)
        try runCorpus(&report)
        try runCampaign(&report)
        report.finish(SystemCalls.monotonicNow())
        return report.findings == 0 ? .success : .negative
    }

    /// Every file of the corpus as it is, before anything is made of it.
    private func runCorpus(_ report: inout FuzzReport) throws(ToolError) {
        for file in corpus {
            for fuzzCase in StreamCases.all(of: file.bytes, layouts: layouts) {
                CrashRecorder.note(report.runs, fuzzCase)
                report.runs += 1
                guard let found = judge.judge(fuzzCase) else { continue }
                let finding = Finding(fuzzCase: fuzzCase, disagreement: found, seed: seed, run: 0)
                if report.isNew(finding) { try keep(finding, &report) }
            }
            CrashRecorder.isAlive()
        }
    }

    private func runCampaign(_ report: inout FuzzReport) throws(ToolError) {
        let generator = CaseGenerator(seed: seed, layouts: layouts, corpus: corpus.map(\.bytes))
        var campaign = FuzzCampaign(judge: judge, generator: generator)
        let deadline = time.map { report.started + $0 } ?? .distantFuture
        while SystemCalls.monotonicNow() < deadline, !context.cancellation.isRaised, report.findings < mostFindings {
            let left = (runs ?? .max) - min(campaign.nextRun, runs ?? .max)
            guard left > 0 else { return }
            let before = campaign.nextRun
            let finding = campaign.step(Int(min(UInt64(InProcessFuzz.batch), left))) { CrashRecorder.note($0, $1) }
            report.runs += campaign.nextRun - before
            CrashRecorder.isAlive()
            if let finding, report.isNew(finding) { try keep(campaign.minimised(finding), &report) }
            report.progress(SystemCalls.monotonicNow(), of: time, runs)
        }
    }

    private func keep(_ finding: Finding, _ report: inout FuzzReport) throws(ToolError) {
        let file = try FuzzFiles.write(finding.fileContent, as: finding.fileName, in: artifacts)
        report.show(finding, file: file)
    }
}
