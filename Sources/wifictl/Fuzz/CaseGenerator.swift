import FrameCodec
import SocketCore

/// Makes cases with knowledge of the frame: streams that are nearly right, and wrong where decoders go wrong.
///
/// The case of a run depends on the seed, the run's number and the corpus alone, so that any run can be made again.
struct CaseGenerator {
    let seed: UInt64
    /// The layouts to draw from.
    let layouts: [FrameLayout]
    /// Streams to start from beside the generator's own.
    let corpus: [[UInt8]]

    /// Body bytes to copy from: dice for every byte would cost more than the decoder does.
    private let noise: [UInt8]
    private static let noiseLength = 1 << 17
    private static let limits = [0, 1, 15, 16, 17, 32, 100, 255, 256, 1_000, 4_096, 9_998, 9_999, 10_000, 65_536, 1 << 20]
    private static let versionRanges: [ClosedRange<UInt16>] = [1...65_535, 1...65_535, 1...1, 1...3, 2...256]

    init(seed: UInt64, layouts: [FrameLayout] = FrameLayout.allCases, corpus: [[UInt8]] = []) {
        self.seed = seed
        self.layouts = layouts
        self.corpus = corpus
        var generator = SeededGenerator(seed: seed)
        noise = (0..<CaseGenerator.noiseLength).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
    }

    /// The case of run `index`, written over `fuzzCase` so that its memory is used again.
    func make(_ index: UInt64, into fuzzCase: inout FuzzCase) {
        var dice = SeededGenerator.forRun(index, seed: seed)
        fuzzCase.bytes.removeAll(keepingCapacity: true)
        fuzzCase.layout = dice.pick(layouts)
        let limit = dice.pick(CaseGenerator.limits)
        fuzzCase.limits = FrameLimits(maximumBodyLength: limit, versions: dice.pick(CaseGenerator.versionRanges))
        fill(&fuzzCase, &dice)
        if dice.once(in: 2) { CaseMutator.mutate(&fuzzCase.bytes, layout: fuzzCase.layout, &dice) }
        CutGenerator.cut(&fuzzCase, &dice)
    }

    private func fill(_ fuzzCase: inout FuzzCase, _ dice: inout SeededGenerator) {
        switch dice.below(64) {
        case 0..<34: appendFrames(1 + dice.below(3), bodiesUpTo: 33, &fuzzCase, &dice)
        case 34..<46: appendFrames(4 + dice.below(16), bodiesUpTo: 12, &fuzzCase, &dice)
        case 46..<56: appendFrames(1 + dice.below(2), bodiesUpTo: 1, &fuzzCase, &dice, atLimit: true)
        case 56..<59: appendFrames(1 + dice.below(2), bodiesUpTo: 700, &fuzzCase, &dice)
        case 59..<61: appendNoise(1 + dice.below(40), &fuzzCase.bytes, &dice)
        case 61..<63:
            if corpus.isEmpty {
                fuzzCase.bytes.append(contentsOf: dice.pick(HostileValues.otherProtocols))
            } else {
                splice(&fuzzCase, &dice)
            }
        default:
            // Long streams are rare: they cost what a thousand short ones do.
            switch dice.below(256) {
            case 0: appendFrames(1 + dice.below(4), bodiesUpTo: 60_000, &fuzzCase, &dice)
            case 1..<32: appendFrames(1 + dice.below(4), bodiesUpTo: 3_000, &fuzzCase, &dice)
            // Enough small frames to show memory that is never given back.
            case 32..<64: appendFrames(300 + dice.below(400), bodiesUpTo: 12, &fuzzCase, &dice, hostileOnceIn: 1_000)
            default: appendFrames(1 + dice.below(4), bodiesUpTo: 300, &fuzzCase, &dice)
            }
        }
    }

    private func appendFrames(
        _ count: Int, bodiesUpTo most: Int, _ fuzzCase: inout FuzzCase, _ dice: inout SeededGenerator, atLimit: Bool = false,
        hostileOnceIn rarity: Int = 8
    ) {
        for _ in 0..<count {
            let limit = min(fuzzCase.limits.maximumBodyLength, fuzzCase.layout.maximumExpressibleLength)
            // A body at the limit is worth its bytes only while the limit is small; else the header alone must do.
            let length = atLimit && limit <= 1_000 ? max(0, limit - dice.below(3) + 1) : dice.below(most + 1)
            appendHeader(length, rarity, limit, &fuzzCase, &dice)
            appendNoise(length, &fuzzCase.bytes, &dice)
        }
    }

    /// Version and length are each wrong once in a while.
    private func appendHeader(
        _ length: Int, _ rarity: Int, _ limit: Int, _ fuzzCase: inout FuzzCase, _ dice: inout SeededGenerator
    ) {
        let versions = fuzzCase.limits.versions
        var version = versions.lowerBound
        if dice.once(in: 2) { version += UInt16(dice.below(Int(versions.upperBound - versions.lowerBound) + 1)) }
        if dice.once(in: 2 * rarity) {
            version = dice.pick([0, versions.lowerBound &- 1, versions.upperBound &+ 1, versions.upperBound, 256, 0xFFFF])
        }
        let msgId: UInt32 = dice.once(in: 4) ? dice.pick(HostileValues.msgIds) : UInt32(truncatingIfNeeded: dice.next())
        let field =
            dice.once(in: rarity)
            ? HostileValues.lengthField(limit, fuzzCase.layout, &dice) : HostileValues.lengthField(length, fuzzCase.layout)
        HeaderWriter.append(msgId: msgId, version: version, lengthField: field, fuzzCase.layout, to: &fuzzCase.bytes)
    }

    private func appendNoise(_ length: Int, _ bytes: inout [UInt8], _ dice: inout SeededGenerator) {
        guard length > 0 else { return }
        let start = dice.below(CaseGenerator.noiseLength - length)
        noise.withUnsafeBufferPointer { bytes.append(contentsOf: UnsafeBufferPointer(rebasing: $0[start..<start + length])) }
    }

    /// A corpus stream, whole or its first part, then another one's last part.
    private func splice(_ fuzzCase: inout FuzzCase, _ dice: inout SeededGenerator) {
        let first = dice.pick(corpus)
        guard dice.once(in: 2) else { return fuzzCase.bytes.append(contentsOf: first) }
        let second = dice.pick(corpus)
        fuzzCase.bytes.append(contentsOf: first.prefix(dice.below(first.count + 1)))
        fuzzCase.bytes.append(contentsOf: second.dropFirst(dice.below(second.count + 1)))
    }
}
