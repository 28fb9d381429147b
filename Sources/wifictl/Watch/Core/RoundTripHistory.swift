/// The last round trips to one router, as a person takes them in: the newest in figures, all of them as a line of blocks.
struct RoundTripHistory: Equatable, Sendable {
    /// As many as fit a column of a table.
    static let length = 16
    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// A probe without an answer.
    static let gap: Character = "·"

    /// Oldest first; nil for a probe that stayed unanswered.
    private(set) var samples: [Duration?] = []

    mutating func add(_ sample: Duration?) {
        samples.append(sample)
        if samples.count > RoundTripHistory.length { samples.removeFirst() }
    }

    /// The newest; nil when it stayed unanswered, or nothing was measured.
    var latest: Duration? { samples.last ?? nil }

    /// The shortest of them.
    var best: Duration? { samples.compactMap { $0 }.min() }

    /// A block a sample, from nothing to the slowest of them.
    var sparkline: String {
        let most = samples.compactMap { $0?.microseconds }.max() ?? 0
        return String(
            samples.map { sample in
                guard let sample else { return RoundTripHistory.gap }
                let step = most == 0 ? 0 : sample.microseconds * Int64(RoundTripHistory.blocks.count - 1) / most
                return RoundTripHistory.blocks[Int(step)]
            })
    }
}

extension Duration {
    /// Whole microseconds.
    var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
