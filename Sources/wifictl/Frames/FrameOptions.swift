import FrameCodec
import SocketCore
import WifiDiscovery

extension ValueKind where Value == FrameLayout {
    /// How headers are written: the names of protocol.md, or the same with a dash.
    static var layout: ValueKind {
        .choice(
            [
                ("standard", .standard), ("littleEndian", .littleEndian), ("asciiLength", .asciiLength),
            ], also: [("little-endian", .littleEndian), ("ascii-length", .asciiLength)])
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

    /// What to try where a peer makes nothing of our bytes, or we of its.
    static let layoutHint = "does it write its headers in another layout? see --layout"

    /// Whether a session that didn't come about for this reason is what two layouts make of each other: a peer that reads a header wrongly
    /// closes, or waits for the rest of a body that nobody sends.
    static func mayBeLayout(_ reason: LossReason) -> Bool {
        switch reason {
        case .badFrame, .badHello, .peerClosed, .noHello: true
        case .connectFailed, .connectTimedOut, .versionRefused, .refused, .wrongRouter, .wrongVersion, .silent, .noReceipt, .transport,
            .replaced, .suspended, .closed, .forgotten:
            false
        }
    }

    /// The same of a switch that came to nothing.
    static func mayBeLayout(_ error: SwitchError) -> Bool {
        guard error.step == .hello else { return false }
        if case .timeout = error.failure { return true }
        return error.loss.map(mayBeLayout) ?? false
    }

    /// The limits that the arguments ask for. A limit above what 32 bits express is no limit.
    static func limits(size: Int, version: UInt16? = nil) -> FrameLimits {
        FrameLimits(maximumBodyLength: min(size, Int(UInt32.max)), versions: version.map { $0...$0 } ?? 1...UInt16.max)
    }
}
