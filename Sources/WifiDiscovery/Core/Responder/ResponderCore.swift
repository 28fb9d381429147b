import SocketCore

/// One router's half of discovery: whether it answers a probe, when, and with what bytes (protocol.md, section 4).
///
/// ``ResponderGroup`` holds any number of these behind one socket; a single router is a group of one.
struct ResponderCore {
    /// What to do about a probe.
    enum Judgement: Equatable {
        case answer(after: Duration)
        /// The probe is for another router, or names this one as known.
        case notAsked
        case rateLimited
    }

    /// A hundred years in seconds: beyond it, counting on in nanoseconds would overflow.
    private static let longestUptime = 3_155_760_000

    private(set) var router: RouterDescription
    let startedAt: Instant
    var faults: ReplyFaults
    private var limiter = ReplyLimiter()
    private var rendered: [UInt8] = []
    /// Raised with each change of plan, so that older entries of the queue are recognised.
    var announcementPlan = 0
    var lastAnnounced: Instant?

    init(_ router: RouterDescription, faults: ReplyFaults, now: Instant) {
        self.router = router.withoutUptime
        self.faults = faults
        let uptime = min(max(router.uptime ?? 0, 0), ResponderCore.longestUptime)
        startedAt = Instant(nanoseconds: now.nanoseconds - Int64(uptime) * 1_000_000_000)
        render()
    }

    mutating func update(_ router: RouterDescription) {
        self.router = router.withoutUptime
        render()
    }

    /// Everything of a reply that stays, ready to be copied: a probe may have to be answered for a thousand routers.
    private mutating func render() { rendered = Array(JSONValue.object(router.members).encoded().dropFirst().dropLast()) }

    /// Whether to answer, and after which wait; `unit` is a random number in 0..<1.
    mutating func judge(_ probe: Probe, from source: IPAddress, random unit: Double, now: Instant) -> Judgement {
        if let wanted = probe.mac, wanted != router.mac { return .notAsked }
        if probe.known.contains(router.mac) { return .notAsked }
        guard limiter.admit(source, now: now) else { return .rateLimited }
        let isMine = probe.bssid.map(router.owns) ?? false
        let spread = Duration.milliseconds(probe.maxWaitMilliseconds).scaled(by: unit)
        return .answer(after: (isMine ? .zero : spread) + faults.delay)
    }

    mutating func left(_ source: IPAddress, now: Instant) { limiter.left(source, now: now) }
    mutating func dropped(_ source: IPAddress) { limiter.release(source) }

    /// The reply's bytes, at most `limit`; nil when even the required members don't fit.
    func reply(nonce: HexToken, msgId: UInt32, limit: Int, now: Instant) -> [UInt8]? {
        var body: [UInt8] = Array("{\"reply\":{\"nonce\":\"".utf8)
        body.reserveCapacity(rendered.count + 80)
        body.append(contentsOf: nonce.description.utf8)
        body.append(contentsOf: "\",".utf8)
        body.append(contentsOf: rendered)
        body.append(contentsOf: ",\"uptime\":".utf8)
        body.append(contentsOf: String(uptime(now)).utf8)
        body.append(contentsOf: "}}".utf8)
        if DiscoveryDatagram.headerByteCount + body.count <= limit { return DiscoveryDatagram.frame(msgId: msgId, body: body) }
        return ReplyEncoder.encode(router, msgId: msgId, nonce: nonce, limit: limit)
    }

    func announcement(now: Instant) -> [UInt8] {
        var told = router
        told.uptime = uptime(now)
        return DiscoveryDatagram(msgId: 0, .announce(told)).encoded()
    }

    private func uptime(_ now: Instant) -> Int { Int((now - startedAt).inNanoseconds / 1_000_000_000) }
}
