import SocketCore

/// What a campaign has come to so far, and how it is told.
struct FuzzReport {
    private static let progressInterval = Duration.milliseconds(250)

    let seed: UInt64
    let output: Output
    let started = SystemCalls.monotonicNow()
    /// Inputs judged.
    var runs: UInt64 = 0
    /// Different faults found: of several cases with one kind of fault in one drive the first is kept.
    private(set) var findings = 0
    private var known: Set<String> = []
    private var shown = Instant.zero

    init(seed: UInt64, output: Output) {
        self.seed = seed
        self.output = output
    }

    mutating func isNew(_ finding: Finding) -> Bool {
        known.insert("\(finding.disagreement.kind) \(finding.disagreement.drive)").inserted
    }

    /// Counts a finding that is shown elsewhere.
    mutating func count() { findings += 1 }

    mutating func show(_ finding: Finding, file: String) {
        findings += 1
        if output.isJSON { return output.json("finding", finding.members(file: file)) }
        let fuzzCase = finding.fuzzCase
        output.line(
            """
            \(output.paint("finding: \(finding.disagreement.kind.rawValue)", .red)) (\(finding.disagreement.drive.rawValue)) \
            \(finding.disagreement.detail)
              layout \(fuzzCase.layout), limit \(fuzzCase.limits.maximumBodyLength), versions \(fuzzCase.limits.versions.lowerBound) to \
            \(fuzzCase.limits.versions.upperBound), cut at \(fuzzCase.cuts)
              input \(fuzzCase.bytes.count) bytes: \(Hex.text(fuzzCase.bytes.prefix(256)))\(fuzzCase.bytes.count > 256 ? "..." : "")
              show it again: wifictl fuzz --replay \(file)
            """)
    }

    mutating func progress(_ now: Instant, of time: Duration?, _ wanted: UInt64?) {
        guard now - shown >= FuzzReport.progressInterval else { return }
        shown = now
        let elapsed = now - started
        var parts = ["\(grouped(runs)) inputs", "\(grouped(rate(elapsed))) a second", counted(findings, "finding"), "seed \(seed)"]
        if let time { parts.append("\(max(.zero, time - elapsed).briefText) left") }
        if let wanted { parts.append("of \(grouped(wanted))") }
        output.progress("fuzz: " + parts.joined(separator: ", "))
    }

    func finish(_ now: Instant) {
        output.clearProgress()
        let elapsed = now - started
        if output.isJSON {
            return output.json(
                "fuzz",
                ["runs": .whole(runs), "execsPerSecond": .whole(rate(elapsed)), "seed": .whole(seed), "findings": .whole(findings)])
        }
        let verdict =
            findings == 0 ? output.paint("clean", .green) : output.paint(counted(findings, "finding"), .red)
        output.line(
            "\(verdict): \(grouped(runs)) inputs in \(elapsed.briefText), \(grouped(rate(elapsed))) a second, seed \(seed)")
    }

    private func rate(_ elapsed: Duration) -> UInt64 {
        let milliseconds = max(1, elapsed.inMilliseconds)
        return UInt64(Double(runs) * 1_000 / milliseconds)
    }
}

/// A number with commas between thousands, for people.
func grouped(_ number: some BinaryInteger) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
        if index > 0, index % 3 == 0 { text.append(",") }
        text.append(digit)
    }
    return String(text.reversed())
}
