import FrameCodec

/// The cases made of a plain stream of which nothing else is known: a corpus file, or a file to replay.
enum StreamCases {
    private static let limits = [0, 16, 4_096, FrameLimits.defaultMaximumBodyLength]

    /// Every given layout with a few limits and ways of cutting.
    static func all(of bytes: [UInt8], layouts: [FrameLayout]) -> [FuzzCase] {
        var cases: [FuzzCase] = []
        for layout in layouts {
            for limit in limits {
                for step in [1, 3, 10, 11, 1_448] {
                    // A long stream cut into single bytes adds nothing but time.
                    let step = max(step, bytes.count / 65_536 + 1)
                    cases.append(
                        FuzzCase(
                            layout: layout, limits: FrameLimits(maximumBodyLength: limit), bytes: bytes,
                            cuts: Array(stride(from: step, to: bytes.count, by: step))))
                }
            }
        }
        return cases
    }
}
