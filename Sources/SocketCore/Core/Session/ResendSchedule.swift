/// When a message that got no receipt goes again on the same connection (protocol.md, section 2).
///
/// With the protocol's values a message goes at 0 and after about 6, 19, 44 and 94 s; at about 194 s the connection is
/// taken for broken.
public struct ResendSchedule: Sendable, Equatable {
    /// The first wait.
    public var base = Duration.seconds(5)
    /// Each wait is stretched by a random factor from this range, so that copies of many messages don't meet.
    public var spread: ClosedRange<Double> = 1.0...1.5
    /// Resends on one connection.
    public var limit = 4

    /// The protocol's values.
    public init() {}

    /// The wait after the copy that is the `resends`-th resend; 0 for the first copy.
    func wait(afterResends resends: Int, _ random: inout SeededGenerator) -> Duration {
        .nanoseconds(wait(base.inNanoseconds, afterResends: resends, &random))
    }

    /// The same in nanoseconds, for whoever keeps ``base`` in them: a `Duration` counts in 128 bits.
    @inline(__always)
    func wait(_ base: Int64, afterResends resends: Int, _ random: inout SeededGenerator) -> Int64 {
        let factor = spread.lowerBound + (spread.upperBound - spread.lowerBound) * random.unit()
        return Int64(Double(base) * factor * Double(1 << min(resends, 16)))
    }
}
