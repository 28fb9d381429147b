import FrameCodec
import SocketCore

/// `wifictl fuzz --target`: the campaign against a device, with clock, progress, files and verdict.
struct TargetFuzz {
    /// Findings after which going on teaches nothing: fix these first.
    static let mostFindings = 8

    let target: Endpoint
    let seed: UInt64
    let layout: FrameLayout
    let limit: Int
    let isPlain: Bool
    let rate: Double
    let recovery: Duration
    let patience: Duration
    let mostFindings: Int
    let artifacts: String
    let time: Duration?
    let runs: UInt64?
    let context: Context

    /// Fuzzing is an attack: only what can be one's own device is a target without being told so.
    static func check(
        _ target: Endpoint, allowsPublic: Bool, why: String = "fuzzing is an attack"
    ) throws(UsageError) {
        let address = target.address
        guard !address.isMulticast, !address.isUnspecified, target.port > 0 else {
            throw UsageError("\(target) is no address of one device")
        }
        guard address.isPrivate || address.isLinkLocal || address.isLoopback || allowsPublic else {
            throw UsageError(
                "\(address) is a public address, and \(why)",
                hint: "give a device on your own network, or --allow-public if this one is yours too")
        }
    }

    private var campaign: TargetCampaign<TCPTargetLink> {
        var settings = TargetCampaign<TCPTargetLink>.Settings()
        settings.rate = rate
        settings.recovery = recovery
        var link = TCPTargetLink(target: target, layout: layout, isPlain: isPlain, seed: seed)
        link.patience.answer = patience
        return TargetCampaign(
            link: link,
            generator: TargetGenerator(seed: seed, layout: layout, limit: limit, isPlain: isPlain), settings: settings)
    }

    func run() throws -> ExitStatus {
        try FuzzFiles.makeDirectory(artifacts)
        var campaign = campaign
        try requireHealth(&campaign)
        context.output.remark("fuzzing \(target), seed \(seed), at most \(Int(rate)) cases a second; Ctrl-C ends it")
        var report = FuzzReport(seed: seed, isOfDevice: true, output: context.output)
        let deadline = time.map { report.started + $0 } ?? .distantFuture
        while SystemCalls.monotonicNow() < deadline, report.runs < runs ?? .max, !context.cancellation.isRaised,
            report.findings < mostFindings, !campaign.isDown
        {
            let finding = campaign.step()
            report.runs += 1
            if let finding { try keep(finding, &report) }
            report.progress(SystemCalls.monotonicNow(), of: time, runs)
        }
        if campaign.unconfirmed > 0 {
            let odd = campaign.unconfirmed
            context.output.remark(
                "\(counted(odd, "odd answer")) did not show a second time and \(odd == 1 ? "is" : "are") not counted")
        }
        report.finish(SystemCalls.monotonicNow())
        return report.findings == 0 ? .success : .negative
    }

    /// Does a finding's cases once more.
    func replay(_ cases: [TargetCase]) throws -> ExitStatus {
        var campaign = campaign
        try requireHealth(&campaign)
        var faults: [String] = []
        for targetCase in cases {
            let outcome = campaign.link.perform(targetCase)
            if let (fault, detail) = campaign.judge.fault(targetCase, outcome) { faults.append("\(fault.rawValue): \(detail)") }
            if let ailment = campaign.ailment() { faults.append("\(ailment.rawValue): \(ailment.meaning)") }
        }
        if context.output.isJSON {
            context.output.json(
                "fuzz",
                [
                    "runs": .whole(cases.count), "seed": .whole(seed), "findings": .whole(faults.count),
                    "faults": .array(faults.map { .string($0) }),
                ])
        } else {
            context.output.line(faults.isEmpty ? "clean: the device stood \(cases.count) cases" : faults.joined(separator: "\n"))
        }
        return faults.isEmpty ? .success : .negative
    }

    private func requireHealth(_ campaign: inout TargetCampaign<TCPTargetLink>) throws {
        let obstacle = campaign.obstacle()
        // A peer that speaks TLS may close without a word when it's spoken to in the clear.
        switch obstacle == .closes && TLSInquiry.speaksTLS(target, within: patience) ? .speaksTLS : obstacle {
        case nil: return
        case .unreachable(let reason):
            throw ToolError("\(target) can't be fuzzed: \(reason)", hint: "is it on, and is that its port for sessions, TCP?")
        case .speaksTLS:
            throw ToolError(
                "\(target) can't be fuzzed: it speaks TLS, and fuzzing speaks in the clear",
                hint: "have the device take sessions without TLS while it's fuzzed, on a network of its own")
        case .silent:
            throw ToolError(
                "\(target) can't be fuzzed: it takes the connection and doesn't answer a hello",
                hint: "a device that speaks frames without hellos needs --plain; see --layout too")
        case .closes:
            throw ToolError(
                "\(target) can't be fuzzed: it closes the connection instead of answering a hello",
                hint: "is it a router, and is that its port for sessions? See --layout and --plain")
        }
    }

    private func keep(_ finding: TargetFinding, _ report: inout FuzzReport) throws {
        let told = TargetReport(finding: finding, target: "\(target)", layout: layout, limit: limit)
        let replay = try FuzzFiles.write(told.fileContent, as: told.name + ".json", in: artifacts)
        let text = told.text(replayFile: replay)
        let page = try FuzzFiles.write(Array(text.utf8), as: told.name + ".md", in: artifacts)
        report.count("\(finding.fault.rawValue): \(finding.detail)")
        if context.output.isJSON { return context.output.json("finding", told.members(file: page)) }
        context.output.line("\(context.output.paint("finding: \(finding.fault.rawValue)", .red)) \(finding.detail)")
        context.output.line("  report: \(page)\n  show it again: wifictl fuzz --target \(target) --replay \(replay)")
    }
}
