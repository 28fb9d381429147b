import FrameCodec

/// Makes a case as small as it can be while it still shows the same kind of fault: fewer bytes, fewer cuts, plainer bytes.
struct CaseMinimiser {
    /// Experiments before it is good enough, whatever is left.
    static let mostTries = 20_000

    /// Whether a smaller case still shows the fault.
    let stillFails: (FuzzCase) -> Bool
    private(set) var tries = 0

    private let limit: Int

    init(mostTries: Int = CaseMinimiser.mostTries, stillFails: @escaping (FuzzCase) -> Bool) {
        limit = mostTries
        self.stillFails = stillFails
    }

    /// The smallest case found; `start` itself must fail.
    mutating func minimise(_ start: FuzzCase) -> FuzzCase {
        var best = start
        var before: FuzzCase
        repeat {
            before = best
            dropCuts(&best)
            dropBytes(&best)
            flattenBytes(&best)
        } while best != before && !isTired
        return best
    }

    private var isTired: Bool { tries >= limit }

    private mutating func keep(_ candidate: FuzzCase, _ best: inout FuzzCase) -> Bool {
        tries += 1
        guard stillFails(candidate) else { return false }
        best = candidate
        return true
    }

    /// Leaves out runs of bytes, long ones first (after Zeller and Hildebrandt's delta debugging, 2002).
    private mutating func dropBytes(_ best: inout FuzzCase) {
        var length = best.bytes.count
        while length > 0 {
            var start = 0
            while start < best.bytes.count, !isTired {
                let end = min(best.bytes.count, start + length)
                if !keep(best.without(start..<end), &best) { start += length }
            }
            length /= 2
        }
    }

    private mutating func dropCuts(_ best: inout FuzzCase) {
        var length = best.cuts.count
        while length > 0 {
            var start = 0
            while start < best.cuts.count, !isTired {
                var candidate = best
                candidate.cuts.removeSubrange(start..<min(best.cuts.count, start + length))
                if !keep(candidate, &best) { start += length }
            }
            length /= 2
        }
    }

    /// Zeroes what needn't be anything else, so that what matters stands out.
    private mutating func flattenBytes(_ best: inout FuzzCase) {
        for index in best.bytes.indices where best.bytes[index] != 0 && !isTired {
            var candidate = best
            candidate.bytes[index] = 0
            _ = keep(candidate, &best)
        }
    }
}

extension FuzzCase {
    /// The case without some of its bytes; cuts stay where they were in what is left.
    func without(_ range: Range<Int>) -> FuzzCase {
        var rest = self
        rest.bytes.removeSubrange(range)
        rest.cuts = cuts.map { $0 <= range.lowerBound ? $0 : max(range.lowerBound, $0 - range.count) }
        return rest
    }
}
