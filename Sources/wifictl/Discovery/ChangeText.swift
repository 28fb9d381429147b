import SocketCore
import WifiDiscovery

/// What changed about a router, in words: what it was and what it is now. Scripts have the bare words beside all members.
enum ChangeText {
    /// A clause for each change; `before` nil where nothing was known of it.
    static func clauses(_ changes: DiscoveredRouter.Changes, _ before: FoundRouter?, _ now: FoundRouter) -> [String] {
        var clauses: [String] = []
        if changes.contains(.confirmed) { clauses.append("answers a probe now") }
        if changes.contains(.address) { clauses.append("is now at \(place(now))\(before.map { ", was at \(place($0))" } ?? "")") }
        if changes.contains(.rebooted) { clauses.append("has started anew") }
        if changes.contains(.description) { clauses.append(description(before, now)) }
        if changes.contains(.conflict) {
            clauses.append(
                now.discovered.isConflicted ? "another device shows its MAC too" : "no other device shows its MAC any more")
        }
        if changes.contains(.alternate) { clauses.append(places(before, now)) }
        return clauses
    }

    private static func place(_ router: FoundRouter) -> String {
        "\(router.discovered.address.text(on: router.interface)) on \(router.interface)"
    }

    private static func places(_ before: FoundRouter?, _ now: FoundRouter) -> String {
        let (was, nowAt) = (before?.discovered.alternates ?? [], now.discovered.alternates)
        let text = { (places: [DiscoveredRouter.Place]) in places.map(\.address.text).joined(separator: ", ") }
        let (came, went) = (nowAt.filter { !was.contains($0) }, was.filter { !nowAt.contains($0) && $0 != now.discovered.place })
        var clauses: [String] = []
        if !came.isEmpty { clauses.append("answers at \(text(came)) too") }
        if !went.isEmpty { clauses.append("answers at \(text(went)) no more") }
        if !clauses.isEmpty { return clauses.joined(separator: ", ") }
        let offers = Set(now.discovered.offers).subtracting(before?.discovered.offers ?? []).map { "TCP \($0.endpoint.port)" }.sorted()
        return offers.isEmpty
            ? "offers other listeners for sessions" : "sessions are offered in its name at \(offers.joined(separator: ", ")) too"
    }

    private static func description(_ before: FoundRouter?, _ now: FoundRouter) -> String {
        guard let was = before?.discovered.router else { return "says something else about itself" }
        let router = now.discovered.router
        let facts: [(String, String, String)] = [
            ("name", was.name, router.name), ("device", was.device, router.device), ("firmware", was.firmware, router.firmware),
            ("sessions", sessions(was), sessions(router)), ("radios", radios(was), radios(router)),
            ("children", children(was), children(router)),
        ]
        let changed = facts.filter { $0.1 != $0.2 }.map { "\($0.0) \(shown($0.2)), was \(shown($0.1))" }
        return changed.isEmpty ? "says something else about itself" : "says of itself: \(changed.joined(separator: "; "))"
    }

    private static func shown(_ text: String) -> String { text.isEmpty ? "not told" : DisplayWidth.printable(text) }
    private static func sessions(_ router: RouterDescription) -> String { "TCP \(router.tcp)\(router.tls ? " with TLS" : "")" }
    private static func radios(_ router: RouterDescription) -> String { router.radios.map { "\($0.bssid)" }.joined(separator: " ") }
    private static func children(_ router: RouterDescription) -> String { router.children.map { "\($0)" }.joined(separator: " ") }
}

extension DiscoveryEvent.Loss {
    /// Why a router is listed no more, for people.
    var clause: String {
        switch self {
        case .bye: "it said goodbye"
        case .expired: "it answers no more"
        case .interfaceGone: "its network is gone"
        case .evicted: "it made room for others that more speaks for"
        }
    }
}
