import FrameCodec
import SocketCore

/// A run of cases through the judge: stops at the budget it is given, knows nothing of clocks, files or terminals.
struct FuzzCampaign<Decoder: DecoderUnderTest & ~Copyable> {
    let judge: CaseJudge<Decoder>
    let generator: CaseGenerator
    /// The number of the next run.
    private(set) var nextRun: UInt64 = 0
    private var fuzzCase = FuzzCase()

    init(judge: CaseJudge<Decoder>, generator: CaseGenerator) {
        self.judge = judge
        self.generator = generator
    }

    /// Every case is read whole, in place and by pulling; one of the other ways by turns.
    private static var drives: [[Drive]] {
        [Drive.pullLate, .stopping, .mixed].map { [.whole, .inPlace, .pull, $0] } + [[.whole, .inPlace, .pull]]
    }

    /// Makes and judges at most `count` cases; stops at the first fault.
    ///
    /// - Parameter watch: told of each case before it is judged, so that a case that ends the process isn't lost.
    mutating func step(_ count: Int, watch: (UInt64, FuzzCase) -> Void = { _, _ in }) -> Finding? {
        let drives = Self.drives
        for _ in 0..<count {
            let run = nextRun
            nextRun += 1
            generator.make(run, into: &fuzzCase)
            watch(run, fuzzCase)
            if let found = judge.judge(fuzzCase, drives: drives[Int(truncatingIfNeeded: run % 4)]) {
                return Finding(fuzzCase: fuzzCase, disagreement: found, seed: generator.seed, run: run)
            }
        }
        return nil
    }

    /// The finding with the smallest case that shows the same kind of fault.
    func minimised(_ finding: Finding, mostTries: Int = CaseMinimiser.mostTries) -> Finding {
        let (kind, drive) = (finding.disagreement.kind, finding.disagreement.drive)
        var minimiser = CaseMinimiser(mostTries: mostTries) { judge.judge($0, drives: [drive])?.kind == kind }
        var smaller = finding
        smaller.fuzzCase = minimiser.minimise(finding.fuzzCase)
        if let said = judge.judge(smaller.fuzzCase, drives: [drive]) { smaller.disagreement = said }
        return smaller
    }
}
