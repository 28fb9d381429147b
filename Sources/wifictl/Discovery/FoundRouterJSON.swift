import SocketCore
import WifiDiscovery

extension FoundRouter {
    /// What the `router` line says, without its type.
    var jsonMembers: [JSONValue.Member] {
        discovered.router.lineMembers(address: discovered.address.text(on: interface), interface: interface) + [
            .init("dialect", "native"),
            // A router that was only announced gave no reply that could be graded.
            .init("grade", discovered.isConfirmed ? .string(grade.rawValue) : .null),
            .init("rule", discovered.isConfirmed ? .string(grading.rule.rawValue) : .null),
            .init("distance", .whole(grading.distance)),
            .init(
                "evidence",
                .object([
                    .init("gateway", .bool(evidence.gateway)), .init("neighbour", .string(evidence.neighbour.rawValue)),
                    .init("onlyResponder", .bool(evidence.onlyResponder)),
                ])),
            .init("conflict", .bool(discovered.isConflicted)),
            .init("confirmed", .bool(discovered.isConfirmed)),
            .init("rttMs", discovered.roundTrip.map { .milliseconds($0) } ?? .null),
            .init("alternates", .array(discovered.alternates.map { .string($0.address.text) })),
        ]
    }
}

extension RouterDescription {
    /// The members that every `router` line has, whatever the command.
    func lineMembers(address: String, interface: String) -> [JSONValue.Member] {
        [
            .init("mac", .string("\(mac)")), .init("name", .string(name)), .init("address", .string(address)),
            .init("interface", .string(interface)), .init("tcp", .whole(tcp)), .init("tls", .bool(tls)),
            .init("vendor", .string(vendor)), .init("model", .string(model)), .init("firmware", .string(firmware)),
            .init("boot", .text(boot?.description)), .init("radios", .array(radios.map(\.json))),
            .init("mld", .array(mld.map { .string("\($0)") })),
        ]
    }

    /// Its name, or its MAC when it has none.
    var title: String { name.isEmpty ? "\(mac)" : name }

    /// Manufacturer and model, as far as told.
    var device: String { [vendor, model].filter { !$0.isEmpty }.joined(separator: " ") }
}

extension Selection {
    /// What the `selected` line says, without its type.
    func jsonMembers(_ sentence: String) -> [JSONValue.Member] {
        [
            .init("mac", .text(mac?.description)), .init("why", .string(why.rawValue)), .init("certainty", .string(certainty.rawValue)),
            .init("detail", .string(sentence)),
        ]
    }
}

extension DiscoveryEvent.Finish {
    /// A word for scripts.
    var word: String {
        switch self {
        case .timeUp: "timeUp"
        case .matched: "matched"
        case .stopped: "stopped"
        case .noInterface: "noInterface"
        }
    }
}

extension ScanResult {
    /// What the `summary` line says, without its type.
    func jsonMembers(elapsed: Duration) -> [JSONValue.Member] {
        let reasons = counters.invalid.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key.rawValue, .whole($0.value)) }
        return [
            .init("routers", .whole(routers.count)), .init("probes", .whole(counters.probes)), .init("replies", .whole(counters.replies)),
            .init("invalid", .whole(counters.invalidCount)), .init("invalidReasons", .object(reasons)),
            .init("stale", .whole(counters.stale)), .init("rateLimited", .whole(counters.rateLimited)),
            .init("duplicates", .whole(counters.duplicates)), .init("announcements", .whole(counters.announcements)),
            .init("byes", .whole(counters.byes)), .init("sendFailures", .whole(counters.sendFailures)),
            .init("interfaces", .array(interfaces.map { .string($0) })),
            .init(
                "failedInterfaces",
                .object(failedInterfaces.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) })),
            .init("link", .array(link.sorted().map { .string("\($0)") })), .init("linkUnknown", .text(linkUnknown?.word)),
            .init("finish", .string(finish.word)), .init("ms", .milliseconds(elapsed)),
        ]
    }
}
