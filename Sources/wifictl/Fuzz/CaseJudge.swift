import FrameCodec

/// Drives cases through decoders and holds every answer against the reference decoder's.
struct CaseJudge<Decoder: DecoderUnderTest & ~Copyable> {
    /// A fresh decoder at the start of a stream.
    let make: (FrameLayout, FrameLimits) -> Decoder

    /// Runs the case through the given drives.
    ///
    /// - Returns: the first thing that is wrong, or nil.
    func judge(_ fuzzCase: FuzzCase, drives: [Drive] = Drive.allCases) -> Disagreement? {
        let expected = reference(fuzzCase)
        for drive in drives {
            guard var found = run(fuzzCase, drive, expected) else { continue }
            classify(&found, fuzzCase, expected)
            return found
        }
        return nil
    }

    private func reference(_ fuzzCase: FuzzCase) -> ReferenceDecoder.Answer {
        let versions = fuzzCase.limits.versions
        return ReferenceDecoder(
            layout: fuzzCase.layout, limit: fuzzCase.limits.maximumBodyLength,
            versions: Int(versions.lowerBound)...Int(versions.upperBound)
        ).answer(to: fuzzCase.bytes, ended: true)
    }

    /// A wrong answer to a cut stream whose whole is answered rightly is a fault of cutting or of one face, and says so.
    private func classify(_ found: inout Disagreement, _ fuzzCase: FuzzCase, _ expected: ReferenceDecoder.Answer) {
        guard found.kind == .frames || found.kind == .error, found.drive != .whole else { return }
        guard run(fuzzCase, .whole, expected) == nil else { return }
        let isPull = found.drive == .pull || found.drive == .pullLate
        found.kind = isPull && run(fuzzCase, .inPlace, expected) == nil ? .face : .split
    }

    func run(_ fuzzCase: FuzzCase, _ drive: Drive, _ expected: ReferenceDecoder.Answer) -> Disagreement? {
        var run = DecoderRun(
            decoder: make(fuzzCase.layout, fuzzCase.limits), drive: drive, expected: expected, limits: fuzzCase.limits,
            layout: fuzzCase.layout)
        let bytes = fuzzCase.bytes.span.bytes
        if drive == .whole {
            run.feed(bytes)
        } else {
            var start = 0
            for cut in fuzzCase.cuts {
                guard run.feed(bytes.extracting(start..<cut)) else { break }
                start = cut
            }
            run.feed(bytes.extracting(droppingFirst: start))
        }
        return run.end()
    }
}
