import SocketCore

extension DiscoveryCore {
    /// Probes that leave within this span belong together, on whichever links.
    private static let epochSpan: Duration = .milliseconds(100)
    /// The span of the replies is widened where more routers than this are known.
    private static let crowd = 128
    /// The widened span: 1,000 replies of 400 bytes are then 13 Mbit/s, which a home link carries.
    private static let crowdWaitMilliseconds = 250
    /// A router that answered this often is left in peace; once isn't enough to notice two of one MAC.
    private static let answersUntilKnown = 2
    /// A router heard longer ago is asked again.
    private static let knownLifetime: Duration = .seconds(5)
    /// Rounds without any answer, after which directed broadcasts, and later unicast, are tried as well.
    private static let silentRoundsUntilBroadcast = 2
    private static let silentRoundsUntilUnicast = 3

    /// One round on one link: one probe, to as many destinations as it takes. Routers answer a nonce once, however
    /// often it reaches them.
    mutating func probe(_ id: DiscoveryLink.ID, now: Instant) {
        guard var state = links[id] else { return }
        state.endRound()
        let known = configuration.mac == nil ? knownRouters(on: id, round: state.round, now: now) : []
        let wait = max(
            configuration.maxWaitMilliseconds, table.entries.count > DiscoveryCore.crowd ? DiscoveryCore.crowdWaitMilliseconds : 0)
        let bssids = linkAddresses.filter { !$0.isPlaceholder }.sorted()
        let probe = Probe(
            nonce: HexToken(generator.next()), maxWaitMilliseconds: wait, bssid: bssids.isEmpty ? nil : bssids[state.round % bssids.count],
            known: known, mac: configuration.mac)
        let silent = isWatching ? silentRouters(on: state.link, now: now) : []
        state.nextRound =
            now
            + ProbeSchedule.gap(
                afterRound: state.round, isLossy: state.isLossy, isAnxious: !silent.isEmpty, wait: .milliseconds(wait), random: unit())
        var asked = ask(probe.nonce, epoch: sharedEpoch(now: now), now: now)
        asked.isPrompt = wait == 0
        let spared = Set(known)
        let expected = table.entries.count { entry in !spared.contains(entry.key) && entry.value.records.contains { $0.link == id } }
        state.beginRound(asked, expected: expected, asksEverybody: known.isEmpty)
        let bytes = DiscoveryDatagram(msgId: asked.msgId, .probe(probe)).encoded()
        for destination in destinations(state, silent: silent) { send(bytes, to: destination, by: id) }
        links[id] = state
    }

    /// One probe to one place for one router: a hint made it worth asking.
    mutating func followUp(_ mac: MACAddress, at place: DiscoveredRouter.Place, now: Instant) {
        guard let id = link(to: place), followUps.take(now: now) else { return }
        ask(mac, at: place, by: id, now: now)
    }

    /// One probe to a place from which replies came that contradict each other: its nonce is known to whoever really is there, so that the
    /// answer is worth more than what came before. All routers there are asked; a forger may have made up any number of them.
    mutating func askDirectly(_ place: DiscoveredRouter.Place, now: Instant) {
        guard let id = link(to: place), contested.take(place.address, now: now) else { return }
        ask(configuration.mac, at: place, by: id, now: now)
    }

    private func link(to place: DiscoveredRouter.Place) -> DiscoveryLink.ID? {
        links.values.filter { $0.link.interface == place.interface && $0.link.isV4 == place.address.isV4 }.map(\.link.id).min()
    }

    private mutating func ask(_ mac: MACAddress?, at place: DiscoveredRouter.Place, by id: DiscoveryLink.ID, now: Instant) {
        epoch = (epoch.number + 1, nil)
        let probe = Probe(nonce: HexToken(generator.next()), maxWaitMilliseconds: 0, mac: mac)
        var asked = ask(probe.nonce, epoch: epoch.number, now: now)
        (asked.place, asked.isPrompt) = (place, true)
        links[id]?.nonces.remember(asked)
        let bytes = DiscoveryDatagram(msgId: asked.msgId, .probe(probe)).encoded()
        send(bytes, to: Endpoint(place.address, port: configuration.port), by: id)
    }

    private mutating func unit() -> Double { Double(generator.next() >> 11) * 0x1p-53 }

    private mutating func ask(_ nonce: HexToken, epoch: Int, now: Instant) -> NonceBook.Asked {
        let msgId = UInt32.random(in: 1...UInt32.max, using: &generator)
        return NonceBook.Asked(nonce: nonce, msgId: msgId, sentAt: now, epoch: epoch)
    }

    private mutating func sharedEpoch(now: Instant) -> Int {
        if let begun = epoch.begun, now - begun < DiscoveryCore.epochSpan { return epoch.number }
        epoch = (epoch.number + 1, now)
        return epoch.number
    }

    private mutating func send(_ bytes: [UInt8], to destination: Endpoint, by id: DiscoveryLink.ID) {
        probes.append(OutgoingProbe(link: id, destination: destination, bytes: bytes))
        counters.probes += 1
    }

    private func destinations(_ state: LinkState, silent: [IPAddress]) -> [Endpoint] {
        let link = state.link
        guard configuration.targets.isEmpty else {
            let scoped = configuration.targets.filter { $0.address.isV4 == link.isV4 }
            return scoped.filter { belongs($0.address, to: link) }.map { Endpoint(scope($0.address, to: link), port: $0.port) }
        }
        let group = link.isV4 ? configuration.groupV4 : configuration.groupV6.scoped(to: link.interface)
        var addresses = [group]
        // A lossy link gets the same probe twice: routers answer it once, and it arrives more often.
        if state.failure != nil || state.isLossy || state.silentRounds >= DiscoveryCore.silentRoundsUntilBroadcast {
            addresses += link.broadcasts
        }
        var unicasts = silent
        if state.silentRounds >= DiscoveryCore.silentRoundsUntilUnicast { unicasts += link.fallbacks.map { scope($0, to: link) } }
        addresses += unicasts.filter { $0.isV4 == link.isV4 }.prefix(DiscoveryBounds.unicastsPerRound)
        return addresses.map { Endpoint($0, port: configuration.port) }
    }

    private func scope(_ address: IPAddress, to link: DiscoveryLink) -> IPAddress {
        if case .v6(_, _, let scope) = address, scope == 0 { return address.scoped(to: link.interface) }
        return address
    }

    /// A target with a scope is asked by its own interface only.
    private func belongs(_ address: IPAddress, to link: DiscoveryLink) -> Bool {
        if case .v6(_, _, let scope) = address, scope != 0 { return scope == link.interface }
        return true
    }

    /// Routers on that link that haven't answered for a while, the longest silent ones first.
    private func silentRouters(on link: DiscoveryLink, now: Instant) -> [IPAddress] {
        let silent = table.entries.values.map(\.shown).filter {
            $0.interface == link.interface && $0.address.isV4 == link.isV4 && now - $0.lastHeard > DiscoveryCore.silence
        }
        let sorted = silent.sorted { ($0.lastHeard, $0.router.mac) < ($1.lastHeard, $1.router.mac) }
        return sorted.prefix(DiscoveryBounds.unicastsPerRound).map(\.address)
    }

    /// Which routers may stay silent: they have answered enough, and lately by this very link. Where they are more than a probe can name, each round
    /// names others.
    private func knownRouters(on link: DiscoveryLink.ID, round: Int, now: Instant) -> [MACAddress] {
        guard round > 0, !table.order.isEmpty else { return [] }
        let order = table.order
        let start = (round - 1) * Probe.maximumKnown % order.count
        var known: [MACAddress] = []
        for mac in order[start...] + order[..<start] {
            guard let entry = table.entries[mac], entry.answers >= DiscoveryCore.answersUntilKnown, !entry.shown.isConflicted,
                entry.records.contains(where: { $0.link == link && now - $0.heardAt <= DiscoveryCore.knownLifetime })
            else { continue }
            known.append(mac)
            if known.count == Probe.maximumKnown { break }
        }
        return known
    }
}
