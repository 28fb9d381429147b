import SocketCore

extension RouterManager {
    /// Begins to watch how commands end.
    func watchCommands() {
        guard failover == nil else { return }
        failover = FailoverWatch(
            options.failover, hub: hub,
            hooks: FailoverWatch.Hooks(
                measure: { [weak self] in try await self?.measureLinks() ?? [] },
                move: { [weak self] mac in
                    guard let self else { throw CancellationError() }
                    // Nobody has named it, so that no exception holds for it.
                    try await self.move(to: "\(mac)", unsettled: .keep, exception: false)
                }))
    }

    /// What a connection tells of its commands' ends.
    nonisolated func commandObserver(_ mac: MACAddress) -> @Sendable (Bool) -> Void {
        { [weak self] isAnswered in Task { await self?.failover?.commandEnded(mac, isAnswered: isAnswered) } }
    }

    /// Asks the network which routers could be used, and how well each is heard.
    ///
    /// - Throws: ``DiscoveryError``.
    public func measureLinks() async throws -> [LinkMeasurement] {
        var discovery = looking
        discovery.endsAtMatch = false
        // Round trips are compared, so that no wait may be in them.
        discovery.maxWaitMilliseconds = 0
        let result = try await RouterDiscovery(discovery, loop: loop).scan(for: options.scanTime)
        try remember(result)
        var usable = result.routers.filter(\.discovered.isConfirmed)
        if options.trust.hasRoot {
            let findings = await verified(usable.map(RouterVerifier.Subject.init), try verifier())
            let proven = Set(findings.filter { $0.judgement.verdict == .company }.map(\.subject.mac))
            usable = usable.filter { proven.contains($0.mac) }
        } else {
            usable = usable.filter { !$0.discovered.isConflicted }
        }
        let signals = WirelessLink.signals()
        return usable.map { router in
            let radios = router.discovered.router.radios.map(\.bssid) + router.discovered.router.mld + [router.mac]
            return LinkMeasurement(
                router.mac, signal: radios.compactMap { signals[$0] }.max(), roundTrip: router.discovered.roundTrip)
        }
    }
}
