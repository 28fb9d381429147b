import SocketCore

/// What a campaign has come to so far, and how it is told.
struct FuzzReport {
    private static let progressInterval = Duration.milliseconds(250)
    /// The first inputs of a process take longer than all others.
    private static let shortestSpan = Duration.milliseconds(10)

    let seed: UInt64
    let output: Output
    let started = SystemCalls.monotonicNow()
    /// Inputs judged.
    var runs: UInt64 = 0
    /// Different faults found: of several cases with one kind of fault in one drive the first is kept.
    private(set) var findings = 0
    /// Those of a device, in words; nil where the campaign is against our own decoder, whose findings say it all.
    private var faults: [String]?
    private var known: Set<String> = []
    private var shown = Instant.zero

    init(seed: UInt64, isOfDevice: Bool = false, output: Output) {
        self.seed = seed
        faults = isOfDevice ? [] : nil
        self.output = output
    }

    mutating func isNew(_ finding: Finding) -> Bool {
        known.insert("\(finding.disagreement.kind) \(finding.disagreement.drive)").inserted
    }

    /// Counts a device's fault, which is shown elsewhere.
    mutating func count(_ fault: String) {
        findings += 1
        faults?.append(fault)
    }

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
        var parts = ["\(grouped(runs)) inputs", rateText(elapsed), counted(findings, "finding"), "seed \(seed)"].compactMap { $0 }
        if let time { parts.append("\(max(.zero, time - elapsed).briefText) left") }
        if let wanted { parts.append("of \(grouped(wanted))") }
        output.progress("fuzz: " + parts.joined(separator: ", "))
    }

    func finish(_ now: Instant) {
        output.clearProgress()
        let elapsed = now - started
        if output.isJSON {
            let told: [JSONValue.Member] = faults.map { [.init("faults", .array($0.map { .string($0) }))] } ?? []
            let counts: [JSONValue.Member] = [
                .init("runs", .whole(runs)), .init("execsPerSecond", .whole(rate(elapsed))), .init("seed", .whole(seed)),
                .init("findings", .whole(findings)),
            ]
            return output.json("fuzz", counts + told)
        }
        let verdict =
            findings == 0 ? output.paint("clean", .green) : output.paint(counted(findings, "finding"), .red)
        let facts = ["\(grouped(runs)) inputs in \(elapsed.briefText)", rateText(elapsed), "seed \(seed)"].compactMap { $0 }
        output.line("\(verdict): \(facts.joined(separator: ", "))")
    }

    /// Inputs a second; nil over a span so short that it would mean nothing.
    private func rate(_ elapsed: Duration) -> UInt64? {
        guard elapsed >= FuzzReport.shortestSpan else { return nil }
        return UInt64(Double(runs) * 1_000 / elapsed.inMilliseconds)
    }

    private func rateText(_ elapsed: Duration) -> String? { rate(elapsed).map { "\(grouped($0)) a second" } }
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
