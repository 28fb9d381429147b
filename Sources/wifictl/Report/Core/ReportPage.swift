/// One page about a LAN, whole in itself: no script, nothing fetched, every word from the network escaped.
struct ReportPage {
    let report: LANReport

    func html() -> String {
        let plots = ReportPlots(report: report)
        let hidden = report.routers.count - ReportPlots.mostRows
        let note = hidden > 0 ? "<p class=\"muted\">The first \(ReportPlots.mostRows) of \(report.routers.count) routers.</p>" : ""
        let map = ReportMap(report: report)
        var sections = [
            section(
                "map", "Map",
                "<div class=\"wide\">\(scroll("Map", map.element()))</div>\n<div class=\"narrow\">\(map.narrowElement())</div>\n\(legend)"),
            section("routers", "Routers", table),
        ]
        if report.heard > 0 {
            sections += [
                section("timeline", "When they answered", note + scroll("Timeline", plots.timeline())),
                section(
                    "trips", "Round trips",
                    note + scroll("Round trips", plots.trips()) + "<p class=\"muted\">A dot a probe; the bar is the median.</p>"),
            ]
        }
        sections.append(section("counts", "What was counted", counts))
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Routers on \(text(report.interfaces.joined(separator: ", "))), \(text(report.made))</title>
            <style>
            \(ReportStyle.page)
            </style>
            </head>
            <body>
            <a class="skip" href="#main">To the report</a>
            <header>
            <h1>Routers on this network</h1>
            <p class="muted">\(text(report.made)), on \(text(report.interfaces.joined(separator: ", "))); made by \(text(report.tool)) in \(
                ReportPlots.figure(report.duration / 1_000)) s</p>
            </header>
            <main id="main">
            <p class="lead">\(text(report.sentence))</p>
            \(sections.joined(separator: "\n"))
            </main>
            </body>
            </html>

            """
    }

    private func text(_ text: String) -> String { Markup.text(text) }

    private func section(_ id: String, _ title: String, _ content: String) -> String {
        "<section aria-labelledby=\"\(id)-heading\">\n<h2 id=\"\(id)-heading\">\(title)</h2>\n\(content)\n</section>"
    }

    private func scroll(_ label: String, _ content: String) -> String {
        "<p class=\"hint muted\">There is more to the right: scroll sideways.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"\(label)\">\(content)</div>\n"
    }

    private var legend: String {
        let words: [(LANReport.Tone, String)] = [
            (.good, "proven to be the company's"), (.fair, "trusted before, or vouched for"), (.open, "nothing is proven"),
            (.bad, "somebody else's, or somebody posing"),
        ]
        let entries = words.map { "<span class=\"tag \($0.0.rawValue)\">\($0.0.mark)</span> \($0.1)" }
        return "<p class=\"muted\">\(entries.joined(separator: " &nbsp; ")) &nbsp; ★ the one that this machine is connected to</p>"
    }

    private var table: String {
        guard !report.routers.isEmpty else {
            return
                "<p>No router answered. <code>wifictl doctor</code> looks for the cause: interfaces, the packet filter, the Wi-Fi link.</p>"
        }
        let titles = ["Name", "Address", "Grade", "Verdict, and why", "Round trip", "Device"]
        let head = titles.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let count = report.countText
        return scroll(
            "Table of routers",
            "<table><caption>\(count); ★ marks the one that this machine is connected to</caption>\n<thead><tr>\(head)</tr></thead>\n"
                + "<tbody>\n\(report.routers.map(row).joined(separator: "\n"))\n</tbody></table>")
    }

    private func row(_ router: LANReport.Router) -> String {
        let isChosen = router.mac == report.chosen
        let parent = router.parent.map { below("child of \(report.title($0))") } ?? ""
        let device = [router.device, router.firmware].filter { !$0.isEmpty }.joined(separator: ", ")
        let cells = [
            "<td class=\"code\">\(text(router.address))\(router.interface.isEmpty ? "" : below("on \(router.interface)"))</td>",
            "<td class=\"grade\">\(text(router.grade))\(router.evidence.isEmpty ? "" : below(router.evidence))</td>",
            "<td class=\"reason\"><span class=\"tag \(router.tone.rawValue)\">\(router.tone.mark) \(text(router.verdict))</span>"
                + "\(router.reason.isEmpty ? "" : "<br>\(text(router.reason))")</td>",
            "<td class=\"right\">\(text(ReportPlots.summary(router)))</td>",
            "<td>\(text(device))\(router.radios.map(below).joined())</td>",
        ]
        return "<tr\(isChosen ? " class=\"chosen\"" : "")><th scope=\"row\">\(isChosen ? "★ " : "")\(text(report.title(router.mac)))"
            + "<br><span class=\"code muted\">\(text(router.mac))</span>\(parent)</th>" + cells.joined() + "</tr>"
    }

    /// A second line in a cell.
    private func below(_ words: String) -> String { "<br><span class=\"muted\">\(text(words))</span>" }

    private var counts: String {
        let entries = report.counts.map { "<div><dt>\(text($0.name))</dt><dd>\(text($0.value))</dd></div>" }
        return "<dl class=\"counts\">\(entries.joined())</dl>"
    }
}
