import WifiDiscovery

/// Grades, evidence and the choice in words.
enum GradeText {
    /// The grade with the rule that gave it: `radio: same BSSID`, `family: 2 apart, a guess`.
    static func grade(_ row: DiscoverRow) -> String {
        guard row.isGraded else { return "only announced" }
        let grading = row.grading
        let apart = grading.distance.map { "\($0) apart" } ?? "near"
        return switch grading.rule {
        case .sameMAC: "exact: same MAC"
        case .sameBSSID: "radio: same BSSID"
        case .sameMLD: "radio: same MLD address"
        case .localBit: "family: a virtual twin, a guess"
        case .nearby: "family: \(apart), \(guess(grading))"
        case .localBitNearby: "family: a virtual address \(apart), \(guess(grading))"
        case .bandOctet: "family: another band's pattern, a guess"
        case .sameOUI: "vendor: same maker"
        case .unrelated: "none"
        case .noLink: "unknown"
        }
    }

    /// The grade alone.
    static func word(_ row: DiscoverRow) -> String { row.isGraded ? row.grading.grade.rawValue : "announced" }

    private static func guess(_ grading: Grading) -> String { grading.isWeak ? "a weak guess" : "a guess" }

    /// What the system knows about the source.
    static func evidence(_ row: DiscoverRow) -> String {
        var parts: [String] = []
        if row.isConflicted { parts.append("CONFLICT") }
        if row.evidence.gateway { parts.append("gateway") }
        switch row.evidence.neighbour {
        case .match: parts.append("MAC seen")
        case .mismatch: parts.append("another MAC seen")
        case .repeaterSuspected: parts.append("behind a repeater?")
        case .unknown: break
        }
        return parts.joined(separator: ", ")
    }

    static func paint(_ row: DiscoverRow) -> Paint? {
        switch row.grading.grade {
        case .exact, .radio: .green
        case .family: .yellow
        case .vendor, .none, .unknown: nil
        }
    }

    /// Which router is the one, and why, in a sentence.
    static func sentence(_ findings: DiscoverFindings) -> String {
        let (rows, selection, link) = (findings.rows, findings.selection, findings.native.link)
        guard let mac = selection.mac, let row = rows.first(where: { $0.mac == mac }) else { return noChoice(findings) }
        let name = row.name.isEmpty ? "\(mac)" : "\(row.name) (\(mac))"
        let claims = rows.count { $0.grading.grade == row.grading.grade }
        let broken = selection.certainty == .probable && claims > 1
        switch selection.why {
        case .exact, .radio:
            let reason = selection.why == .exact ? "its MAC is your access point's address" : "your access point is \(radio(row, link))"
            guard broken else { return "\(name): \(reason)." }
            let support = row.evidence.neighbour == .match ? "the system sees its MAC" : "it is the gateway"
            return "\(name), probably: \(claims) routers claim your access point, and \(support)."
        case .family:
            return "\(name), probably: its addresses look like your access point's, and \(support(row))."
        case .station:
            return "\(name): it has said in a session that it serves this station."
        case .gateway:
            let unknown = link.isEmpty ? "the access point isn't known" : "no router knows your access point"
            guard let via = findings.verdicts?.findings[mac]?.family?.stationsChild else {
                return "\(name), assumed: it is the gateway; \(unknown)."
            }
            return "\(name): it is the gateway, and says over its proven connection that this machine sits behind its child \(via)."
        case .conflict, .none: return noChoice(findings)
        }
    }

    private static func radio(_ row: DiscoverRow, _ link: Set<MACAddress>) -> String {
        guard let radio = row.radios.first(where: { link.contains($0.bssid) }) else { return "one of its own" }
        let band = radio.band.isEmpty ? "radio" : "\(radio.band) GHz radio"
        return "its \(band)\(radio.ssid.isEmpty ? "" : " \"\(DisplayWidth.printable(radio.ssid))\"")"
    }

    private static func support(_ row: DiscoverRow) -> String {
        if row.evidence.gateway { return "it is the gateway" }
        return row.evidence.neighbour == .match ? "the system sees its MAC" : "nobody else answered"
    }

    private static func noChoice(_ findings: DiscoverFindings) -> String {
        let native = findings.native
        if findings.selection.why == .conflict {
            return "No choice: several routers claim your access point, and nothing tells them apart."
        }
        if findings.rows.isEmpty { return "No router answered." }
        if findings.lacksProof {
            return "No choice: a company root is configured, and discover --watch asks nobody for proof (wifictl verify and watch do)."
        }
        if let verdicts = findings.verdicts, verdicts.hasRoot, !findings.rows.contains(where: verdicts.admit) {
            return "No choice: none of them is proven to be the company's."
        }
        if native.link.isEmpty {
            let reason = native.linkUnknown.map { ": \($0)" } ?? " (--bssid none)"
            return "No choice: no router is the gateway, and the access point isn't known\(reason)."
        }
        let whose = findings.verdicts?.hasRoot == true ? "no router that is proven to be the company's" : "no router"
        return "No choice: \(whose) knows your access point \(native.link.sorted().map { "\($0)" }.joined(separator: ", ")), "
            + "and none is the gateway."
    }
}
