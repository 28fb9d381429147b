/// Finds the one case, or the shortest sequence of cases, that brings a fault about.
enum SequenceSearch {
    /// Experiments before it's good enough: each may cost a restart of the device.
    static let mostTries = 60

    /// What was found, and whether the fault could be brought about again at all.
    struct Result<Case> {
        var sequence: [Case]
        var isReproduced: Bool
        var tries: Int
    }

    /// - Parameters:
    ///   - history: the cases before the fault, the latest last.
    ///   - fails: does the cases in a row to a device that has just started, and says whether the fault shows; nil when the
    ///     device can't be had any more.
    static func find<Case>(_ history: [Case], fails: ([Case]) throws -> Bool?) rethrows -> Result<Case> {
        var tries = 0
        // The latest case alone is the culprit far more often than not; then twice as many each time.
        var length = 1
        while true {
            let candidate = Array(history.suffix(length))
            tries += 1
            guard let shows = try fails(candidate) else { return Result(sequence: candidate, isReproduced: false, tries: tries) }
            if shows {
                tries += 1
                // The fault has just restarted the device, so that this time nothing is left over from earlier cases.
                if try fails(candidate) == true { return try shorten(candidate, tries, fails) }
            }
            guard length < history.count, tries < mostTries else {
                return Result(sequence: history, isReproduced: false, tries: tries)
            }
            length *= 2
        }
    }

    private static func shorten<Case>(
        _ start: [Case], _ triesBefore: Int, _ fails: ([Case]) throws -> Bool?
    ) rethrows -> Result<Case> {
        var best = start
        var tries = triesBefore
        var chunk = best.count / 2
        while chunk > 0 {
            var index = 0
            while index < best.count, best.count > 1, tries < mostTries {
                var candidate = best
                candidate.removeSubrange(index..<min(best.count, index + chunk))
                tries += 1
                guard !candidate.isEmpty, let shows = try fails(candidate) else {
                    return Result(sequence: best, isReproduced: true, tries: tries)
                }
                if shows { tries += 1 }
                if shows, try fails(candidate) == true { best = candidate } else { index += chunk }
            }
            chunk /= 2
        }
        return Result(sequence: best, isReproduced: true, tries: tries)
    }
}
