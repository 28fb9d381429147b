import SocketCore

/// When a scan of foreign dialects asks: three times close together, since datagrams get lost, and then now and then while
/// watching.
struct DialectRounds {
    /// From the start. The last one leaves a scan of three seconds the second over which SSDP spreads its answers.
    static let offsets: [Duration] = [.zero, .milliseconds(500), .milliseconds(1_500)]
    /// While watching; other people's devices are asked no more often than they announce themselves.
    static let period: Duration = .seconds(30)

    /// When to ask next.
    private(set) var next: Instant
    private let start: Instant
    private var asked = 0

    init(now: Instant) {
        start = now
        next = now
    }

    /// Whether it's time to ask; if so, the next time is set.
    mutating func isDue(now: Instant) -> Bool {
        guard now >= next else { return false }
        asked += 1
        next = asked < DialectRounds.offsets.count ? start + DialectRounds.offsets[asked] : now + DialectRounds.period
        return true
    }
}

/// Which descriptions of devices are fetched: each once, and no more than a LAN of real gateways needs, so that forged answers
/// don't make us knock at everybody's door.
struct DescriptionFetches {
    /// In all of a scan.
    static let most = 64
    /// From one host: a gateway may be announced in two versions and by two programs.
    static let mostPerHost = 4

    private var begun: Set<HTTPLocation> = []

    /// Whether to fetch; if so, it counts as begun.
    mutating func begins(_ location: HTTPLocation) -> Bool {
        guard begun.count < DescriptionFetches.most, !begun.contains(location),
            begun.count(where: { $0.endpoint.address == location.endpoint.address }) < DescriptionFetches.mostPerHost
        else { return false }
        begun.insert(location)
        return true
    }
}
