import FrameCodec
import SocketCore

/// Any number of routers behind one UDP socket: probe in, replies out (protocol.md, section 4). A probe is read once for all of
/// them.
///
/// - **Inputs**: ``setInterfaces(_:)``, ``moved(now:)``, ``add(_:faults:now:)``, ``update(_:now:)``, ``remove(_:now:)``,
///   ``received(_:from:interface:now:)``, ``advance(now:)``.
/// - **Outputs**: ``takeDatagrams()`` after every input; ``deadline`` says when the next ``advance(now:)`` is due.
///
/// `now` never goes back.
public struct ResponderGroup: Sendable {
    /// The time between two announcements of one router.
    public static let announcementInterval: Duration = .seconds(60)
    /// A router that changes all the time doesn't announce each change.
    static let shortestAnnouncementInterval: Duration = .seconds(1)
    /// Announcements of many routers that start together are spread over this much a router, and over 2 s at most.
    static let startSpread: Duration = .milliseconds(2)
    /// Replies that wait for their time, over all routers: some 12 MB.
    static let maximumWaiting = 131_072

    private enum Due: Sendable {
        case reply(Reply)
        case announcement(MACAddress, plan: Int)
    }

    private struct Reply: Sendable {
        var router: MACAddress
        var source: Endpoint
        var interface: UInt32
        var nonce: HexToken
        var msgId: UInt32
        var limit: Int
    }

    /// What was asked for.
    public let configuration: ResponderConfiguration
    /// What was counted.
    public private(set) var counters = ResponderCounters()

    private var generator: any RandomNumberGenerator & Sendable
    private var cores: [ResponderCore] = []
    private var slots: [MACAddress: Int] = [:]
    private var interfaces: [UInt32: NetworkInterface] = [:]
    private var seen = ProbeMemory()
    private var queue = DueQueue<Due>()
    private var outgoing: [OutgoingReply] = []

    /// An empty group.
    public init(_ configuration: ResponderConfiguration = ResponderConfiguration(), generator: some RandomNumberGenerator & Sendable) {
        self.configuration = configuration
        self.generator = generator
    }

    /// The routers, in the order in which they were added.
    public var routers: [RouterDescription] { cores.map(\.router) }
    /// When ``advance(now:)`` is due.
    public var deadline: Instant? { queue.nextDue }

    /// The interfaces that probes may come in by, for the on-link rule.
    public mutating func setInterfaces(_ list: [NetworkInterface]) {
        interfaces = Dictionary(list.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The routers are at another address, or on one more interface: all announce themselves.
    public mutating func moved(now: Instant) {
        for core in cores {
            let earliest = core.lastAnnounced.map { $0 + ResponderGroup.shortestAnnouncementInterval } ?? now
            planAnnouncement(core.router.mac, at: max(now, earliest) + spread.scaled(by: unit()))
        }
        advance(now: now)
    }

    /// Over how long announcements that are due together are spread.
    private var spread: Duration { cores.count == 1 ? .zero : min(ResponderGroup.startSpread * cores.count, .seconds(2)) }

    /// A router starts; its MAC must be new to the group, else it replaces the one that had it.
    public mutating func add(_ router: RouterDescription, faults: ReplyFaults = ReplyFaults(), now: Instant) {
        let core = ResponderCore(router, faults: faults, now: now)
        if let slot = slots[router.mac] {
            cores[slot] = core
        } else {
            slots[router.mac] = cores.count
            cores.append(core)
        }
        planAnnouncement(router.mac, at: now + spread.scaled(by: unit()))
        advance(now: now)
    }

    /// A router says something else about itself from now on, and announces it. Unknown MACs are ignored.
    public mutating func update(_ router: RouterDescription, now: Instant) {
        guard let slot = slots[router.mac], cores[slot].router != router.withoutUptime else { return }
        cores[slot].update(router)
        let earliest = cores[slot].lastAnnounced.map { $0 + ResponderGroup.shortestAnnouncementInterval } ?? now
        planAnnouncement(router.mac, at: max(now, earliest))
        advance(now: now)
    }

    /// A router shuts down, with a goodbye to the group.
    public mutating func remove(_ mac: MACAddress, now: Instant) {
        guard let slot = slots.removeValue(forKey: mac) else { return }
        let core = cores.remove(at: slot)
        for (other, index) in slots where index > slot { slots[other] = index - 1 }
        guard configuration.announces else { return }
        let bytes = DiscoveryDatagram(msgId: 0, .bye(mac: mac, boot: core.router.boot)).encoded()
        outgoing.append(OutgoingReply(router: mac, destination: .group, bytes: bytes))
    }

    /// Takes one datagram from `source`, that arrived by `interface` (0: not known).
    @discardableResult
    public mutating func received(_ datagram: RawSpan, from source: Endpoint, interface: UInt32, now: Instant) -> ProbeOutcome {
        let parsed: DiscoveryDatagram
        do throws(DatagramError) { parsed = try DiscoveryDatagram.parse(datagram) } catch {
            counters.invalid[error.reason, default: 0] += 1
            return .invalid(error)
        }
        guard case .probe(let probe) = parsed.message else { return .notAProbe }
        guard source.port != 0, isOnLink(source.address, interface) else {
            counters.offLink += 1
            return .offLink
        }
        guard seen.insert(ProbeMemory.Key(source: source, nonce: probe.nonce), now: now) else {
            counters.repeated += 1
            return .repeated
        }
        counters.probes += 1
        let reply = Reply(
            router: .zero, source: source, interface: interface, nonce: probe.nonce, msgId: parsed.msgId,
            limit: ReplyEncoder.limit(forProbeOf: datagram.byteCount))
        let answers = schedule(reply, probe, now: now)
        advance(now: now)
        return answers > 0 ? .answered(by: answers, probe, msgId: parsed.msgId) : .silent(probe, msgId: parsed.msgId)
    }

    /// A datagram came that was longer than ``DiscoveryDatagram/maximumByteCount`` and wasn't read.
    public mutating func receivedOversize() { counters.invalid[.tooLong, default: 0] += 1 }

    private func isOnLink(_ source: IPAddress, _ interface: UInt32) -> Bool {
        guard configuration.onlyOnLink else { return !source.isMulticast && !source.isUnspecified }
        // A controller on this very machine: the system lets nobody else use these, and hands its datagrams in by loopback.
        if interfaces.values.contains(where: { $0.addresses.contains { $0.address.unscoped == source.unscoped } }) { return true }
        if interface == 0 { return interfaces.values.contains { $0.isOnLink(source) } }
        return interfaces[interface]?.isOnLink(source) ?? false
    }

    private mutating func schedule(_ template: Reply, _ probe: Probe, now: Instant) -> Int {
        let asked = probe.mac.map { mac in slots[mac].map { $0..<$0 + 1 } ?? 0..<0 } ?? cores.indices
        var answers = 0
        for slot in asked {
            guard queue.count < ResponderGroup.maximumWaiting else {
                counters.rateLimited += 1
                continue
            }
            switch judge(slot, probe, template, now: now) {
            case .answer(let wait):
                var reply = template
                reply.router = cores[slot].router.mac
                queue.insert(.reply(reply), due: now + wait)
                answers += 1
            case .rateLimited: counters.rateLimited += 1
            case .notAsked: break
            }
        }
        return answers
    }

    private mutating func judge(_ slot: Int, _ probe: Probe, _ template: Reply, now: Instant) -> ResponderCore.Judgement {
        // Drawn even where it isn't needed, so that who is silent doesn't change what the others draw.
        let draw = unit()
        return cores[slot].judge(probe, from: template.source.address, random: draw, now: now)
    }

    /// Does what is due.
    public mutating func advance(now: Instant) {
        while let due = queue.pop(now: now) {
            switch due {
            case .reply(let reply): send(reply, now: now)
            case .announcement(let mac, let plan): announce(mac, plan: plan, now: now)
            }
        }
    }

    /// The datagrams to send, in order; each is given out once.
    public mutating func takeDatagrams() -> [OutgoingReply] {
        defer { outgoing.removeAll(keepingCapacity: true) }
        return outgoing
    }

    private mutating func send(_ reply: Reply, now: Instant) {
        guard let slot = slots[reply.router] else { return }
        let faults = cores[slot].faults
        if faults.loss > 0, unit() < faults.loss {
            counters.lost += 1
            return cores[slot].dropped(reply.source.address)
        }
        let nonce = faults.wrongNonce ? HexToken(~reply.nonce.value) : reply.nonce
        guard let bytes = cores[slot].reply(nonce: nonce, msgId: reply.msgId, limit: reply.limit, now: now) else {
            counters.unanswerable += 1
            return cores[slot].dropped(reply.source.address)
        }
        cores[slot].left(reply.source.address, now: now)
        let destination = configuration.repliesToGroup ? .group : OutgoingReply.Destination.source(reply.source, interface: reply.interface)
        for _ in 0..<(faults.duplicates ? 2 : 1) {
            outgoing.append(OutgoingReply(router: reply.router, destination: destination, bytes: bytes))
            counters.replies += 1
        }
    }

    private mutating func planAnnouncement(_ mac: MACAddress, at due: Instant) {
        guard configuration.announces, let slot = slots[mac] else { return }
        cores[slot].announcementPlan += 1
        queue.insert(.announcement(mac, plan: cores[slot].announcementPlan), due: due)
    }

    private mutating func announce(_ mac: MACAddress, plan: Int, now: Instant) {
        guard let slot = slots[mac], cores[slot].announcementPlan == plan else { return }
        cores[slot].lastAnnounced = now
        outgoing.append(OutgoingReply(router: mac, destination: .group, bytes: cores[slot].announcement(now: now)))
        counters.announcements += 1
        planAnnouncement(mac, at: now + ResponderGroup.announcementInterval)
    }

    private mutating func unit() -> Double { Double(generator.next() >> 11) * 0x1p-53 }
}
