import FrameCodec
import SocketCore

/// Chooses where a stream is cut into reads.
enum CutGenerator {
    /// More reads than this make a run slow without making it cleverer.
    private static let mostPieces = 4_096

    static func cut(_ fuzzCase: inout FuzzCase, _ dice: inout SeededGenerator) {
        fuzzCase.cuts.removeAll(keepingCapacity: true)
        let count = fuzzCase.bytes.count
        guard count > 0 else { return }
        switch dice.below(8) {
        case 0: every(1, &fuzzCase)
        case 1: every(2 + dice.below(12), &fuzzCase)
        case 2: every(dice.pick([10, 11, 16, 26, 536, 1_448]), &fuzzCase)
        case 3, 4: fuzzCase.cuts.append(dice.below(count + 1))
        case 5: atHeaders(&fuzzCase, &dice)
        default: random(&fuzzCase, &dice)
        }
    }

    private static func every(_ length: Int, _ fuzzCase: inout FuzzCase) {
        let step = max(length, fuzzCase.bytes.count / mostPieces + 1)
        var place = step
        while place < fuzzCase.bytes.count {
            fuzzCase.cuts.append(place)
            place += step
        }
    }

    /// Pieces of uneven length, now and then an empty one.
    private static func random(_ fuzzCase: inout FuzzCase, _ dice: inout SeededGenerator) {
        let most = dice.once(in: 4) ? 1_500 : 24
        var place = dice.below(most)
        while place <= fuzzCase.bytes.count, fuzzCase.cuts.count < mostPieces {
            fuzzCase.cuts.append(place)
            place += dice.below(most)
        }
    }

    /// At a byte around the start of each frame as its first length has it.
    private static func atHeaders(_ fuzzCase: inout FuzzCase, _ dice: inout SeededGenerator) {
        let reader = ReferenceDecoder(layout: fuzzCase.layout, limit: fuzzCase.limits.maximumBodyLength)
        var start = 0
        for frame in reader.answer(to: fuzzCase.bytes, ended: false).frames {
            let place = start + dice.below(13) - 1
            if place >= fuzzCase.cuts.last ?? 0, place <= fuzzCase.bytes.count { fuzzCase.cuts.append(place) }
            start += FrameHeader.byteCount + frame.body.count
        }
    }
}
