/// The last signals of one router, as a person takes them in.
struct SignalHistory: Equatable, Sendable {
    /// dBm: below the first a link hardly holds, above the second nothing gets better.
    private static let range = -90.0 ... -40.0
    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

    /// dBm, oldest first; as many as of round trips.
    private(set) var samples: [Double] = []

    mutating func add(_ sample: Double) {
        samples.append(sample)
        if samples.count > RoundTripHistory.length { samples.removeFirst() }
    }

    /// A block a sample, on a scale that is the same for all: two routers can be compared.
    var sparkline: String {
        let (least, most) = (SignalHistory.range.lowerBound, SignalHistory.range.upperBound)
        return String(
            samples.map { sample in
                let share = (min(max(sample, least), most) - least) / (most - least)
                return SignalHistory.blocks[Int((share * Double(SignalHistory.blocks.count - 1)).rounded())]
            })
    }

    /// `-52 dBm`; empty where nothing was heard.
    var latest: String { samples.last.map { "\(Int($0.rounded())) dBm" } ?? "" }

    /// Weak links lose what is sent over them.
    var paint: Paint? {
        guard let latest = samples.last else { return nil }
        return latest < -75 ? .red : latest < -65 ? .yellow : .green
    }
}
