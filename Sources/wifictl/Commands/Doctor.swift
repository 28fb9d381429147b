import SocketCore
import WifiDiscovery

/// `doctor`: says why discovery may fail here, and what to try.
extension Command {
    private static let listening = DefaultedOption(
        "for", "TIME", ValueKind<Duration>.duration, default: .seconds(2), shown: "2s", "how long to listen for other people's devices")

    static let doctor = Command(
        name: "doctor", summary: "says why discovery may fail here",
        discussion: """
            Looks at interfaces, routes, the packet filter, who holds the discovery port, the Wi-Fi link and the neighbours, sends \
            a datagram to itself through each interface, and listens for devices of other makers. Exit status 1 means that a likely \
            cause was found. Needs no privileges; as root it sees the packet filter's rules as well.
            """, options: [listening],
        examples: [
            Example("wifictl doctor", "why does discover find nothing?"),
            Example("wifictl doctor --json | jq 'select(.verdict == \"cause\")'", "only what is wrong"),
        ]
    ) { arguments, context in
        var options = NetworkDoctor.Options()
        options.interfaces = context.interfaces
        options.listening = arguments[listening]
        if let port = context.port { options.port = port }
        if let group = try context.groupAddress() { options.group = group.unscoped }
        try require(options.interfaces)
        context.output.progress("looking at this machine and its network")
        let report = await NetworkDoctor.examine(options)
        context.output.clearProgress()
        if context.output.isJSON { DoctorReport.json(report, context.output) } else { DoctorReport.text(report, context.output) }
        return report.causes.isEmpty ? .success : .negative
    }

    /// Whatever else is wrong with an interface is what the doctor is asked for; that there is none of that name is a slip.
    private static func require(_ names: [String]) throws {
        let known = try NetworkInterfaces.current().map(\.name)
        try ScanOptions.naming {
            if let missing = names.first(where: { !known.contains($0) }) { throw DiscoveryError.noSuchInterface(missing, known: known) }
        }
    }
}

/// Shows what a doctor found.
enum DoctorReport {
    static func json(_ report: NetworkDoctor.Report, _ output: Output) {
        for finding in report.findings {
            output.json(
                "check",
                [
                    "check": .string(finding.check.rawValue), "subject": .text(finding.subject.isEmpty ? nil : finding.subject),
                    "verdict": .string(finding.verdict.rawValue), "detail": .string(finding.detail),
                    "advice": .text(finding.advice.isEmpty ? nil : finding.advice),
                ])
        }
        for interface in report.wireless.interfaces { wifi(interface, output) }
        for other in report.others {
            output.json(
                "device",
                [
                    "mac": .text(other.device.mac?.description), "name": .string(other.name), "address": .string("\(other.device.address)"),
                    "interface": .string(other.interface), "vendor": .string(other.device.vendor), "model": .string(other.device.model),
                    "firmware": .string(other.device.firmware),
                    "dialects": .array(other.device.dialects.map { .string($0.rawValue) }),
                    "grade": .string(other.grading.grade.rawValue),
                ])
        }
        output.json("summary", ["causes": .whole(report.causes.count), "verdict": .string(verdict(report))])
    }

    private static func wifi(_ interface: WirelessReport.Interface, _ output: Output) {
        let linked = interface.linked
        let reason: WirelessUnknown? = if case .failure(let reason) = interface.association { reason } else { nil }
        output.json(
            "wifi",
            [
                "interface": .string(interface.name), "station": .text(interface.station?.description),
                "bssids": .array((linked?.bssids ?? []).map { .string($0.description) }), "mld": .text(linked?.mld?.description),
                "ssid": .text(linked?.ssid?.description), "frequency": .whole(linked?.frequency),
                "signal": linked?.signal.map { .number($0) } ?? .null, "source": .text(linked?.source.rawValue),
                "reason": .text(reason?.word),
            ])
    }

    static func text(_ report: NetworkDoctor.Report, _ output: Output) {
        var table = Table([.init("CHECK"), .init(""), .init("VERDICT"), .init("WHAT WAS FOUND", least: 30, wraps: true)])
        for finding in report.findings {
            table.add([
                .init(finding.check.words), .init(finding.subject), .init(finding.verdict.rawValue, finding.verdict.paint),
                .init(finding.detail),
            ])
        }
        output.table(table)
        output.line("")
        output.line(output.paint(output.fitted(verdict(report), behind: 0), .bold))
        let advised = report.findings.filter { !$0.advice.isEmpty && ($0.verdict == .cause || report.causes.isEmpty) }
        for finding in advised {
            output.sentence("  \(finding.subject.isEmpty ? finding.check.words : finding.subject): \(finding.advice)", margin: 4)
        }
    }

    private static func verdict(_ report: NetworkDoctor.Report) -> String {
        switch report.causes.count {
        case 0: "Nothing here explains a failure."
        case 1: "A likely cause: \(report.causes[0].subject.isEmpty ? "" : report.causes[0].subject + ": ")\(report.causes[0].detail)."
        default: "\(report.causes.count) likely causes; the first: \(report.causes[0].detail)."
        }
    }
}

extension DoctorFinding.Check {
    fileprivate var words: String {
        switch self {
        case .selfProbe: "self-probe"
        case .wifi: "Wi-Fi"
        case .others: "other devices"
        default: rawValue
        }
    }
}

extension DoctorFinding.Verdict {
    fileprivate var paint: Paint? {
        switch self {
        case .fine: .green
        case .note: nil
        case .unknown: .dim
        case .cause: .red
        }
    }
}
