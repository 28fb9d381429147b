/// A small random generator (SplitMix64) that gives the same row for the same seed.
///
/// For jitter and for tests, never for secrets: whoever sees a few numbers can compute the rest.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The row that belongs to `seed`.
    public init(seed: UInt64) { state = seed }

    /// The next number of the row.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in 0..<1.
    public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A span drawn evenly from `range`.
    public mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        range.lowerBound + (range.upperBound - range.lowerBound).scaled(by: unit())
    }

    /// True with the given probability, 0...1.
    public mutating func chance(_ probability: Double) -> Bool { unit() < probability }
}
