import SocketCore

/// One device as foreign dialects show it: what several of them say about it is one row.
public struct DialectDevice: Equatable, Sendable {
    /// IPv4, global, unique local and link-local IPv6 on two interfaces, like a router of the native dialect.
    static let maximumPlaces = 8
    /// One a port of a small switch; more hardware addresses don't help anybody to recognise it.
    static let maximumMACs = 8

    /// Where it answered, the first place first.
    public internal(set) var places: [DiscoveredRouter.Place]
    /// Hardware addresses that it named itself, the most trusted first.
    public internal(set) var claimedMACs: [MACAddress]
    /// The hardware address that the kernel knows for its first place; nil when it knows none.
    public internal(set) var neighbour: MACAddress?
    /// What it said last, by dialect.
    public internal(set) var descriptions: [Dialect: DeviceDescription]
    /// When it was last heard.
    public internal(set) var lastHeard: Instant

    /// In whose words the row is written where several say something: those who know their own devices best come first.
    private static let precedence: [Dialect] = [.ubnt, .mndp, .ssdp, .mdns]

    /// What identifies it: its own claim, else the kernel's neighbour entry; nil when neither is known.
    public var mac: MACAddress? { claimedMACs.first ?? neighbour }
    /// Addresses of its radios, where told.
    public var bssids: [MACAddress] { DialectDevice.precedence.flatMap { descriptions[$0]?.bssids ?? [] } }
    /// The dialects that it speaks, in the order of their declaration.
    public var dialects: [Dialect] { Dialect.allCases.filter { descriptions[$0] != nil } }
    /// Display name; empty when not told.
    public var name: String { text(\.name) }
    /// Manufacturer; empty when not told.
    public var vendor: String { text(\.vendor) }
    /// Model; empty when not told.
    public var model: String { text(\.model) }
    /// Firmware version; empty when not told.
    public var firmware: String { text(\.firmware) }
    /// What it offers, in all dialects.
    public var services: [String] { DialectDevice.precedence.flatMap { descriptions[$0]?.services ?? [] } }
    /// Seconds since its start, as it said when it was last heard; nil when not told.
    public var uptime: Int? { DialectDevice.precedence.lazy.compactMap { descriptions[$0]?.uptime }.first }
    /// Whether it says in some dialect that it is a router or access point. What only announces a web server isn't denied it: it may
    /// still be the gateway.
    public var isRouter: Bool { descriptions.values.contains(where: \.isRouter) }
    /// Its first place's address.
    public var address: IPAddress { places[0].address }

    /// Its relation to the Wi-Fi link (protocol.md, section 5); `unknown` when it has no hardware address.
    public func grading(link: some Collection<MACAddress>) -> Grading {
        guard let mac else { return Grading(.unknown, .noLink, distance: nil) }
        return Grading.of(RouterDescription(mac: mac, radios: bssids.map { RouterDescription.Radio(bssid: $0) }), link: link)
    }

    /// Whether it is the same device as a router of the native dialect: one place or one hardware address in common.
    public func isSame(as router: DiscoveredRouter) -> Bool {
        claimedMACs.contains(where: router.router.owns) || places.contains(router.place)
            || router.alternates.contains(where: places.contains)
    }

    private func text(_ field: KeyPath<DeviceDescription, String>) -> String {
        DialectDevice.precedence.lazy.compactMap { descriptions[$0]?[keyPath: field] }.first { !$0.isEmpty } ?? ""
    }

    /// Takes over what a second row for the same device knows.
    mutating func absorb(_ other: DialectDevice) {
        for place in other.places where !places.contains(place) && places.count < DialectDevice.maximumPlaces { places.append(place) }
        for mac in other.claimedMACs where !claimedMACs.contains(mac) && claimedMACs.count < DialectDevice.maximumMACs {
            claimedMACs.append(mac)
        }
        neighbour = neighbour ?? other.neighbour
        descriptions.merge(other.descriptions) { mine, theirs in lastHeard < other.lastHeard ? theirs : mine }
        lastHeard = max(lastHeard, other.lastHeard)
    }
}
