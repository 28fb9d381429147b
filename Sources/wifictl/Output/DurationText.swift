extension Duration {
    /// The span for a person, with two or three figures: `0.42 ms`, `17 ms`, `3.2 s`, `2 min 5 s`.
    var briefText: String {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        switch microseconds {
        case 0: return "0 s"
        case ..<10_000: return "\(Double(microseconds / 10) / 100) ms"
        case ..<1_000_000: return "\(microseconds / 1_000) ms"
        case ..<60_000_000: return "\(Double(microseconds / 100_000) / 10) s"
        default: return "\(components.seconds / 60) min \(components.seconds % 60) s"
        }
    }
}
