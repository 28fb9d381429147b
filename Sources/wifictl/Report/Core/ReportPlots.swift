/// Plots with a row a router over a common axis of milliseconds.
struct ReportPlots {
    static let mostRows = 40
    private static let left = 190.0
    private static let right = 800.0
    private static let pitch = 26.0

    let report: LANReport

    private var rows: [LANReport.Router] { Array(report.routers.filter { !$0.address.isEmpty }.prefix(ReportPlots.mostRows)) }

    /// When each router was found.
    func timeline() -> String {
        let most = max(rows.compactMap(\.foundAt).max() ?? 0, 1)
        let (scale, start) = (AxisScale(covering: most), frame(rows.count))
        var drawing = start
        axis(scale, rows.count, "ms after the first probe", in: &drawing)
        for (index, router) in rows.enumerated() {
            let y = label(router, index, in: &drawing)
            guard let found = router.foundAt else {
                drawing.text(ReportPlots.left + 6, y + 4, "only announced", "small")
                continue
            }
            let x = place(found, scale)
            drawing.line(ReportPlots.left, y, x, y, "grid")
            drawing.dot(x, y, 5, "found", title: "\(report.title(router.mac)) after \(ReportPlots.figure(found)) ms")
            drawing.text(ReportPlots.right + 12, y + 4, "\(ReportPlots.figure(found)) ms", "small")
        }
        let words = rows.map { "\(report.title($0.mac)) \($0.foundAt.map { "after \(ReportPlots.figure($0)) ms" } ?? "only announced")" }
        return drawing.element(
            id: "timeline", title: "When each router answered first", description: words.joined(separator: "; ") + ".")
    }

    /// All round trips, and each router's median.
    func trips() -> String {
        let most = max(rows.flatMap(\.trips).compactMap { $0 }.max() ?? 0, 0.1)
        let (scale, start) = (AxisScale(covering: most), frame(rows.count))
        var drawing = start
        axis(scale, rows.count, "ms from probe to answer", in: &drawing)
        for (index, router) in rows.enumerated() {
            let y = label(router, index, in: &drawing)
            let answered = router.trips.compactMap { $0 }
            for trip in answered { drawing.dot(place(trip, scale), y, 4, "trip", title: "\(ReportPlots.figure(trip)) ms") }
            if let median = router.medianTrip {
                drawing.line(place(median, scale), y - 9, place(median, scale), y + 9, "median")
            }
            drawing.text(ReportPlots.right + 12, y + 4, ReportPlots.summary(router), "small")
        }
        let words = rows.map { "\(report.title($0.mac)): \(ReportPlots.summary($0))" }
        return drawing.element(
            id: "trips", title: "Round trips of several probes to each router", description: words.joined(separator: "; ") + ".")
    }

    /// `median 1.2 ms`, with how many stayed unanswered.
    static func summary(_ router: LANReport.Router) -> String {
        let lost = router.trips.count { $0 == nil }
        guard let median = router.medianTrip else { return router.trips.isEmpty ? "not probed" : "no answer" }
        return "\(figure(median)) ms" + (lost == 0 ? "" : ", \(lost) of \(router.trips.count) lost")
    }

    /// Three figures.
    static func figure(_ value: Double) -> String {
        let digits = value < 1 ? 100.0 : value < 10 ? 100.0 : value < 100 ? 10.0 : 1.0
        return Markup.number((value * digits).rounded() / digits)
    }

    private func frame(_ count: Int) -> Drawing {
        Drawing(width: 980, height: Double(max(1, count)) * ReportPlots.pitch + 56)
    }

    private func place(_ value: Double, _ scale: AxisScale) -> Double {
        ReportPlots.left + value / scale.end * (ReportPlots.right - ReportPlots.left)
    }

    private func axis(_ scale: AxisScale, _ count: Int, _ unit: String, in drawing: inout Drawing) {
        let bottom = Double(max(1, count)) * ReportPlots.pitch + 10
        for tick in scale.ticks {
            drawing.line(place(tick, scale), 6, place(tick, scale), bottom, "grid")
            drawing.text(place(tick, scale), bottom + 16, ReportPlots.figure(tick), "axis", .middle)
        }
        drawing.text((ReportPlots.left + ReportPlots.right) / 2, bottom + 36, unit, "axis", .middle)
    }

    private func label(_ router: LANReport.Router, _ index: Int, in drawing: inout Drawing) -> Double {
        let y = (Double(index) + 0.5) * ReportPlots.pitch + 6
        drawing.text(ReportPlots.left - 10, y + 4, DisplayWidth.fit(report.title(router.mac), to: 24), "label", .end)
        return y
    }
}
