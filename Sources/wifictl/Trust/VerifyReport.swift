import SocketCore
import WifiDiscovery

/// Shows what routers have proven, as a table or as JSON Lines.
struct VerifyReport {
    private let output: Output

    init(_ output: Output) { self.output = output }

    func show(_ rows: [(VerifyRun.Router, RouterVerifier.Finding)]) {
        guard !output.isJSON else {
            for (_, finding) in rows { output.json("verdict", VerifyReport.members(finding)) }
            return
        }
        guard !rows.isEmpty else { return }
        var table = Table([
            Table.Column("NAME", least: 8, goes: 3), Table.Column("MAC"), Table.Column("ADDRESS", goes: 2),
            Table.Column("VERDICT", least: 8, yields: 1),
            Table.Column("WHY", least: 24, wraps: true),
        ])
        for (router, finding) in rows {
            let verdict = finding.judgement.verdict
            table.add([
                Table.Cell(router.name), Table.Cell("\(router.subject.mac)"), Table.Cell(finding.place), VerifyReport.cell(verdict),
                Table.Cell(finding.judgement.detail + (finding.family.flatMap(VerifyReport.words) ?? "")),
            ])
        }
        output.table(table)
    }

    /// The verdict's word and reason, in its colour.
    static func cell(_ verdict: Verdict) -> Table.Cell {
        Table.Cell(verdict.name + (verdict.reason.map { " (\($0))" } ?? ""), paint(verdict), short: verdict.name)
    }

    static func paint(_ verdict: Verdict) -> Paint {
        switch verdict {
        case .company, .pinned: .green
        case .impostor, .foreign: .red
        case .vouched, .unproven: .yellow
        }
    }

    /// What a `verdict` line says.
    static func members(_ finding: RouterVerifier.Finding) -> [JSONValue.Member] {
        let judgement = finding.judgement
        return [
            .init("mac", .string("\(finding.subject.mac)")), .init("address", .string(finding.endpoint.address.text)),
            .init("tcp", .whole(finding.endpoint.port)), .init("verdict", .string(judgement.verdict.name)),
            .init("reason", .text(judgement.verdict.reason)), .init("detail", .string(judgement.detail)),
            .init("certificate", judgement.certificate.map(certificate) ?? .null),
        ] + (finding.family.map(family) ?? [])
    }

    /// What a proven router says of its children, for people.
    private static func words(_ family: RouterFamily) -> String? {
        let children = family.children.sorted().map { "\($0)" }.joined(separator: ", ")
        var words = children.isEmpty ? "" : "; its children: \(children)"
        if family.seesStation == true {
            words += "; sees this machine" + (family.via.map { " behind \(DisplayWidth.printable($0))" } ?? "")
        }
        return words.isEmpty ? nil : words
    }

    static func family(_ family: RouterFamily) -> [JSONValue.Member] {
        var members = [JSONValue.Member("children", .array(family.children.sorted().map { .string("\($0)") }))]
        if let sees = family.seesStation {
            members.append(.init("sees", .object([.init("station", .bool(sees)), .init("via", .text(family.via))])))
        }
        return members
    }

    static func certificate(_ facts: CertificateFacts) -> JSONValue {
        let names = facts.names()
        return .object([
            .init("serial", .string(facts.serial)),
            .init("mac", .text(names.deviceAddresses.count == 1 ? MACAddress(bits: names.deviceAddresses[0]).description : nil)),
            .init("bssids", .array(names.radioAddresses.map { .string(MACAddress(bits: $0).description) })),
            .init("notAfter", .string(facts.notAfter.description)), .init("issuer", .string(facts.issuer)),
        ])
    }

    private static func counts(_ findings: [RouterVerifier.Finding]) -> [(name: String, count: Int)] {
        ["company", "foreign", "impostor", "vouched", "pinned", "unproven"].map { name in
            (name, findings.count { $0.judgement.verdict.name == name })
        }
    }

    /// The `summary` line.
    func total(_ findings: [RouterVerifier.Finding], after span: Duration) {
        output.json(
            "summary",
            [.init("routers", .whole(findings.count))] + VerifyReport.counts(findings).map { .init($0.name, .whole($0.count)) }
                + [.init("ms", .milliseconds(span))])
    }

    func summarise(_ findings: [RouterVerifier.Finding], after span: Duration) {
        if output.isJSON { total(findings, after: span) }
        let counts = VerifyReport.counts(findings)
        guard !findings.isEmpty else { return output.remark("no router answered (wifictl doctor looks for the cause)") }
        output.remark(counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", "))
    }
}

extension RouterVerifier.Finding {
    /// Where it was asked, with the port where that isn't the standard one: a clone's reply may name another place.
    fileprivate var place: String {
        let (address, port) = (endpoint.address, endpoint.port)
        if port == DiscoveryDatagram.port { return address.text }
        return address.isV4 ? "\(address.text):\(port)" : "[\(address.text)]:\(port)"
    }
}
