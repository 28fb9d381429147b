import FrameCodec
import SocketCore
import TestSupport
import Testing

@Suite struct `Frame fixtures` {
    @Test func `are there in every layout`() throws {
        let fixtures = try FrameFixture.all()
        #expect(fixtures.count >= 72)
        #expect(Set(fixtures.map(\.layout)) == Set(FrameLayout.allCases))
    }

    @Test(arguments: try FrameFixture.all())
    func `give the same answer however they are cut and through every face`(fixture: FrameFixture) {
        let seed: UInt64 = 1_951
        var generator = SeededGenerator(seed: seed)
        let verifier = SplitVerifier(layout: fixture.layout, limits: fixture.limits)
        let mismatch = verifier.firstMismatch(fixture.stream, expected: fixture.expected, using: &generator)
        #expect(mismatch == nil, "seed \(seed)")
    }

    @Test(arguments: try FrameFixture.all())
    func `give the frames that were whole and no error while the stream goes on`(fixture: FrameFixture) {
        var expected = fixture.expected
        if case .truncated = expected.error { expected.error = nil }
        var generator = SeededGenerator(seed: 1_952)
        let verifier = SplitVerifier(layout: fixture.layout, limits: fixture.limits)
        #expect(
            verifier.firstMismatch(fixture.stream, ended: false, expected: expected, randomCuts: 4, using: &generator) == nil)
    }

    @Test func `are answered wrongly by a decoder with another layout, so the comparison bites`() throws {
        let fixture = try #require(try FrameFixture.all().first { $0.name == "standard-link-vocabulary" })
        var generator = SeededGenerator(seed: 1)
        let verifier = SplitVerifier(layout: .littleEndian, limits: fixture.limits)
        #expect(verifier.firstMismatch(fixture.stream, expected: fixture.expected, using: &generator) != nil)
    }
}
