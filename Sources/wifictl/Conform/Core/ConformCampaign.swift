import SocketCore

/// Goes through the trials and keeps one finding a rule. Knows the router only through its link.
struct ConformCampaign<Link: ConformLink> {
    var link: Link
    var subject: ConformSubject
    /// Rules to ask; the others are left out of the report.
    let wanted: Set<ConformRule>
    private var bytes: ConformBytes
    private(set) var findings: [ConformRule: ConformFinding] = [:]

    init(link: Link, subject: ConformSubject, wanted: [ConformRule] = ConformRule.all, seed: UInt64) {
        self.link = link
        self.subject = subject
        self.wanted = Set(wanted)
        self.subject.wanted = self.wanted
        bytes = ConformBytes(layout: subject.layout, seed: seed)
    }

    /// What later trials need to know is asked even where its rules aren't wanted.
    private static var foundations: Set<ConformRule> { [.discoveryReply, .helloAnswer, .vocabularyCapabilities, .vocabularyGet] }

    /// The trials that are to be done.
    var trials: [ConformTrial] {
        ConformTrial.all.filter { trial in
            trial.rules.contains { wanted.contains($0) } || trial.rules.contains { Self.foundations.contains($0) }
        }
    }

    /// The rules of a trial that are wanted; a trial without any is done for what later ones need to know.
    func title(of trial: ConformTrial) -> String {
        let rules = trial.rules.filter(wanted.contains)
        return rules.isEmpty ? "learning what the router is" : rules.map(\.id).joined(separator: ", ")
    }

    /// Does one trial; gives the findings that are new and wanted, in the order of its rules; none when it was broken off.
    mutating func perform(_ trial: ConformTrial) -> [(rule: ConformRule, finding: ConformFinding)] {
        let found: [ConformFinding]
        if let reason = refusal(of: trial) {
            found = trial.rules.map { _ in .skipped(reason) }
        } else {
            let script = trial.script(subject, &bytes)
            let transcript = link.perform(script, subject)
            // Half a transcript proves nothing against the router.
            guard !link.isBrokenOff else { return [] }
            found = trial.judge(transcript, &subject)
        }
        return zip(trial.rules, found).compactMap { rule, finding in
            guard wanted.contains(rule) else { return nil }
            findings[rule] = finding
            return (rule, finding)
        }
    }

    private func refusal(of trial: ConformTrial) -> String? {
        for rule in trial.rules {
            switch rule.means {
            case .waited where !subject.isPatient: return "is about time, which passes while one waits; left out by --quick"
            case .onRequest(let option) where !subject.allowed.contains(option): return "changes the device: only with \(option)"
            default: continue
            }
        }
        return trial.obstacle(subject)
    }

    /// What only a person can find out, for the report's end.
    var unasked: [(rule: ConformRule, finding: ConformFinding)] {
        ConformRule.all.filter { wanted.contains($0) && findings[$0] == nil }.map {
            ($0, .skipped($0.means == .byHand ? "by hand: it can't be seen from here" : "not asked"))
        }
    }
}
