import FrameCodec
import SocketCore

/// A controller's scan for routers, over any number of interfaces at once (protocol.md, section 4). It decides; a shell
/// owns the sockets and the clock.
///
/// - **Inputs**: ``start(links:now:)`` first and once; then in any order ``add(_:now:)``, ``remove(_:now:)``,
///   ``received(_:from:interface:link:now:)``, ``sendFailed(_:reason:now:)``, ``interfaceFailed(_:reason:)``,
///   ``setLink(_:now:)``, ``setFacts(_:)``, ``advance(now:)``, ``stop(now:)``.
/// - **Outputs**, to be taken after every input: ``takeProbes()``, ``takeEvents()``; ``deadline`` says when the next
///   ``advance(now:)`` is due.
/// - **Queries**: ``routers``, ``counters``, ``failedInterfaces``, ``isFinished``.
///
/// `now` never goes back.
public struct DiscoveryCore: Sendable {
    /// While watching, a router that stays silent this long is lost: four rounds, two of them with probes to itself.
    static let expiry: Duration = .seconds(45)
    /// After this long without an answer a router is asked by unicast as well.
    static let silence: Duration = .seconds(15)
    /// A goodbye is believed when its router doesn't answer within this span.
    static let byeGrace: Duration = .seconds(1)
    /// How often a watch looks for routers that are gone.
    static let sweepInterval: Duration = .seconds(5)

    /// What was asked for.
    public let configuration: DiscoveryConfiguration
    /// What was counted.
    public internal(set) var counters = DiscoveryCounters()
    /// True once ``DiscoveryEvent/finished(_:)`` was given out.
    public internal(set) var isFinished = false

    var generator: any RandomNumberGenerator & Sendable
    var linkAddresses: Set<MACAddress>
    var links: [DiscoveryLink.ID: LinkState] = [:]
    var table = RouterTable()
    var facts = NetworkFacts()
    var probes: [OutgoingProbe] = []
    var events: [DiscoveryEvent] = []
    var brokenInterfaces: [String: String] = [:]
    var finishAt: Instant?
    var nextSweep: Instant = .distantFuture
    var budget = ReplyBudget()
    var followUps = FollowUpBudget()
    var contested = ContestedAddresses()
    var epoch = (number: 0, begun: Instant?.none)

    /// A scan. Nonces are drawn from `generator`: for real networks one that nobody can predict.
    public init(_ configuration: DiscoveryConfiguration, generator: some RandomNumberGenerator & Sendable) {
        self.configuration = configuration
        self.generator = generator
        linkAddresses = configuration.link
    }

    /// True while there is no end set.
    var isWatching: Bool { configuration.duration == nil }

    /// The routers known now, by MAC.
    public var routers: [DiscoveredRouter] { table.entries.values.map(\.shown).sorted { $0.router.mac < $1.router.mac } }

    /// The router with that MAC.
    public func router(_ mac: MACAddress) -> DiscoveredRouter? { table.entries[mac]?.shown }

    /// Interfaces that couldn't be used, with the reason: those that the shell reported, and those on which sending failed
    /// and nothing ever came.
    public var failedInterfaces: [String: String] {
        var failed = brokenInterfaces
        let byName = Dictionary(grouping: links.values) { $0.link.name }
        for (name, states) in byName where states.allSatisfy({ $0.failure != nil && !$0.worksInSpite }) {
            failed[name] = states.min { $0.link.id < $1.link.id }?.failure
        }
        return failed
    }

    /// When ``advance(now:)`` is due; nil when only an input can change anything.
    public var deadline: Instant? {
        guard !isFinished else { return nil }
        let rounds = links.values.map(\.nextRound).min() ?? .distantFuture
        let due = min(rounds, finishAt ?? .distantFuture, nextSweep, table.nextLeave ?? .distantFuture)
        return due == .distantFuture ? nil : due
    }

    /// Begins the scan; the first probes are there at once. Without any link a scan with an end is over at once.
    public mutating func start(links: [DiscoveryLink], now: Instant) {
        finishAt = configuration.duration.map { now + $0 }
        if isWatching { nextSweep = now + DiscoveryCore.sweepInterval }
        for link in links { open(link, now: now) }
        if self.links.isEmpty, !isWatching { return finish(.noInterface) }
        advance(now: now)
    }

    /// An interface came, or got another address: its probes begin anew.
    public mutating func add(_ link: DiscoveryLink, now: Instant) {
        guard !isFinished else { return }
        open(link, now: now)
        advance(now: now)
    }

    private mutating func open(_ link: DiscoveryLink, now: Instant) {
        guard links[link.id] != nil || links.count < DiscoveryBounds.links else {
            return brokenInterfaces[link.name] = "more than \(DiscoveryBounds.links) sockets"
        }
        brokenInterfaces[link.name] = nil
        links[link.id] = LinkState(link, now: now)
    }

    /// An interface is gone. While watching, routers that were reachable only by it are lost.
    public mutating func remove(_ id: DiscoveryLink.ID, now: Instant) {
        guard links.removeValue(forKey: id) != nil, isWatching, !isFinished else { return }
        let affected = table.entries.filter { $0.value.records.contains { $0.link == id } }
        for mac in affected.keys.sorted() {
            let (changes, isReachable) = table.change(mac) { $0.forget(id) } ?? ([], true)
            if !isReachable {
                lose(mac, .interfaceGone)
            } else if !changes.isEmpty {
                report(mac, changes)
            }
        }
    }

    /// An interface couldn't be used at all, and why: for the summary.
    public mutating func interfaceFailed(_ name: String, reason: String) {
        guard brokenInterfaces.count < DiscoveryBounds.links || brokenInterfaces[name] != nil else { return }
        brokenInterfaces[name] = reason
    }

    /// The Wi-Fi link is another one: everything is asked again, and grades are for the caller to make anew.
    public mutating func setLink(_ addresses: Set<MACAddress>, now: Instant) {
        guard !isFinished, addresses != linkAddresses else { return }
        linkAddresses = addresses
        regrade()
        for id in links.keys { links[id]?.restart(now: now) }
        if configuration.endsAtMatch, let match = routers.first(where: { $0.isConfirmed && matches($0) }) {
            return finish(.matched(match.router.mac))
        }
        advance(now: now)
    }

    /// What the system knows of the network around, read anew: it speaks for some of the replies.
    public mutating func setFacts(_ facts: NetworkFacts) { self.facts = facts }

    /// Does what is due.
    public mutating func advance(now: Instant) {
        guard !isFinished else { return }
        for id in links.keys.sorted() where links[id].map({ $0.nextRound <= now }) ?? false { probe(id, now: now) }
        if nextSweep <= now { sweep(now: now) }
        leave(now: now)
        if let finishAt, finishAt <= now { finish(.timeUp) }
    }

    /// Ends the scan.
    public mutating func stop(now: Instant) {
        if !isFinished { finish(.stopped) }
    }

    /// The probes to send, in order; each is given out once.
    public mutating func takeProbes() -> [OutgoingProbe] {
        defer { probes.removeAll(keepingCapacity: true) }
        return probes
    }

    /// What happened, in order; each event is given out once.
    public mutating func takeEvents() -> [DiscoveryEvent] {
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }

    mutating func finish(_ reason: DiscoveryEvent.Finish) {
        isFinished = true
        counters.flood = flood
        probes.removeAll()
        events.append(.finished(reason))
    }

    mutating func report(_ mac: MACAddress, _ changes: DiscoveredRouter.Changes) {
        guard let entry = table.entries[mac] else { return }
        events.append(.updated(entry.shown, changes))
    }

    mutating func lose(_ mac: MACAddress, _ reason: DiscoveryEvent.Loss) {
        guard let entry = table.remove(mac) else { return }
        events.append(.lost(entry.shown, reason))
    }
}
