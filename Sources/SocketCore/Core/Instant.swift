/// A point on a monotonic clock, in nanoseconds from an origin that only the giver of `now` knows.
///
/// Cores never read a clock: every input of theirs carries its instant. In tests the instants are made up.
public struct Instant: Comparable, Hashable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the origin.
    public var nanoseconds: Int64

    /// The instant that many nanoseconds after the origin.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The origin itself.
    public static let zero = Instant(nanoseconds: 0)
    /// Later than every instant that a clock can show.
    public static let distantFuture = Instant(nanoseconds: .max)

    /// Orders by time.
    public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

    /// Saturates at ``distantFuture``.
    public static func + (instant: Instant, span: Duration) -> Instant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(span.inNanoseconds)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    /// Saturates at ``distantFuture``.
    @inline(__always)
    func advanced(byNanoseconds span: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(span)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    /// The span from `right` to `left`; negative when `left` is earlier.
    public static func - (left: Instant, right: Instant) -> Duration {
        .nanoseconds(left.nanoseconds &- right.nanoseconds)
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to what 64 bits hold (292 years).
    public var inNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / 1_000_000_000
    }

    /// Milliseconds with their fraction, for people and for JSON.
    public var inMilliseconds: Double { Double(inNanoseconds) / 1_000_000 }

    /// A span that many times as long.
    public func scaled(by factor: Double) -> Duration { .nanoseconds(Int64(Double(inNanoseconds) * factor)) }
}
