/// `report FILE.html`: a page about this network.
extension Command {
    private static let probes = DefaultedOption(
        "probes", "N", ValueKind<Int>.integer(in: 1...100), default: 8, shown: "8", "probes to each router for its round trips")

    static let report = Command(
        name: "report", summary: "writes a page about this network: a map, a table, plots", positionals: ["FILE"],
        discussion: """
            Looks for routers, asks each to prove whose it is, measures round trips, and writes one HTML page: a map of this machine, its \
            access point, the routers and their children, a table with reasons, when each answered, and the round trips. The page is \
            whole in itself: it opens without network, on paper and in the dark. FILE may be - for standard output. The exit status is \
            1 when no router answered; the page is written all the same.
            """,
        options: [ScanOptions.span, ScanOptions.bssid, probes] + TrustOptions.judging + [FrameOptions.layout],
        examples: [
            Example("wifictl report lan.html", "and open it in any browser"),
            Example("wifictl report lan.html --root company-root.pem", "with verdicts by the company's root"),
        ]
    ) { arguments, context in
        let path = try arguments.required(0, "FILE", .path)
        // Looked at before anybody is asked for anything.
        if path == "-" {
            guard !context.output.isJSON else { throw UsageError("with --json the page needs a file", hint: "name one instead of -") }
        } else {
            try FileOutput.check(path)
        }
        let trust = try TrustOptions.routerTrust(arguments, context)
        let run = ReportRun(
            discovery: try ScanOptions.discovery(arguments, context), trust: trust, session: SessionTool.inquiry(arguments),
            station: arguments[TrustOptions.station],
            span: arguments[ScanOptions.span],
            probes: arguments[probes], context: context)
        let report = try await run.report()
        let page = Array(ReportPage(report: report).html().utf8)
        if path == "-" {
            context.output.bytes(page)
        } else {
            try FileOutput.write(page, to: path)
            if context.output.isJSON {
                context.output.json(
                    "report",
                    [
                        "file": .string(path), "routers": .whole(report.heard), "silent": .whole(report.routers.count - report.heard),
                        "bytes": .whole(page.count),
                    ])
            }
        }
        let count = report.heard
        let place = path == "-" ? "" : " in \(path)"
        context.output.remark(
            count == 0 ? "no router answered; the page\(place) says so (wifictl doctor looks for the cause)" : report.countText + place)
        return count == 0 ? .negative : .success
    }
}
