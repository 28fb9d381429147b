import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

@Suite struct `The reference decoder` {
    @Test(arguments: try FrameFixture.all())
    func `answers every fixture rightly`(fixture: FrameFixture) {
        #expect(reference(fixture.stream, fixture.layout, fixture.limits) == fixture.expected)
    }

    @Test(arguments: FrameLayout.allCases)
    func `and the frame decoder agree on streams that are nearly right`(layout: FrameLayout) {
        let seed: UInt64 = 20_261
        var generator = SeededGenerator(seed: seed)
        var ends: Set<String> = []
        for round in 0..<400 {
            let limits = FrameLimits(
                maximumBodyLength: [0, 3, 40, 1 << 20].randomElement(using: &generator) ?? 0,
                versions: generator.chance(0.5) ? 1...1 : 1...UInt16.max)
            let stream = nearlyRight(layout, &generator)
            let expected = reference(stream, layout, limits)
            ends.insert(expected.error?.name ?? "none")
            let verifier = SplitVerifier(layout: layout, limits: limits)
            let mismatch = verifier.firstMismatch(stream, expected: expected, randomCuts: 3, using: &generator)
            #expect(mismatch == nil, "seed \(seed), round \(round)")
        }
        // The streams must reach every way to end, or the agreement means little.
        var all: Set = ["none", "unsupportedVersion", "bodyTooLarge", "truncated"]
        if layout == .asciiLength { all.insert("malformedLength") }
        #expect(ends == all)
    }

    private func reference(_ stream: [UInt8], _ layout: FrameLayout, _ limits: FrameLimits) -> StreamAnswer {
        let decoder = ReferenceDecoder(
            layout: layout, limit: limits.maximumBodyLength, versions: Int(limits.versions.lowerBound)...Int(limits.versions.upperBound))
        let answer = decoder.answer(to: stream, ended: true)
        return StreamAnswer(frames: answer.frames, error: answer.error, frameOffset: UInt64(answer.frameOffset))
    }

    /// A few frames; in most streams something is changed, lost or added.
    private func nearlyRight(_ layout: FrameLayout, _ generator: inout SeededGenerator) -> [UInt8] {
        var stream: [UInt8] = []
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
            let body = (0..<Int.random(in: 0...45, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let version: UInt16 = generator.chance(0.05) ? .random(in: 0...3, using: &generator) : 1
            stream += RawFrame.frame(body, msgId: .random(in: 0...(.max), using: &generator), version: version, layout: layout)
            if layout == .asciiLength, generator.chance(0.3) {
                let odd: [UInt8] = [0x20, 0, 0x30, 0x31, 0x2B, 0x41]
                stream += RawFrame.header(field: (0..<4).map { _ in odd[Int.random(in: 0..<6, using: &generator)] })
            }
        }
        guard !stream.isEmpty else { return stream }
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: stream.removeLast(Int.random(in: 0...min(30, stream.count), using: &generator))
        case 1: stream[Int.random(in: 0..<stream.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        case 2: stream.remove(at: Int.random(in: 0..<stream.count, using: &generator))
        case 3: stream.insert(UInt8.random(in: 0...255, using: &generator), at: Int.random(in: 0...stream.count, using: &generator))
        default: break
        }
        return stream
    }
}
