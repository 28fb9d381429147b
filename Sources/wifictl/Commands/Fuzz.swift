import FrameCodec
import SocketCore
import WifiDiscovery

/// `fuzz`: the frame decoder of this tool, or a device's.
extension Command {
    static let fuzz = Command(
        name: "fuzz", summary: "fuzzes the frame decoder in process, or a device's",
        discussion: """
            Makes streams that are nearly frames and compares what the decoder says with a second, slow decoder: the same \
            frames and the same error however the stream is cut, bounded memory, linear copying, nothing after an error. \
            A fault is made as small as it gets and written to a file that --replay shows again. Exit status 1 means \
            that something was found. Every run can be repeated: same --seed, same inputs. With --target the decoder is a \
            device's: right and wrong streams over TCP, its health asked after behind each, and a report of the one case, \
            or the shortest sequence, that it can't stand. It sends no command that changes a device's settings, and speaks in the \
            clear: a device that speaks TLS alone has to be fuzzed without it.
            """,
        options: FuzzOptions.all, usesNetwork: false, interruption: .asksCommand,
        examples: [
            Example("wifictl fuzz --for 10s", "fuzzes this build's decoder for ten seconds"),
            Example("wifictl fuzz --seed 7 --runs 100000 --layout asciiLength", "the same hundred thousand inputs every time"),
            Example("wifictl fuzz --target 192.168.1.1:19510 --for 5m", "fuzzes a router for five minutes"),
            Example("wifictl fuzz --replay fuzz-artifacts/split-7-1234.json", "shows a finding again"),
        ]
    ) { arguments, context in
        let layouts = arguments[FuzzOptions.layout].map { [$0] } ?? FrameLayout.allCases
        if let target = arguments[FuzzOptions.target] { return try fuzzTarget(target, arguments, context) }
        if let path = arguments[FuzzOptions.replay] {
            return try FuzzReplay(path: path, layouts: layouts, context: context).run()
        }
        let runs = arguments[FuzzOptions.runs]
        return try InProcessFuzz(
            seed: FuzzOptions.seed(arguments), layouts: layouts,
            corpus: try arguments[FuzzOptions.corpus].map { try FuzzFiles.corpus($0) } ?? [],
            artifacts: arguments[FuzzOptions.artifacts],
            time: arguments[FuzzOptions.time] ?? (runs == nil ? .seconds(60) : nil), runs: runs,
            mostFindings: arguments[FuzzOptions.findings] ?? InProcessFuzz.mostFindings, context: context
        ).run()
    }
}

private func fuzzTarget(_ target: Endpoint, _ arguments: Arguments, _ context: Context) throws -> ExitStatus {
    try TargetFuzz.check(target, allowsPublic: arguments[FuzzOptions.allowPublic])
    let runs = arguments[FuzzOptions.runs]
    let fuzz = TargetFuzz(
        target: target, seed: FuzzOptions.seed(arguments), layout: arguments[FuzzOptions.layout] ?? .standard,
        limit: arguments[FrameOptions.limit], isPlain: arguments[FuzzOptions.plain],
        rate: Double(arguments[FuzzOptions.rate]), recovery: arguments[FuzzOptions.recovery],
        patience: arguments[FuzzOptions.patience], mostFindings: arguments[FuzzOptions.findings] ?? TargetFuzz.mostFindings,
        artifacts: arguments[FuzzOptions.artifacts],
        time: arguments[FuzzOptions.time] ?? (runs == nil ? .seconds(60) : nil), runs: runs, context: context)
    guard let path = arguments[FuzzOptions.replay] else { return try fuzz.run() }
    let content = try InputFile(path, cancellation: context.cancellation).all(limit: 16 * FuzzFiles.largestFile)
    let cases = (try? JSONValue.parse(content))?["cases"]?.arrayValue?.compactMap(TargetCase.init)
    guard let cases, !cases.isEmpty else {
        throw ToolError("\(path) holds no cases for a device", hint: "--replay with --target reads the .json file beside a report")
    }
    return try fuzz.replay(cases)
}

enum FuzzOptions {
    static func seed(_ arguments: Arguments) -> UInt64 { arguments[seed] ?? UInt64.random(in: 1...UInt64(UInt32.max)) }

    static let time = Option("for", "TIME", .duration, "stop after this time; 60s unless --runs is given")
    static let runs = Option("runs", "N", ValueKind<UInt64>.integer(in: 1 ... .max), "stop after this many inputs")
    static let seed = Option("seed", "N", ValueKind<UInt64>.integer(), "the same inputs as another run; drawn and shown by default")
    static let layout = Option("layout", "L", .layout, "standard, littleEndian or asciiLength only; all by default")
    static let corpus = Option("corpus", "DIR", .text, "streams to start from, one a file")
    static let artifacts = DefaultedOption(
        "artifacts", "DIR", .text, default: "fuzz-artifacts", shown: "fuzz-artifacts", "where findings are written")
    static let replay = Option("replay", "FILE", .text, "judge a finding's file, or any stream, once more")
    static let target = Option("target", "ADDR:PORT", .endpoint, "fuzz the device at this address instead")
    static let plain = Flag("plain", "the device speaks frames only: no hello, no receipts")
    static let rate = DefaultedOption(
        "rate", "N", ValueKind<Int>.integer(in: 1...1_000), default: 20, shown: "20", "cases a second at most, with --target")
    static let recovery = DefaultedOption(
        "recovery", "TIME", .duration, default: .seconds(30), shown: "30s", "how long a device may take to come back after a crash")
    static let patience = DefaultedOption(
        "patience", "TIME", .duration, default: .seconds(3), shown: "3s", "how long a device may take to answer")
    static let findings = Option("findings", "N", ValueKind<Int>.integer(in: 1...1_000), "stop after this many findings")
    static let allowPublic = Flag("allow-public", "let --target be a public address")

    static let all: [any OptionDeclaration] = [
        time, runs, seed, layout, corpus, artifacts, replay, target, plain, rate, recovery, patience, findings, FrameOptions.limit,
        allowPublic,
    ]
}

extension ValueKind where Value == Endpoint {
    /// An address with its port: `192.168.1.1:19510`, `[fe80::1%eth0]:19510`.
    static var endpoint: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard case .address(let address, let port?) = RouterReference(text) else {
                throw ValueProblem("isn't an address and a port", hint: "write 192.168.1.1:19510 or [fe80::1%eth0]:19510")
            }
            return Endpoint(address, port: port)
        }
    }
}
