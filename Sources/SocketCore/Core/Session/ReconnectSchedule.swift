/// When to dial again (design.md, "Bounds"): 1, 2, 4, … 60 s, each ±25 %.
///
/// A server that accepts and closes at once sees seven tries in the first minute at the quickest, then one a minute.
public struct ReconnectSchedule: Sendable, Equatable {
    /// The first wait.
    public var base = Duration.seconds(1)
    /// The longest wait before jitter.
    public var ceiling = Duration.seconds(60)
    /// The share by which a wait is lengthened or shortened at random.
    public var jitter = 0.25
    /// Only a session that stood this long starts the schedule over.
    public var stability = Duration.seconds(20)

    /// The design's values.
    public init() {}

    /// The wait after that many failures in a row, from 1.
    func wait(afterFailures failures: Int, _ random: inout SeededGenerator) -> Duration {
        let doubled = base.scaled(by: Double(1 << min(max(failures, 1) - 1, 20)))
        return min(doubled, ceiling).scaled(by: 1 - jitter + 2 * jitter * random.unit())
    }
}
