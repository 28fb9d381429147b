import SocketCore

/// Something that `wifictl bench` can measure. To add one, declare it beside its code and list it in ``all``.
struct Benchmark: Sendable {
    /// What a benchmark is told, and how it speaks.
    struct Run {
        /// How long each figure is measured.
        let nanosecondsPerFigure: UInt64
        /// Idle sessions to hold open at a time.
        let idleSessions: Int
        /// Takes each figure as soon as it is there.
        let report: (Figure) throws -> Void
        /// Takes a remark for a person.
        let remark: (String) -> Void
    }

    /// One result.
    struct Figure: Sendable {
        /// Which benchmark, or whose reference.
        var name: String
        /// What it was measured at.
        var parameters: [JSONValue.Member]
        /// The median of `samples`.
        var value: Double
        var unit: String
        var samples: [Double]
        /// How many times the time of the reference, measured in turns with it.
        var ratio: Double?
        /// Further members of the JSON line.
        var more: [JSONValue.Member] = []
    }

    let name: String
    let summary: String
    let run: @Sendable (Run) async throws -> Void

    static let all: [Benchmark] = [.decode, .encode, .session, .status, .tls]
}
