import FrameCodec
import SocketCore
import Testing

@testable import wifictl

/// The fuzzer must be able to find what it is there to find: every broken decoder is caught, and a right one isn't.
@Suite struct FuzzMutantTests {
    /// Bounds every test by work, not by time: the slowest fault to show takes a small part of it.
    static let mostRuns = 5_000
    static let seed: UInt64 = 0xF0A2

    static func campaign(_ fault: FaultyDecoder.Fault?, seed: UInt64 = seed) -> FuzzCampaign<FaultyDecoder> {
        FuzzCampaign(
            judge: CaseJudge { FaultyDecoder($0, $1, fault: fault) }, generator: CaseGenerator(seed: seed))
    }

    @Test(arguments: FaultyDecoder.Fault.allCases)
    func `a broken decoder is caught and the case made small`(_ fault: FaultyDecoder.Fault) throws {
        var campaign = Self.campaign(fault)
        let found = campaign.step(Self.mostRuns)
        let finding = try #require(found, "\(fault) was not caught in \(Self.mostRuns) runs of seed \(Self.seed)")
        let small = campaign.minimised(finding, mostTries: 600)
        #expect(small.disagreement.kind == finding.disagreement.kind)
        #expect(small.fuzzCase.bytes.count <= finding.fuzzCase.bytes.count)
        // The smaller case must show the fault by itself, and be clean on a right decoder.
        #expect(campaign.judge.judge(small.fuzzCase) != nil)
        #expect(Self.campaign(nil).judge.judge(small.fuzzCase) == nil)
    }

    @Test func `a right decoder is not accused`() {
        var campaign = Self.campaign(nil)
        let finding = campaign.step(Self.mostRuns)
        #expect(finding == nil, "seed \(Self.seed)")
    }

    @Test func `the decoder of this package is not accused`() {
        var campaign = FuzzCampaign(
            judge: CaseJudge { FrameDecoder(layout: $0, limits: $1) }, generator: CaseGenerator(seed: Self.seed))
        let finding = campaign.step(Self.mostRuns)
        #expect(finding == nil, "seed \(Self.seed)")
    }
}
