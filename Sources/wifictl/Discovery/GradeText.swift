import WifiDiscovery

/// Grades, evidence and the choice in words.
enum GradeText {
    /// The grade with the rule that gave it: `radio: same BSSID`, `family: 2 apart, a guess`.
    static func grade(_ router: FoundRouter) -> String {
        guard router.discovered.isConfirmed else { return "only announced" }
        let grading = router.grading
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

    private static func guess(_ grading: Grading) -> String { grading.isWeak ? "a weak guess" : "a guess" }

    /// What the system knows about the source.
    static func evidence(_ router: FoundRouter) -> String {
        var parts: [String] = []
        if router.discovered.isConflicted { parts.append("CONFLICT") }
        if router.evidence.gateway { parts.append("gateway") }
        switch router.evidence.neighbour {
        case .match: parts.append("MAC seen")
        case .mismatch: parts.append("another MAC seen")
        case .repeaterSuspected: parts.append("behind a repeater?")
        case .unknown: break
        }
        return parts.joined(separator: ", ")
    }

    static func paint(_ router: FoundRouter) -> Paint? {
        switch router.grade {
        case .exact, .radio: .green
        case .family: .yellow
        case .vendor, .none, .unknown: nil
        }
    }

    /// Which router is the one, and why, in a sentence.
    static func sentence(_ selection: Selection, _ result: ScanResult) -> String {
        let routers = result.routers
        guard let mac = selection.mac, let router = routers.first(where: { $0.mac == mac }) else { return noChoice(selection, result) }
        let name = "\(router.discovered.router.title) (\(mac))"
        let claims = routers.count { $0.grade == router.grade }
        let broken = selection.certainty == .probable && claims > 1
        switch selection.why {
        case .exact, .radio:
            let reason =
                selection.why == .exact ? "its MAC is your access point's address" : "your access point is \(radio(router, result))"
            guard broken else { return "\(name): \(reason)." }
            let support = router.evidence.neighbour == .match ? "the system sees its MAC" : "it is the gateway"
            return "\(name), probably: \(claims) routers claim your access point, and \(support)."
        case .family:
            return "\(name), probably: its addresses look like your access point's, and \(support(router))."
        case .gateway:
            let unknown = result.link.isEmpty ? "the access point isn't known" : "no router knows your access point"
            return "\(name), assumed: it is the gateway; \(unknown)."
        case .conflict, .none: return noChoice(selection, result)
        }
    }

    private static func radio(_ router: FoundRouter, _ result: ScanResult) -> String {
        guard let radio = router.discovered.router.radios.first(where: { result.link.contains($0.bssid) }) else { return "one of its own" }
        let band = radio.band.isEmpty ? "radio" : "\(radio.band) GHz radio"
        return "its \(band)\(radio.ssid.isEmpty ? "" : " \"\(DisplayWidth.printable(radio.ssid))\"")"
    }

    private static func support(_ router: FoundRouter) -> String {
        if router.evidence.gateway { return "it is the gateway" }
        return router.evidence.neighbour == .match ? "the system sees its MAC" : "nobody else answered"
    }

    private static func noChoice(_ selection: Selection, _ result: ScanResult) -> String {
        if selection.why == .conflict { return "No choice: several routers claim your access point, and nothing tells them apart." }
        if result.routers.isEmpty { return "No router answered." }
        if result.link.isEmpty {
            let reason = result.linkUnknown.map { ": \($0)" } ?? " (--bssid none)"
            return "No choice: no router is the gateway, and the access point isn't known\(reason)."
        }
        return "No choice: no router knows your access point \(result.link.sorted().map { "\($0)" }.joined(separator: ", ")), "
            + "and none is the gateway."
    }
}
