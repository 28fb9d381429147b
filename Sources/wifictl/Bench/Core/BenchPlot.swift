import SocketCore

/// Measured figures as a drawing: a row each, its median and spread over a logarithmic axis, the reference's below it in the same row.
struct BenchPlot {
    /// What of a figure's samples is drawn.
    struct Spread: Equatable {
        /// The 5th, 25th, 50th, 75th and 95th percentile.
        let low: Double
        let quarter: Double
        let median: Double
        let threeQuarters: Double
        let high: Double

        /// nil without samples above nothing: a logarithm has no place for them.
        init?(_ samples: [Double]) {
            let sorted = samples.filter { $0 > 0 && $0.isFinite }.sorted()
            guard !sorted.isEmpty else { return nil }
            let at = { (share: Double) in sorted[Int((share * Double(sorted.count - 1)).rounded())] }
            low = at(0.05)
            quarter = at(0.25)
            threeQuarters = at(0.75)
            high = at(0.95)
            let middle = sorted.count / 2
            median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        }
    }

    /// One row: a figure of ours with what it's compared with.
    struct Row {
        let label: String
        let own: Spread
        let reference: Spread?
        let ratio: Double?
    }

    /// Rows of one unit, which share an axis.
    struct Panel {
        let unit: String
        var rows: [Row]
    }

    private static let referenceSuffix = "Reference"
    private static let left = 250.0
    private static let right = 790.0
    private static let pitch = 30.0

    let panels: [Panel]

    init(_ figures: [Benchmark.Figure]) {
        var panels: [Panel] = []
        let references = figures.filter { $0.name.hasSuffix(BenchPlot.referenceSuffix) }
        for figure in figures where !figure.name.hasSuffix(BenchPlot.referenceSuffix) {
            guard let own = Spread(figure.samples) else { continue }
            let twin = references.first {
                $0.name == figure.name + BenchPlot.referenceSuffix && $0.parameters == figure.parameters && $0.unit == figure.unit
            }
            let row = Row(label: BenchPlot.label(figure), own: own, reference: twin.flatMap { Spread($0.samples) }, ratio: figure.ratio)
            if let index = panels.firstIndex(where: { $0.unit == figure.unit }) {
                panels[index].rows.append(row)
            } else {
                panels.append(Panel(unit: figure.unit, rows: [row]))
            }
        }
        self.panels = panels
    }

    private static func label(_ figure: Benchmark.Figure) -> String {
        let values = figure.parameters.map { $0.value.stringValue ?? $0.value.text }
        return ([figure.name] + values).joined(separator: " ")
    }

    /// The whole drawing as a file.
    func svg(made: String) -> String {
        let height = panels.reduce(84.0) { $0 + Double($1.rows.count) * BenchPlot.pitch + 84 }
        var drawing = Drawing(width: 980, height: height)
        drawing.box(0, 0, 980, height, "paper", radius: 0)
        drawing.text(20, 28, "wifictl bench", "strong")
        drawing.text(
            20, 48, "\(made). Bar: middle half of the samples; line: 5th to 95th percentile; tick: median. Axes are logarithmic.", "small")
        var top = 84.0
        for panel in panels {
            draw(panel, top, in: &drawing)
            top += Double(panel.rows.count) * BenchPlot.pitch + 84
        }
        let words = panels.flatMap { panel in
            panel.rows.map { row in
                "\(row.label): \(BenchPlot.figure(row.own.median)) \(panel.unit)\(row.ratio.map { ", \(BenchPlot.figure($0)) times the reference's time" } ?? "")"
            }
        }
        return drawing.element(
            id: "bench", title: "Measured medians and spread beside the reference", description: words.joined(separator: "; "),
            style: BenchPlot.style) + "\n"
    }

    private static let style = ReportStyle.drawing(
        """
        rect.own{fill:var(--fair);fill-opacity:.55;stroke:none}rect.reference{fill:var(--muted);fill-opacity:.45;stroke:none}
        line.own{stroke:var(--fair);stroke-width:1.5}line.reference{stroke:var(--muted);stroke-width:1.5}
        line.ownMedian{stroke:var(--ink);stroke-width:3}line.referenceMedian{stroke:var(--muted);stroke-width:3}
        """)

    private func draw(_ panel: Panel, _ top: Double, in drawing: inout Drawing) {
        let spreads = panel.rows.flatMap { [$0.own] + ($0.reference.map { [$0] } ?? []) }
        let scale = LogScale(spreads.map(\.low).min() ?? 1, spreads.map(\.high).max() ?? 1)
        let place = { (value: Double) in BenchPlot.left + scale.place(value) * (BenchPlot.right - BenchPlot.left) }
        let bottom = top + Double(panel.rows.count) * BenchPlot.pitch + 12
        drawing.text(20, top + 2, panel.unit, "strong")
        let hasReference = panel.rows.contains { $0.reference != nil }
        drawing.text(BenchPlot.left, top + 2, hasReference ? "blue: measured, grey below: the reference in C" : "blue: measured", "small")
        for tick in scale.ticks {
            drawing.line(place(tick), top + 12, place(tick), bottom, "grid")
            drawing.text(place(tick), bottom + 16, BenchPlot.figure(tick), "axis", .middle)
        }
        for (index, row) in panel.rows.enumerated() {
            let middle = top + 14 + (Double(index) + 0.5) * BenchPlot.pitch
            let offset = row.reference == nil ? 0.0 : 5.5
            drawing.text(BenchPlot.left - 12, middle + 4, row.label, "label", .end)
            draw(row.own, middle - offset, "own", place, in: &drawing)
            if let reference = row.reference { draw(reference, middle + offset, "reference", place, in: &drawing) }
            let ratio = row.ratio.map { ", \(BenchPlot.figure($0))× C" } ?? ""
            drawing.text(BenchPlot.right + 14, middle + 4, "\(BenchPlot.figure(row.own.median))\(ratio)", "small")
        }
    }

    private func draw(_ spread: Spread, _ y: Double, _ kind: String, _ place: (Double) -> Double, in drawing: inout Drawing) {
        drawing.line(place(spread.low), y, place(spread.high), y, kind)
        let width = max(1.5, place(spread.threeQuarters) - place(spread.quarter))
        drawing.box(place(spread.quarter), y - 4, width, 8, kind, radius: 1)
        drawing.line(place(spread.median), y - 5.5, place(spread.median), y + 5.5, kind + "Median")
    }

    /// Three figures, thousands with a k, millions with an M.
    static func figure(_ value: Double) -> String {
        if value >= 1e6 { return figure(value / 1e6) + "M" }
        if value >= 10_000 { return figure(value / 1e3) + "k" }
        let digits = value < 10 ? 100.0 : value < 100 ? 10.0 : 1.0
        return Markup.number((value * digits).rounded() / digits)
    }
}

/// A logarithmic axis from a bit below the least to a bit above the most.
struct LogScale {
    let ticks: [Double]
    private let low: Double
    private let span: Double

    /// - Parameters: both above 0.
    init(_ least: Double, _ most: Double) {
        var power = 1.0
        while power > least { power /= 10 }
        while power * 10 <= least { power *= 10 }
        var steps: [Double] = []
        while power <= most * 10 {
            steps += [power, 2 * power, 5 * power]
            power *= 10
        }
        let first = steps.lastIndex { $0 <= least } ?? 0
        let last = max(first + 1, steps.firstIndex { $0 >= most } ?? steps.count - 1)
        let shown = Array(steps[first...last])
        // Over many decades the powers of ten are enough.
        ticks = shown.count <= 10 ? shown : shown.enumerated().filter { (first + $0.offset).isMultiple(of: 3) }.map(\.element)
        low = LogScale.logarithm(shown[0])
        span = LogScale.logarithm(shown[shown.count - 1]) - low
    }

    /// 0 at the axis' beginning, 1 at its end.
    func place(_ value: Double) -> Double { min(1, max(0, (LogScale.logarithm(value) - low) / span)) }

    /// The logarithm to base 2, to more places than a pixel shows: a core has no C library.
    static func logarithm(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 0 }
        var (result, rest) = (Double(value.exponent), value.significand)
        var bit = 0.5
        while bit > 1e-9 {
            rest *= rest
            if rest >= 2 {
                rest /= 2
                result += bit
            }
            bit /= 2
        }
        return result
    }
}
