/// What a receiver accepts and a sender may write: checked as soon as the header is whole, before a byte of the
/// body is waited for (protocol.md, section 1).
public struct FrameLimits: Equatable, Sendable {
    /// 1 MiB: far above any command, and small enough that a thousand peers at the limit fit into memory.
    public static let defaultMaximumBodyLength = 1 << 20

    /// The largest body, in bytes, 0...4,294,967,295. `asciiLength` can't express more than 9,999 whatever stands here.
    public let maximumBodyLength: Int
    /// Versions that are understood; a header with another one ends the stream.
    public let versions: ClosedRange<UInt16>

    /// Limits; by default bodies up to 1 MiB and every version but 0.
    ///
    /// - Precondition: `maximumBodyLength` is in 0...4,294,967,295 and `versions` doesn't hold 0, which no sender may use.
    public init(
        maximumBodyLength: Int = FrameLimits.defaultMaximumBodyLength,
        versions: ClosedRange<UInt16> = 1...UInt16.max
    ) {
        precondition(maximumBodyLength >= 0 && maximumBodyLength <= Int(clamping: UInt32.max), "a length field holds 32 bits")
        precondition(versions.lowerBound > 0, "version 0 is no version")
        self.maximumBodyLength = maximumBodyLength
        self.versions = versions
    }
}
