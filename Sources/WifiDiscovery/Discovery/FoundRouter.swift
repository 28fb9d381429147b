import SocketCore

/// A router that a scan found, graded against the Wi-Fi link and with what the system knows about it.
public struct FoundRouter: Equatable, Sendable {
    /// What the scan knows.
    public var discovered: DiscoveredRouter
    /// Its relation to the Wi-Fi link (protocol.md, section 5).
    public var grading: Grading
    /// What the system knows about its source.
    public var evidence: Evidence
    /// The name of the interface that it answered by.
    public var interface: String

    /// A found router.
    public init(discovered: DiscoveredRouter, grading: Grading, evidence: Evidence, interface: String) {
        self.discovered = discovered
        self.grading = grading
        self.evidence = evidence
        self.interface = interface
    }

    /// Its identity.
    public var mac: MACAddress { discovered.router.mac }
    /// The name for people; its MAC when it has none.
    public var name: String { discovered.router.name.isEmpty ? "\(mac)" : discovered.router.name }
    /// The grade alone.
    public var grade: LinkGrade { grading.grade }
    /// Where its sessions are opened.
    public var endpoint: Endpoint { discovered.sessionEndpoint }

    /// The same at the place where it has proven whose it is: see ``DiscoveredRouter/proven(at:)``.
    public func proven(at endpoint: Endpoint) -> FoundRouter {
        var own = self
        own.discovered = discovered.proven(at: endpoint)
        return own
    }
}

/// What a scan tells while it runs.
public enum ScanEvent: Sendable {
    /// A router that wasn't known.
    case found(FoundRouter)
    /// Something about a known router changed.
    case updated(FoundRouter, DiscoveredRouter.Changes)
    /// A router is gone; only while watching.
    case lost(FoundRouter, DiscoveryEvent.Loss)
    /// The link that routers are graded against, when a watch begins and whenever it changes: all known routers, graded anew.
    case graded([FoundRouter], link: Set<MACAddress>, unknown: WirelessUnknown?)
    /// Nothing comes after it.
    case finished(ScanResult)
}

/// What a scan came to.
public struct ScanResult: Sendable {
    /// All routers, by MAC.
    public var routers: [FoundRouter]
    /// Which one the user is connected to, as far as it can be told.
    public var selection: Selection
    /// Why the scan ended.
    public var finish: DiscoveryEvent.Finish
    /// What was counted, what was dropped among it.
    public var counters: DiscoveryCounters
    /// Interfaces that couldn't be used, with the reason.
    public var failedInterfaces: [String: String]
    /// The interfaces that were scanned, by name.
    public var interfaces: [String]
    /// The link that routers were graded against; empty when unknown.
    public var link: Set<MACAddress>
    /// Why the kernel didn't tell the link; nil when it did or wasn't asked.
    public var linkUnknown: WirelessUnknown?

    /// A result.
    public init(
        routers: [FoundRouter], selection: Selection, finish: DiscoveryEvent.Finish, counters: DiscoveryCounters = DiscoveryCounters(),
        failedInterfaces: [String: String] = [:], interfaces: [String] = [], link: Set<MACAddress> = [],
        linkUnknown: WirelessUnknown? = nil
    ) {
        self.routers = routers
        self.selection = selection
        self.finish = finish
        self.counters = counters
        self.failedInterfaces = failedInterfaces
        self.interfaces = interfaces
        self.link = link
        self.linkUnknown = linkUnknown
    }
}
