import FrameCodec
import SocketCore
import Testing

@testable import wifictl

@Suite struct FuzzCampaignTests {
    @Test func `the same seed and run give the same case, another seed another`() {
        let generator = CaseGenerator(seed: 5), other = CaseGenerator(seed: 6)
        var differing = 0
        for run in UInt64(0)..<200 {
            var first = FuzzCase(), second = FuzzCase(bytes: [1, 2, 3], cuts: [1]), third = FuzzCase()
            generator.make(run, into: &first)
            generator.make(run, into: &second)
            other.make(run, into: &third)
            #expect(first == second)
            if first != third { differing += 1 }
        }
        #expect(differing > 190)
    }

    @Test func `the generator makes every kind of stream`() {
        let generator = CaseGenerator(seed: 1)
        var fuzzCase = FuzzCase()
        var errors: Set<String> = []
        var layouts: Set<FrameLayout> = []
        var clean = 0, sticky = 0, longest = 0
        for run in UInt64(0)..<20_000 {
            generator.make(run, into: &fuzzCase)
            layouts.insert(fuzzCase.layout)
            longest = max(longest, fuzzCase.bytes.count)
            #expect(fuzzCase.cuts.allSatisfy { (0...fuzzCase.bytes.count).contains($0) })
            #expect(zip(fuzzCase.cuts, fuzzCase.cuts.dropFirst()).allSatisfy { $0 <= $1 })
            let versions = fuzzCase.limits.versions
            let answer = ReferenceDecoder(
                layout: fuzzCase.layout, limit: fuzzCase.limits.maximumBodyLength,
                versions: Int(versions.lowerBound)...Int(versions.upperBound)
            ).answer(to: fuzzCase.bytes, ended: true)
            if let error = answer.error { errors.insert(error.name) } else { clean += 1 }
            if answer.frames.count > 3 { sticky += 1 }
        }
        #expect(errors == ["unsupportedVersion", "malformedLength", "bodyTooLarge", "truncated"])
        #expect(layouts.count == 3)
        #expect(clean > 1_000 && sticky > 500 && longest > 10_000)
    }

    @Test func `numbers below a bound reach every value and none beyond`() {
        var dice = SeededGenerator(seed: 3)
        var seen = Array(repeating: 0, count: 10)
        for _ in 0..<10_000 { seen[dice.below(10)] += 1 }
        #expect(seen.allSatisfy { $0 > 800 })
    }

    @Test func `a corpus takes part`() {
        let stream = Array("a stream that dice would never throw".utf8)
        let generator = CaseGenerator(seed: 1, corpus: [stream])
        var fuzzCase = FuzzCase()
        let found = (UInt64(0)..<2_000).contains { run in
            generator.make(run, into: &fuzzCase)
            return fuzzCase.bytes == stream
        }
        #expect(found)
    }

    @Test func `the minimiser keeps what matters and nothing else`() {
        var minimiser = CaseMinimiser { $0.bytes.contains(7) && $0.bytes.filter { $0 == 9 }.count >= 2 && !$0.cuts.isEmpty }
        let start = FuzzCase(bytes: Array(0...40) + [9, 200, 7], cuts: [0, 1, 5, 9, 30])
        let small = minimiser.minimise(start)
        #expect(small.bytes.sorted() == [7, 9, 9])
        #expect(small.cuts.count == 1)
        #expect(minimiser.tries < 1_000)
    }

    @Test func `the minimiser ends by itself though everything fails`() {
        var minimiser = CaseMinimiser { _ in true }
        let small = minimiser.minimise(FuzzCase(bytes: Array(repeating: 1, count: 70_000), cuts: Array(0..<5_000)))
        #expect(small.bytes.isEmpty && small.cuts.isEmpty)
    }

    @Test func `cuts stay in place when bytes before, around and behind them go`() {
        let fuzzCase = FuzzCase(bytes: Array(0..<10), cuts: [1, 4, 5, 9])
        #expect(fuzzCase.without(3..<6).cuts == [1, 3, 3, 6])
        #expect(fuzzCase.without(0..<1).cuts == [0, 3, 4, 8])
        #expect(fuzzCase.without(9..<10).cuts == [1, 4, 5, 9])
    }

    @Test func `a finding survives its file`() throws {
        var fuzzCase = FuzzCase()
        for run in UInt64(0)..<50 {
            CaseGenerator(seed: 9).make(run, into: &fuzzCase)
            let finding = Finding(
                fuzzCase: fuzzCase, disagreement: Disagreement(kind: .split, drive: .pull, detail: "a \"detail\"\n"), seed: .max, run: run)
            let artifact = try #require(FuzzArtifact(finding.fileContent))
            #expect(artifact.fuzzCase == fuzzCase && artifact.seed == .max && artifact.run == run)
        }
    }

    @Test(arguments: [
        "", "{}", #"{"type":"finding"}"#, #"{"type":"finding","layout":"standard","limit":-1,"versions":[1,2],"cuts":[],"input":""}"#,
        #"{"type":"finding","layout":"standard","limit":1,"versions":[2,1],"cuts":[],"input":""}"#,
        #"{"type":"finding","layout":"standard","limit":1,"versions":[1,2],"cuts":[2],"input":"00"}"#,
        #"{"type":"finding","layout":"standard","limit":1,"versions":[1,2],"cuts":[1,0],"input":"00"}"#,
    ])
    func `what is no finding is taken for a plain stream`(text: String) {
        #expect(FuzzArtifact(Array(text.utf8)) == nil)
    }
}
