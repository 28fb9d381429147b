import SocketCore

extension RouterManager {
    /// A connection that isn't open yet, with the router's journal where state is kept.
    func makeConnection(_ target: SwitchCore.Target, exception: Bool) throws -> RouterConnection {
        let session = try makeSession(target, exception: exception)
        let (onEvent, mac) = (onEvent, target.mac)
        let setup = RouterConnection.Setup(
            hub: hub, encodings: options.encodings, schedule: options.commands, capabilities: capabilities,
            onCommand: commandObserver(mac))
        return RouterConnection(session, mac: mac, setup) { [weak self] source, event in
            onEvent(source, event)
            switch event {
            case .state(.open(let opening)), .state(.resumed(let opening)):
                if opening.router?.sees != nil { Task { await self?.noteStation(opening, of: mac) } }
            default: break
            }
        }
    }

    /// A session with a router that the caller named; it isn't started yet, and is resumed from the router's journal where state is kept.
    ///
    /// It dials where the router is: before each further try the router is looked for anew. It speaks TLS where the router's reply offered
    /// it, and never falls back.
    /// - Throws: ``ManagerError/notProven(_:_:)`` when the router offers no TLS where proof is wanted, or no longer what it offered before;
    ///   ``ManagerError/outboxHeld(_:after:)``, `OutboxJournalError`.
    public func makeSession(_ target: SwitchCore.Target) async throws -> Session {
        try await whenJournalIsFree(target.mac) { try $0.makeSession(target, exception: $0.options.allowsUnproven) }
    }

    private func makeSession(_ target: SwitchCore.Target, exception: Bool) throws -> Session {
        let ways = try ways(to: target, exception: exception)
        guard let outboxes, !ways.configuration.isPlain else {
            return Session(to: target.session, ways.configuration, tls: ways.tls, loop: loop, resolver: ways.resolver)
        }
        do {
            let journal = try outboxes.open(target.mac, for: ways.configuration)
            return try Session(to: target.session, ways.configuration, tls: ways.tls, journal: journal, loop: loop, resolver: ways.resolver)
        } catch OutboxJournalError.inUse where options.whenOutboxHeld == .goWithout {
            return Session(to: target.session, ways.configuration, tls: ways.tls, loop: loop, resolver: ways.resolver)
        }
    }

    /// How a router is talked to.
    struct Ways {
        var configuration: SessionConfiguration
        var tls: TLSConfiguration?
        var resolver: Session.Resolver
    }

    func ways(to target: SwitchCore.Target, exception: Bool) throws -> Ways {
        let mac = target.mac
        let tls = try tlsConfiguration(target, exception: exception)
        var configuration = options.session
        configuration.expectedMAC = mac.description
        configuration.station = configuration.station ?? station?.description
        var discovery = looking
        discovery.mac = mac
        discovery.link = .addresses([])
        return Ways(
            configuration: configuration, tls: tls, resolver: try resolver(for: target, discovery, exception: exception))
    }

    /// Looks for the router anew before each further try. Where it has to prove itself, only a place where it does is given: when whoever
    /// answers first proves nothing, everybody is heard.
    private func resolver(
        for target: SwitchCore.Target, _ discovery: RouterDiscovery.Options, exception: Bool
    ) throws -> Session.Resolver {
        let (loop, mac, directory, onRemark) = (loop, target.mac, directory, onRemark)
        let verifier = try target.offersTLS && !exception ? verifier() : nil
        let wantsProof = try wantsProof(of: mac)
        return { _ in
            for hearsEverybody in wantsProof && verifier != nil ? [false, true] : [false] {
                var looking = discovery
                looking.hearsEverybody = hearsEverybody
                // Not found is no failure here: the last address is dialled again.
                guard let result = try? await RouterDiscovery(looking, loop: loop).scan(for: .seconds(2)),
                    let found = result.routers.first(where: { $0.mac == mac && $0.discovered.isConfirmed })
                else { return nil }
                var proof: Endpoint?
                if let verifier, wantsProof {
                    let finding = await verifier.verify(RouterVerifier.Subject(found))
                    guard finding.judgement.isProof else { continue }
                    proof = finding.endpoint
                }
                do {
                    let now = SystemCalls.monotonicNow()
                    if let proof {
                        try directory?.merge(proven: [(found, proof)], now: now)
                    } else {
                        try directory?.merge([found], now: now)
                    }
                } catch { onRemark("where \(mac) is now isn't kept: \(error)") }
                return proof ?? found.endpoint
            }
            return nil
        }
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
        var memory = try trustMemory()
        if try directory?.load()[mac]?.hasSpokenTLS == true { memory.noteTLS(of: mac, now: options.trust.clock()) }
        return (memory[mac], memory.floor)
    }

    /// Which of the found routers the user is connected to, nil for no choice; where a root is configured, among those that prove to be the
    /// company's.
    func choose(among result: ScanResult) async throws -> SwitchCore.Target? {
        guard options.trust.hasRoot else { return result.routers.first { $0.mac == result.selection.mac }.map(target) }
        // Those that are nearest by their own words are asked first: a crowd of forged ones comes behind.
        let confirmed = result.routers.filter(\.discovered.isConfirmed).sorted { $0.plausibility < $1.plausibility }
        let findings = await verified(confirmed.map(RouterVerifier.Subject.init), try verifier())
        let proven = findings.filter { $0.judgement.verdict == .company }
        guard !proven.isEmpty else { throw ManagerError.noneProven(findings) }
        let proofs = Dictionary(proven.map { ($0.subject.mac, $0) }) { first, _ in first }
        let candidates = ProvenClaims.believed(
            confirmed.compactMap { router in
                proofs[router.mac].map { (router, $0.judgement.certifiedRadios(enterprise: options.trust.enterprise)) }
            }, link: result.link)
        guard let router = candidates.first(where: { $0.mac == Selection.choose(among: candidates).mac }) else { return nil }
        return target(router, at: proofs[router.mac]?.endpoint)
    }

    /// Where a router is. Where it has to prove itself, the first who answers in its name needn't be it: when that one proves nothing,
    /// everybody is heard, and the one that proves it is taken.
    func place(of found: FoundRouter, exception: Bool) async throws -> SwitchCore.Target {
        guard !exception, try wantsProof(of: found.mac) else {
            // Named by the caller, who wants it whatever it proves.
            if options.trust.hasRoot { try directory?.merge([found], now: SystemCalls.monotonicNow()) }
            return target(found)
        }
        let verifier = try verifier()
        let first = await verified([RouterVerifier.Subject(found)], verifier)
        if let proof = first.first(where: \.judgement.isProof) { return target(found, at: proof.endpoint) }
        var discovery = looking
        discovery.link = .addresses([])
        discovery.expected.insert(found.mac)
        let result = try await RouterDiscovery(discovery, loop: loop).scan(for: options.scanTime)
        guard let again = result.routers.first(where: { $0.mac == found.mac }) else { return target(found) }
        let second = await verified([RouterVerifier.Subject(again)], verifier)
        return second.first(where: \.judgement.isProof).map { target(again, at: $0.endpoint) } ?? target(found)
    }

    func wasProven(_ mac: MACAddress) throws -> Bool { try remembered(mac).0?.wasProven == true }

    func wantsProof(of mac: MACAddress) throws -> Bool {
        if options.trust.hasRoot { return true }
        return try remembered(mac).0?.pin != nil
    }

    /// Asks them, and keeps what they prove.
    func verified(_ subjects: [RouterVerifier.Subject], _ verifier: RouterVerifier) async -> [RouterVerifier.Finding] {
        let findings = await verifier.verify(subjects)
        sightings.note(findings)
        guard let home = options.home else { return findings }
        if options.trust.hasRoot {
            let proven = findings.filter { $0.judgement.verdict == .company }.compactMap { finding in
                sightings[finding.subject.mac].map { ($0, finding.endpoint) }
            }
            do { try directory?.merge(proven: proven, now: SystemCalls.monotonicNow()) } catch {
                onRemark("the routers that were found aren't kept: \(error)")
            }
        }
        do {
            try TrustState(home: home).update { kept in
                for finding in findings {
                    kept.memory.note(finding.judgement, of: finding.subject.mac, at: finding.endpoint, now: options.trust.clock())
                }
            }
        } catch {
            onRemark("what was proven isn't kept: \(error)")
        }
        return findings
    }

    func verifier() throws -> RouterVerifier {
        RouterVerifier(options.trust, memory: try trustMemory(), session: inquirySession, loop: loop)
    }

    /// The sessions in which routers are only asked for their hello: nothing of them is kept.
    var inquirySession: SessionConfiguration {
        var session = SessionConfiguration(role: .controller)
        (session.layout, session.client) = (options.session.layout, options.session.client)
        return session
    }

    /// What is remembered of proofs, pins and the clock.
    ///
    /// - Throws: `TrustState.Unreadable`: it isn't taken for nothing.
    func trustMemory() throws -> TrustMemory {
        guard let home = options.home else { return TrustMemory() }
        return try TrustState(home: home).load().memory
    }

    private func target(_ found: FoundRouter) -> SwitchCore.Target { target(found, at: nil) }

    func target(_ found: FoundRouter, at endpoint: Endpoint?) -> SwitchCore.Target {
        let session = endpoint ?? found.endpoint
        return SwitchCore.Target(
            mac: found.mac, probe: Endpoint(session.address, port: options.discovery.port), session: session,
            offersTLS: endpoint != nil || found.discovered.offers.first { $0.endpoint == session }?.tls ?? found.discovered.router.tls)
    }
}

extension FoundRouter {
    /// In which order routers are asked for proof, first the ones that seem to be the one wanted: less is sooner.
    public var plausibility: Int { (grade <= .radio ? 0 : 2) + (evidence.gateway ? 0 : 1) }
}
