import FrameCodec

extension ValueKind where Value == FrameLayout {
    /// How headers are written: the names of protocol.md, or the same with a dash.
    static var layout: ValueKind {
        .choice([
            ("standard", .standard), ("littleEndian", .littleEndian), ("asciiLength", .asciiLength), ("little-endian", .littleEndian),
            ("ascii-length", .asciiLength),
        ])
    }
}

/// The options by which a command is told how frames look.
enum FrameOptions {
    static let layout = DefaultedOption(
        "layout", "L", .layout, default: FrameLayout.standard, shown: "standard",
        "how headers are written: standard, littleEndian or asciiLength")
    static let limit = DefaultedOption(
        "limit", "SIZE", .size, default: FrameLimits.defaultMaximumBodyLength, shown: "1MiB", "the largest body that is accepted")
    static let version = Option(
        "version", "N", ValueKind<UInt16>.integer(in: 1...UInt16.max), "the only version that is accepted; without it any but 0")

    /// The limits that the arguments ask for. A limit above what 32 bits express is no limit.
    static func limits(size: Int, version: UInt16? = nil) -> FrameLimits {
        FrameLimits(maximumBodyLength: min(size, Int(UInt32.max)), versions: version.map { $0...$0 } ?? 1...UInt16.max)
    }
}
