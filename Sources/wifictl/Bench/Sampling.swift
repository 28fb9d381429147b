import Glibc

/// Measures two implementations in turns, so that a busy machine or a changing clock rate hits both alike.
struct Sampling {
    /// One sample should last about this long: far above the clock's own cost, far below a scheduler's patience.
    static let sampleNanoseconds: UInt64 = 4_000_000
    static let fewestSamples = 5

    /// Nanoseconds for one unit of work, a sample each.
    struct Series {
        var samples: [Double] = []
        var median: Double {
            let sorted = samples.sorted()
            guard let middle = sorted.indices.isEmpty ? nil : sorted.count / 2 else { return 0 }
            return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        }
    }

    /// Runs every candidate in turn until `nanoseconds` have gone by.
    ///
    /// - Parameter candidates: each does `rounds` rounds of work and says how many units (frames) that were.
    static func interleaved(
        for nanoseconds: UInt64, _ candidates: [(_ rounds: Int) throws -> UInt64]
    ) throws -> [Series] {
        var rounds: [Int] = []
        for candidate in candidates { rounds.append(try calibrate(candidate)) }
        var series = candidates.map { _ in Series() }
        let start = Sampling.nanoseconds(CLOCK_MONOTONIC)
        while series[0].samples.count < fewestSamples || Sampling.nanoseconds(CLOCK_MONOTONIC) - start < nanoseconds {
            // However long a figure takes, Ctrl-C is heeded at the next sample.
            try Task.checkCancellation()
            for index in candidates.indices {
                let before = Sampling.nanoseconds(CLOCK_THREAD_CPUTIME_ID)
                let units = try candidates[index](rounds[index])
                let spent = Sampling.nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before
                series[index].samples.append(Double(spent) / Double(max(units, 1)))
            }
        }
        return series
    }

    private static func calibrate(_ candidate: (_ rounds: Int) throws -> UInt64) throws -> Int {
        var rounds = 1
        while true {
            try Task.checkCancellation()
            let before = Sampling.nanoseconds(CLOCK_THREAD_CPUTIME_ID)
            _ = try candidate(rounds)
            let spent = Sampling.nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before
            if spent >= sampleNanoseconds / 2 { return max(1, rounds * Int(sampleNanoseconds) / Int(spent)) }
            rounds *= 2
        }
    }

    /// CPU time of this thread, not the time of day: what other programs take of the core doesn't count.
    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
