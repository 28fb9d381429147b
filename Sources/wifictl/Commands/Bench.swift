import SocketCore

/// `bench [NAME...]`: how fast the parts are on this machine.
extension Command {
    private static let list = Flag("list", "list the benchmarks and end")
    private static let time = DefaultedOption(
        "for", "TIME", .duration, default: .milliseconds(300), shown: "300ms", "how long each figure is measured")
    private static let plot = Option("plot", "FILE", .path, "draw the medians and their spread beside the reference's, as SVG")

    private static let sessions = DefaultedOption(
        "sessions", "N", .integer(in: 1...IdleSessionBench.mostSessions), default: IdleSessionBench.mostSessions, shown: "10000",
        "how many idle sessions bench session measures")

    static let bench = Command(
        name: "bench", summary: "measures how fast codec, sessions, status reports, discovery and TLS are here", positionals: ["[NAME...]"],
        words: ["NAME": Benchmark.all.map(\.name)],
        discussion: """
            Prints the median of many samples for each figure, in CPU time of one core. Where there is a reference in C, it is \
            compiled with the system's C compiler and measured in turns with it, and the table shows how many times its time \
            was taken. The references come with this project's sources alone: an installed tool, or a machine without a compiler, \
            leaves the column out and says so. bench session runs both sides on one core, over loopback.
            """,
        options: [list, time, plot, sessions], usesNetwork: false,
        examples: [
            Example("wifictl bench", "measures everything"),
            Example("wifictl bench decode --for 2s --json", "measures decoding thoroughly, a JSON line a figure"),
            Example("wifictl bench decode --plot decode.svg", "with a drawing for any browser"),
        ]
    ) { arguments, context in
        if arguments[list] {
            showList(context)
            return .success
        }
        let chosen = try chosenBenchmarks(arguments.positionals)
        if let path = arguments[plot] { try FileOutput.check(path) }
        if isUnoptimised() {
            context.output.warning("this wifictl was built without optimisation, so the figures mean little (build with -c release)")
        }
        let measured = try await measure(chosen, arguments, context)
        context.output.clearProgress()
        if !context.output.isJSON, !measured.figures.isEmpty { context.output.table(BenchTable(measured.figures).table) }
        guard !measured.isInterrupted else {
            let count = counted(measured.figures.count, "figure was", "figures were")
            context.output.remark("interrupted: \(count) measured")
            throw CancellationError()
        }
        if let path = arguments[plot] {
            try FileOutput.write(Array(BenchPlot(measured.figures).svg(made: "\(WallTime.systemNow())").utf8), to: path)
            context.output.remark("\(counted(measured.figures.count, "figure is", "figures are")) drawn in \(path)")
        }
        return .success
    }

    /// The figures, in the order in which they were done; fewer where somebody ended it.
    private static func measure(
        _ chosen: [Benchmark], _ arguments: Arguments, _ context: Context
    ) async throws -> (figures: [Benchmark.Figure], isInterrupted: Bool) {
        var figures: [Benchmark.Figure] = []
        for benchmark in chosen {
            context.output.progress("\(benchmark.name): \(counted(figures.count, "figure"))")
            let run = Benchmark.Run(
                nanosecondsPerFigure: UInt64(max(0, nanoseconds(arguments[time]))), idleSessions: arguments[sessions],
                report: { figure in
                    try context.cancellation.check()
                    figures.append(figure)
                    if context.output.isJSON { context.output.json("bench", members(figure)) }
                    context.output.progress("\(figure.name): \(counted(figures.count, "figure"))")
                },
                remark: { if !context.cancellation.isRaised { context.output.remark($0) } })
            // What fails behind the wish to end, fails by it.
            do { try await benchmark.run(run) } catch  where context.cancellation.isRaised { return (figures, true) }
        }
        return (figures, false)
    }

    private static func showList(_ context: Context) {
        if context.output.isJSON {
            for benchmark in Benchmark.all {
                context.output.json("benchmark", ["name": .string(benchmark.name), "summary": .string(benchmark.summary)])
            }
            return
        }
        var table = Table([Table.Column("NAME"), Table.Column("MEASURES", least: 24, wraps: true)])
        for benchmark in Benchmark.all { table.add([Table.Cell(benchmark.name), Table.Cell(benchmark.summary)]) }
        context.output.table(table)
    }

    private static func chosenBenchmarks(_ names: [String]) throws(UsageError) -> [Benchmark] {
        var chosen: [Benchmark] = []
        for name in names {
            guard let benchmark = Benchmark.all.first(where: { $0.name == name }) else {
                let nearest = Suggestion.nearest(to: name, among: Benchmark.all.map(\.name))
                throw UsageError("no benchmark '\(name)'", hint: nearest.map { "did you mean \($0)?" } ?? "see wifictl bench --list")
            }
            chosen.append(benchmark)
        }
        return chosen.isEmpty ? Benchmark.all : chosen
    }

    private static func members(_ figure: Benchmark.Figure) -> [JSONValue.Member] {
        var members = [
            JSONValue.Member("name", .string(figure.name)), JSONValue.Member("parameters", .object(figure.parameters)),
            JSONValue.Member("value", thousandths(figure.value)), JSONValue.Member("unit", .string(figure.unit)),
            JSONValue.Member("samples", .array(figure.samples.map(thousandths))),
        ]
        if let ratio = figure.ratio { members.append(JSONValue.Member("ratio", thousandths(ratio))) }
        return members + figure.more
    }

    private static func thousandths(_ number: Double) -> JSONValue { .number((number * 1_000).rounded() / 1_000) }

    private static func nanoseconds(_ time: Duration) -> Int64 {
        let (product, overflow) = time.components.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product + time.components.attoseconds / 1_000_000_000
    }

    private static func isUnoptimised() -> Bool {
        var result = false
        // An assertion's condition is evaluated in builds without optimisation alone.
        assert({ result = true }() == ())
        return result
    }
}

/// The figures as people read them: a row for each, its parameters in columns.
private struct BenchTable {
    private(set) var table: Table
    /// Whether anything was measured beside a reference: an empty column says nothing.
    private let hasRatios: Bool

    init(_ figures: [Benchmark.Figure]) {
        hasRatios = figures.contains { $0.ratio != nil }
        let columns = [
            Table.Column("BENCH"), Table.Column("AT", least: 12), Table.Column("VALUE", side: .right), Table.Column("UNIT"),
            Table.Column("TIMES C", side: .right),
        ]
        table = Table(hasRatios ? columns : columns.dropLast())
        for figure in figures { add(figure) }
    }

    private mutating func add(_ figure: Benchmark.Figure) {
        let parameters = figure.parameters.map { "\($0.name) \($0.value.integerValue.map { "\($0)" } ?? $0.value.stringValue ?? "")" }
        let cells = [
            Table.Cell(figure.name), Table.Cell(parameters.joined(separator: ", ")), Table.Cell(BenchTable.decimal(figure.value)),
            Table.Cell(figure.unit), Table.Cell(figure.ratio.map(BenchTable.decimal) ?? ""),
        ]
        table.add(hasRatios ? cells : cells.dropLast())
    }

    /// Two decimals.
    private static func decimal(_ number: Double) -> String {
        let hundredths = Int((number * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
    }
}
