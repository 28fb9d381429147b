import FrameCodec
import SocketCore

extension DiscoveryCore {
    /// Takes one datagram.
    ///
    /// `source` is where it came from, IPv6 with the scope that the system gave; `interface` the index of the interface that
    /// it arrived by (0: not known); `link` the socket, or nil for one that only listens to the group. Nothing that comes in can end a scan.
    public mutating func received(_ datagram: RawSpan, from source: Endpoint, interface: UInt32, link: DiscoveryLink.ID?, now: Instant) {
        guard !isFinished else { return }
        let parsed: DiscoveryDatagram
        do throws(DatagramError) { parsed = try DiscoveryDatagram.parse(datagram) } catch { return refuse(error) }
        let place = place(source.address, interface: interface, link: link)
        switch parsed.message {
        case .reply(let nonce, let router):
            guard let link, let asked = links[link]?.nonces.find(nonce, msgId: parsed.msgId, now: now) else {
                return counters.stale += 1
            }
            // What answers a question that nobody else has heard isn't drowned by a flood in its name.
            let isDirect = links[link]?.nonces.takeDirectAnswer(nonce, from: source.address) ?? false
            let isExpected = isExpected(router.mac, at: place)
            guard isDirect || budget.take(from: source.address.unscoped, isExpected: isExpected, now: now, renews: isWatching) else {
                return refused(at: place, now: now)
            }
            answered(router, at: place, link: link, asked: asked, isDirect: isDirect, now: now)
            if table.entries[router.mac]?.isContested(at: place) == true { askDirectly(place, now: now) }
        case .announce(let router):
            counters.announcements += 1
            announced(router, at: place, now: now)
        case .bye(let mac, let boot):
            counters.byes += 1
            saidBye(mac, boot: boot, at: place, now: now)
        case .probe:
            // Another controller's, heard where the group is listened to; at a socket of our own it is misplaced.
            if link != nil { refuse(.unexpectedMessage) }
        }
    }

    private func place(_ address: IPAddress, interface: UInt32, link: DiscoveryLink.ID?) -> DiscoveredRouter.Place {
        if interface != 0 { return DiscoveredRouter.Place(address.scoped(to: interface), interface: interface) }
        // The system didn't say, so the socket's own interface is the best that is known; a scope that came along stays.
        return DiscoveredRouter.Place(address, interface: link.flatMap { links[$0]?.link.interface } ?? 0)
    }

    /// A datagram came that was longer than ``DiscoveryDatagram/maximumByteCount`` and wasn't read.
    public mutating func receivedOversize() { refuse(.tooLong(byteCount: DiscoveryDatagram.maximumByteCount + 1)) }

    /// The system refused to send a probe, and why. The scan goes on by the link's other ways.
    public mutating func sendFailed(_ probe: OutgoingProbe, reason: String, now: Instant) {
        counters.sendFailures += 1
        guard !isFinished else { return }
        links[probe.link]?.sendFailed(reason: reason, toGroup: probe.destination.address.isMulticast, now: now)
    }

    private mutating func refuse(_ error: DatagramError) { counters.invalid[error.reason, default: 0] += 1 }

    private mutating func answered(
        _ router: RouterDescription, at place: DiscoveredRouter.Place, link: DiscoveryLink.ID, asked: NonceBook.Asked, isDirect: Bool,
        now: Instant
    ) {
        if let wanted = configuration.mac, wanted != router.mac { return counters.stale += 1 }
        let mac = router.mac
        let claim = ClaimLedger.Claim(mac: mac, source: place.address.unscoped)
        let level = level(of: router, claim, at: place, isDirect: isDirect)
        guard makeRoom(for: claim, level) else { return refused(at: place, now: now) }
        let isNew = table.entries[mac] == nil
        let isNewHere = table.entries[mac].map { entry in !entry.records.contains { $0.link == link } } ?? true
        table.put(claim, level, reserved: reserved(place), entry: RouterEntry(announced: router, at: place, now: now))
        let answered = table.change(mac) {
            $0.answered(router, at: place, link: link, asked: asked, isVerified: level == .verified, isDirect: isDirect, now: now)
        }
        guard let outcome = answered else { return }
        guard case .news(let changes) = outcome, let shown = table.entries[mac]?.shown else { return counters.duplicates += 1 }
        counters.replies += 1
        links[link]?.heard(asked, isNew: isNewHere, now: now)
        if changes.contains(.confirmed) { table.confirmed(mac) }
        if isNew {
            events.append(.found(shown))
        } else if !changes.isEmpty {
            events.append(.updated(shown, changes))
        }
        if configuration.endsAtMatch, matches(shown) { finish(.matched(mac)) }
    }

    /// Whether this router is what the caller waits for.
    func matches(_ router: DiscoveredRouter) -> Bool {
        if let wanted = configuration.mac { return wanted == router.router.mac }
        return Grading.of(router.router, link: linkAddresses).grade <= .radio
    }

    /// A hint: listed as unconfirmed, and asked.
    private mutating func announced(_ router: RouterDescription, at place: DiscoveredRouter.Place, now: Instant) {
        if let wanted = configuration.mac, wanted != router.mac { return }
        guard let entry = table.entries[router.mac] else {
            guard table.hasRoomForAnnounced(from: place.address) else { return counters.rateLimited += 1 }
            let new = RouterEntry(announced: router, at: place, now: now)
            table.insert(announced: new, from: place.address)
            events.append(.found(new.shown))
            return followUp(router.mac, at: place, now: now)
        }
        let isNews = entry.shown.router.withoutUptime != router.withoutUptime || entry.shown.place != place
        let changes = table.change(router.mac) { $0.announced(router, at: place, now: now) } ?? []
        if !changes.isEmpty { report(router.mac, changes) }
        if isNews || !entry.shown.isConfirmed { followUp(router.mac, at: place, now: now) }
    }

    /// A hint as well: whoever it names is asked, and gone when it doesn't answer. A goodbye of an earlier boot is old news.
    private mutating func saidBye(_ mac: MACAddress, boot: HexToken?, at place: DiscoveredRouter.Place, now: Instant) {
        guard isWatching, let entry = table.entries[mac], entry.leavesAt == nil else { return }
        if let boot, let known = entry.shown.router.boot, boot != known { return }
        table.markLeaving(mac, at: now + DiscoveryCore.byeGrace)
        for candidate in [entry.shown.place] + entry.shown.alternates { followUp(mac, at: candidate, now: now) }
    }

    /// Gives up routers whose goodbye proved true.
    mutating func leave(now: Instant) {
        for mac in table.left(now: now) { lose(mac, .bye) }
    }

    /// Looks for routers and places that fell silent.
    mutating func sweep(now: Instant) {
        nextSweep = now + DiscoveryCore.sweepInterval
        // Sorted, so that two runs with one seed tell the same story.
        for (mac, entry) in table.entries.sorted(by: { $0.key < $1.key }) {
            if now - entry.shown.lastHeard >= DiscoveryCore.expiry {
                lose(mac, .expired)
            } else {
                let limit = Instant(nanoseconds: now.nanoseconds - DiscoveryCore.expiry.inNanoseconds)
                var changes = table.change(mac) { $0.forgetPlaces(silentSince: limit) } ?? []
                changes.formUnion(table.change(mac) { $0.forgetConflict(unseenSince: limit) } ?? [])
                if !changes.isEmpty { report(mac, changes) }
            }
        }
    }
}
