import SocketCore

extension RouterManager {
    /// A connection that isn't open yet, with the router's journal where state is kept.
    func makeConnection(_ target: SwitchCore.Target, exception: Bool) throws -> RouterConnection {
        let session = try makeSession(target, exception: exception)
        let (onEvent, mac) = (onEvent, target.mac)
        return RouterConnection(session, mac: mac) { onEvent(mac, $0) }
    }

    /// A session with a router that the caller named; it isn't started yet, and is resumed from the router's journal where state is kept.
    ///
    /// It dials where the router is: before each further try the router is looked for anew. It speaks TLS where the router's reply offered
    /// it, and never falls back.
    /// - Throws: ``ManagerError/notProven(_:_:)`` when the router offers no TLS where proof is wanted, or no longer what it offered before.
    public func makeSession(_ target: SwitchCore.Target) throws -> Session {
        try makeSession(target, exception: options.allowsUnproven)
    }

    private func makeSession(_ target: SwitchCore.Target, exception: Bool) throws -> Session {
        let mac = target.mac
        let tls = try tlsConfiguration(target, exception: exception)
        var configuration = options.session
        configuration.expectedMAC = mac.description
        var discovery = options.discovery
        discovery.mac = mac
        discovery.link = .addresses([])
        let (loop, looks) = (loop, discovery)
        let resolver: Session.Resolver = { _ in
            // Not found is no failure here: the last address is dialled again.
            guard let result = try? await RouterDiscovery(looks, loop: loop).scan(for: .seconds(2)) else { return nil }
            return result.routers.first { $0.mac == mac && $0.discovered.isConfirmed }?.endpoint
        }
        guard let home = options.home, !configuration.isPlain else {
            return Session(to: target.session, configuration, tls: tls, loop: loop, resolver: resolver)
        }
        let journal = try OutboxStore(home: home).open(mac)
        for remark in journal.remarks { onRemark(remark) }
        return Session(to: target.session, configuration, tls: tls, journal: journal, loop: loop, resolver: resolver)
    }

    // MARK: Trust

    private func tlsConfiguration(_ target: SwitchCore.Target, exception: Bool) throws -> TLSConfiguration? {
        let mac = target.mac
        let (record, floor) = try remembered(mac)
        let trust = options.trust
        guard target.offersTLS else {
            let judgement = trust.judge.judge(.offersNoTLS, of: mac, record: record, at: floor.judge(trust.clock()))
            guard exception || judgement.mayBeSelected(hasRoot: trust.hasRoot) else { throw ManagerError.notProven(mac, judgement) }
            return nil
        }
        let (state, onRemark) = (options.home.map { TrustState(home: $0) }, onRemark)
        return trust.configuration(for: mac, record: record, floor: floor, admitsAnybody: exception) { judgement in
            do { try state?.update { $0.memory.note(judgement, of: mac, now: trust.clock()) } } catch {
                onRemark("what \(mac) has proven isn't kept: \(error)")
            }
        }
    }

    /// What is remembered of a router, by the trust's memory and by the directory, which hears of TLS from replies alone.
    private func remembered(_ mac: MACAddress) throws -> (TrustRecord?, ClockFloor) {
        var memory = try options.home.map { try TrustState(home: $0).load().memory } ?? TrustMemory()
        if try directory?.load()[mac]?.hasSpokenTLS == true { memory.noteTLS(of: mac, now: options.trust.clock()) }
        return (memory[mac], memory.floor)
    }

    /// Which of the found routers the user is connected to; where a root is configured, among those that prove to be the company's.
    func choose(among result: ScanResult) async throws -> Selection {
        guard options.trust.hasRoot else { return result.selection }
        let confirmed = result.routers.filter(\.discovered.isConfirmed)
        let memory = try options.home.map { try TrustState(home: $0).load().memory } ?? TrustMemory()
        let findings = await RouterVerifier(options.trust, memory: memory, loop: loop).verify(confirmed.map(RouterVerifier.Subject.init))
        let proven = Set(findings.filter { $0.judgement.verdict == .company }.map(\.subject.mac))
        guard !proven.isEmpty else { throw ManagerError.noneProven(findings) }
        return Selection.choose(among: confirmed.filter { proven.contains($0.mac) })
    }
}
