import FrameCodec

/// `fuzz`: the frame decoder of this tool, or a device's.
extension Command {
    static let fuzz = Command(
        name: "fuzz", summary: "fuzzes the frame decoder in process, or a device's",
        discussion: """
            Makes streams that are nearly frames and compares what the decoder says with a second, slow decoder: the same \
            frames and the same error however the stream is cut, bounded memory, linear copying, nothing after an error. \
            A fault is made as small as it gets and written to a file that --replay shows again. Exit status 1 means \
            that something was found. Every run can be repeated: same --seed, same inputs.
            """,
        options: FuzzOptions.all, usesNetwork: false, interruption: .asksCommand,
        examples: [
            Example("wifictl fuzz --for 10s", "fuzzes this build's decoder for ten seconds"),
            Example("wifictl fuzz --seed 7 --runs 100000 --layout asciiLength", "the same hundred thousand inputs every time"),
            Example("wifictl fuzz --replay fuzz-artifacts/split-7-1234.json", "shows a finding again"),
        ]
    ) { arguments, context in
        let layouts = arguments[FuzzOptions.layout].map { [$0] } ?? FrameLayout.allCases
        if let path = arguments[FuzzOptions.replay] {
            return try FuzzReplay(path: path, layouts: layouts, context: context).run()
        }
        let runs = arguments[FuzzOptions.runs]
        return try InProcessFuzz(
            seed: arguments[FuzzOptions.seed] ?? UInt64.random(in: 1...UInt64(UInt32.max)), layouts: layouts,
            corpus: try arguments[FuzzOptions.corpus].map { try FuzzFiles.corpus($0) } ?? [],
            artifacts: arguments[FuzzOptions.artifacts],
            time: arguments[FuzzOptions.time] ?? (runs == nil ? .seconds(60) : nil), runs: runs, context: context
        ).run()
    }
}

enum FuzzOptions {
    static let time = Option("for", "TIME", .duration, "stop after this time; 60s unless --runs is given")
    static let runs = Option("runs", "N", ValueKind<UInt64>.integer(in: 1 ... .max), "stop after this many inputs")
    static let seed = Option("seed", "N", ValueKind<UInt64>.integer(), "the same inputs as another run; drawn and shown by default")
    static let layout = Option("layout", "L", .layout, "standard, littleEndian or asciiLength only; all by default")
    static let corpus = Option("corpus", "DIR", .text, "streams to start from, one a file")
    static let artifacts = DefaultedOption(
        "artifacts", "DIR", .text, default: "fuzz-artifacts", shown: "fuzz-artifacts", "where findings are written")
    static let replay = Option("replay", "FILE", .text, "judge a finding's file, or any stream, once more")

    static let all: [any OptionDeclaration] = [time, runs, seed, layout, corpus, artifacts, replay]
}
