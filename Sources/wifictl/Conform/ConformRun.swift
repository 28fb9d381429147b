import FrameCodec
import SocketCore
import WifiDiscovery

/// `wifictl conform`: the campaign over sockets, with progress, report and exit status.
struct ConformRun {
    let target: Endpoint
    var subject: ConformSubject
    let wanted: [ConformRule]
    let trust: RouterTrust
    let context: Context

    func run() async throws -> ExitStatus {
        var subject = subject
        subject.tcp = target.port
        subject.discoveryEndpoint = Endpoint(target.address, port: context.port ?? DiscoveryDatagram.port)
        subject.hasIdentity = trust.identity != nil
        try requireListener()
        let link = SocketConformLink(target: target, cancellation: context.cancellation)
        let seed = UInt64.random(in: .min ... .max)
        var campaign = ConformCampaign(link: link, subject: subject, wanted: wanted, seed: seed)
        let report = ConformReport(target: target, output: context.output)
        let trials = campaign.trials
        var isPrepared = false
        for (index, trial) in trials.enumerated() where !context.cancellation.isRaised {
            context.output.progress("\(index + 1) of \(trials.count): \(campaign.title(of: trial))")
            // What discovery said decides how sessions are opened.
            if !isPrepared, !trial.rules.contains(where: { $0.section == 4 }) {
                isPrepared = true
                do { try await prepareTLS(&campaign) } catch  where context.cancellation.isRaised { break }
            }
            guard !context.cancellation.isRaised else { break }
            for (rule, finding) in campaign.perform(trial) { report.show(rule, finding) }
            if trial.rules.contains(.helloAnswer) { noteTLS(&campaign) }
        }
        context.output.clearProgress()
        // Whoever ends it has the sum of what was found until then.
        if !context.cancellation.isRaised { for (rule, finding) in campaign.unasked { report.show(rule, finding) } }
        return report.finish(wanted.map { ($0, campaign.findings[$0] ?? .skipped("")) })
    }

    /// Nobody there is an error before anything is judged.
    private func requireListener() throws(ToolError) {
        do throws(StreamEnd) {
            _ = try BlockingStream.connect(to: target, within: subject.patience)
        } catch {
            throw ToolError("\(error)", hint: "is it the session port, TCP? wifictl discover --to \(target.address) tells it")
        }
    }

    /// A router that speaks TLS, and whose reply doesn't say so or wasn't heard, isn't one that knows no hello.
    private func noteTLS(_ campaign: inout ConformCampaign<SocketConformLink>) {
        let subject = campaign.subject
        guard subject.hello == nil, !subject.speaksTLS, TLSInquiry.speaksTLS(target, within: subject.patience) else { return }
        let why = subject.reply == nil ? "no reply to a probe was heard that says so (see --port)" : "its reply to a probe doesn't say so"
        campaign.subject.lacksIdentity = "it speaks TLS, and \(why)"
        context.output.warning("no session is opened: it speaks TLS, and \(why)")
    }

    /// Opens sessions over TLS where the router's reply offers it.
    private func prepareTLS(_ campaign: inout ConformCampaign<SocketConformLink>) async throws {
        guard campaign.subject.speaksTLS, let text = campaign.subject.mac, let mac = MACAddress(text) else { return }
        var identity = trust.identity
        if trust.hasRoot {
            let asked = RouterVerifier.Subject(mac: mac, endpoint: target, offersTLS: true)
            let judgement = await RouterVerifier(trust, limit: campaign.subject.patience).verify(asked).judgement
            let isCompany = judgement.verdict == .company
            campaign.subject.certificateFinding = isCompany ? .pass() : .fail("\(judgement.verdict.name): \(judgement.detail)")
            // An operator's certificate isn't shown to whoever can't prove to be the company's.
            if !isCompany { identity = nil }
        }
        if identity == nil {
            let isOurs = trust.identity == nil
            campaign.subject.lacksIdentity =
                isOurs
                ? "it speaks TLS, and opens sessions to operators alone: give --identity and --key"
                : "it doesn't prove to be the company's, so that our certificate isn't shown to it"
            context.output.warning("no session is opened: \(campaign.subject.lacksIdentity ?? "")")
        }
        // On each connection anew: whoever has taken the router's place since isn't shown it either.
        let own =
            identity == nil
            ? TLSConfiguration(role: .client, roots: trust.roots) { _ in nil }
            : trust.configuration(for: mac) { _ in }
        campaign.link.ownContext = try TLSContext(own)
        campaign.link.strangerContext = try TLSContext(TLSConfiguration(role: .client, roots: trust.roots) { _ in nil })
    }
}

/// Prints findings as they come, and the sum of them.
struct ConformReport {
    let target: Endpoint
    let output: Output

    func show(_ rule: ConformRule, _ finding: ConformFinding) {
        guard !output.isJSON else {
            return output.json(
                "rule",
                [
                    "id": .string(rule.id), "section": .whole(rule.section), "result": .string(finding.word),
                    "level": rule.isMust ? "must" : "should", "detail": .text(finding.detail), "rule": .string(rule.text),
                ])
        }
        let result = finding.told(isMust: rule.isMust)
        let word = result + String(repeating: " ", count: 8 - result.count)
        let head = rule.id + String(repeating: " ", count: max(1, 24 - rule.id.count)) + "\(rule.section)  "
        let told = { (text: String) in head + output.fitted(text, behind: word.count + head.count) }
        switch finding {
        case .pass(let detail):
            output.line(output.paint(word, .green) + told(rule.text + (detail.map { " (\($0))" } ?? "")))
        case .fail(let detail):
            let why = "\(detail); see section \(rule.section) of docs/protocol.md" + (rule.isMust ? "" : "; a should, no must")
            let below = String(repeating: " ", count: word.count) + output.fitted(why, behind: word.count)
            output.line(output.paint(word, rule.isMust ? .red : .yellow) + told(rule.text) + "\n" + below)
        case .skipped(let reason):
            output.line(output.paint(word + told(reason), .dim))
        }
    }

    func finish(_ findings: [(rule: ConformRule, finding: ConformFinding)]) -> ExitStatus {
        let passed = findings.count { $0.finding.word == "pass" }
        let failed = findings.count { $0.finding.word == "fail" && $0.rule.isMust }
        let advice = findings.count { $0.finding.word == "fail" && !$0.rule.isMust }
        let skipped = findings.count - passed - failed - advice
        if output.isJSON {
            output.json(
                "summary", ["passed": .whole(passed), "failed": .whole(failed), "advice": .whole(advice), "skipped": .whole(skipped)])
        } else {
            let shoulds = advice > 0 ? ", \(counted(advice, "should")) missed" : ""
            output.line(
                "\(target): \(counted(passed, "rule holds", "rules hold")), \(counted(failed, "doesn't", "don't"))\(shoulds), "
                    + counted(skipped, "wasn't checked", "weren't checked"))
        }
        return failed == 0 ? .success : .negative
    }
}
