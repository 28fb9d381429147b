import SocketCore
import WifiDiscovery

extension DiscoverRow {
    /// What the `router` line says, without its type.
    var jsonMembers: [JSONValue.Member] {
        head + [
            .init("dialect", .text(dialects.first?.rawValue)), .init("dialects", .array(dialects.map { .string($0.rawValue) })),
            .init("grade", isGraded ? .string(grading.grade.rawValue) : .null),
            .init("rule", isGraded ? .string(grading.rule.rawValue) : .null), .init("distance", .whole(grading.distance)),
            .init(
                "evidence",
                .object([
                    .init("gateway", .bool(evidence.gateway)), .init("neighbour", .string(evidence.neighbour.rawValue)),
                    .init("onlyResponder", .bool(evidence.onlyResponder)),
                ])),
            .init("conflict", .bool(isConflicted)),
        ] + tail
    }

    private var head: [JSONValue.Member] {
        switch self {
        case .native(let router, _):
            return router.discovered.router.lineMembers(address: router.discovered.address.text(on: interface), interface: interface)
        case .foreign(let found):
            let device = found.device
            // null: the dialect has no such thing.
            return [
                .init("mac", .text(mac?.description)), .init("name", .string(name)), .init("address", .string(place)),
                .init("interface", .string(interface)), .init("tcp", .null), .init("tls", .null), .init("vendor", .string(device.vendor)),
                .init("model", .string(device.model)), .init("firmware", .string(device.firmware)), .init("boot", .null),
                .init("radios", .array(radios.map(\.json))), .init("mld", .array([])),
            ]
        }
    }

    private var tail: [JSONValue.Member] {
        switch self {
        case .native(let router, _):
            [
                .init("confirmed", .bool(router.discovered.isConfirmed)),
                .init("rttMs", router.discovered.roundTrip.map { .milliseconds($0) } ?? .null),
                .init("alternates", .array(router.discovered.alternates.map { .string($0.address.text) })),
            ]
        case .foreign(let found):
            [
                .init("confirmed", .null), .init("rttMs", .null),
                .init("alternates", .array(found.device.places.dropFirst().map { .string($0.address.text) })),
                .init("services", .array(found.device.services.map { .string($0) })),
            ]
        }
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

extension DiscoverFindings {
    /// What the `summary` line says, without its type.
    func jsonMembers(elapsed: Duration) -> [JSONValue.Member] {
        let counters = native.counters
        let reasons = counters.invalid.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key.rawValue, .whole($0.value)) }
        return [
            .init("routers", .whole(rows.count)),
            .init("dialects", .object(counts.map { JSONValue.Member($0.dialect.rawValue, .whole($0.rows)) })),
            .init("probes", .whole(counters.probes)), .init("replies", .whole(counters.replies)),
            .init("invalid", .whole(counters.invalidCount)), .init("invalidReasons", .object(reasons)),
            .init("stale", .whole(counters.stale)), .init("rateLimited", .whole(counters.rateLimited)),
            .init("displaced", .whole(counters.displaced)), .init("flood", DiscoverFindings.flood(counters.flood)),
            .init("duplicates", .whole(counters.duplicates)), .init("announcements", .whole(counters.announcements)),
            .init("byes", .whole(counters.byes)), .init("sendFailures", .whole(counters.sendFailures)),
            .init("ignored", .whole(ignored)), .init("interfaces", .array(native.interfaces.map { .string($0) })),
            .init("failedInterfaces", DiscoverFindings.reasons(native.failedInterfaces)),
            .init("dialectFailures", DiscoverFindings.reasons(dialectFailures)),
            .init("link", .array(native.link.sorted().map { .string("\($0)") })),
            .init("linkUnknown", .text(native.linkUnknown?.word)), .init("finish", .string(native.finish.word)),
            .init("ms", .milliseconds(elapsed)),
        ]
    }

    private static func flood(_ flood: Flood?) -> JSONValue {
        guard let flood else { return .null }
        return .object([
            .init("sources", .whole(flood.sources)), .init("loudest", .string("\(flood.loudest)")), .init("replies", .whole(flood.replies)),
        ])
    }

    private static func reasons(_ failures: [String: String]) -> JSONValue {
        .object(failures.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, .string($0.value)) })
    }
}
