import Glibc
import SocketCore

/// Where a router is that the caller names.
extension RouterManager {
    /// Where a named router is now: asked where it was last heard, else looked for.
    ///
    /// Where routers have to prove themselves, so has a name: any device can answer in another's MAC with a name of its choice. It counts if
    /// the router has given it itself over a proven connection, and is asked for once where that has not been.
    ///
    /// - Throws: ``ManagerError``, ``DiscoveryError``.
    public func locate(_ reference: String) async throws -> SwitchCore.Target {
        try await locate(reference, exception: options.allowsUnproven)
    }

    /// The same; with `exception`, whatever it proves.
    func locate(_ reference: String, exception: Bool) async throws -> SwitchCore.Target {
        let parsed = RouterReference(reference)
        let known = try known(parsed, reference, exception: exception)
        if parsed == .current, known == nil { throw ManagerError.noCurrent }
        if case .address(let address, let port) = parsed, known == nil {
            return try await locate(address, port, reference, exception: exception)
        }
        if let known, let found = try await ask(known, exception: exception) {
            // One that was known by a datagram's word may call itself otherwise. Whose name it is is asked of everybody.
            do { return try await named(found, parsed, exception: exception) } catch ManagerError.otherName {
                return try await search(parsed, nil, reference, exception: exception)
            }
        }
        return try await search(parsed, known, reference, exception: exception)
    }

    /// The target, if it may be called as it was named.
    private func named(_ target: SwitchCore.Target, _ parsed: RouterReference, exception: Bool) async throws -> SwitchCore.Target {
        guard case .name(let name) = parsed, !exception else { return target }
        if let own = try await ownName(of: target), own.lowercased() != name.lowercased() {
            throw ManagerError.otherName(name, target.mac, found: own)
        }
        return target
    }

    /// Which of the known routers is meant. Of several with that name, the one that was proven, where proof is wanted.
    private func known(_ parsed: RouterReference, _ reference: String, exception: Bool) throws -> KnownRouter? {
        switch try directory?.load().find(parsed) {
        case .found(let router): return router
        case .ambiguous(let routers):
            guard !exception, options.trust.hasRoot else { throw ManagerError.ambiguous(reference, routers) }
            let memory = try trustMemory()
            let proven = routers.filter { memory[$0.router.mac]?.wasProven == true }
            guard proven.count == 1 else { throw ManagerError.ambiguous(reference, routers) }
            return proven[0]
        case .unknown, nil: return nil
        }
    }

    /// Somebody unknown at an address: a probe tells who it is.
    private func locate(
        _ address: IPAddress, _ port: UInt16?, _ reference: String, exception: Bool
    ) async throws -> SwitchCore.Target {
        var discovery = looking
        discovery.link = .addresses([])
        discovery.targets = [Endpoint(address, port: discovery.port)]
        let result = try await RouterDiscovery(discovery, loop: loop).scan(for: .seconds(1))
        try remember(result)
        guard let found = result.routers.first(where: { port == nil || $0.discovered.router.tcp == port }) else {
            throw ManagerError.unknownRouter(reference)
        }
        return try await place(of: found, exception: exception)
    }

    private func ask(_ known: KnownRouter, exception: Bool) async throws -> SwitchCore.Target? {
        let address = known.address.scoped(to: if_nametoindex(known.interface))
        var discovery = looking
        discovery.link = .addresses([])
        discovery.mac = known.router.mac
        discovery.targets = [Endpoint(address, port: discovery.port)]
        let result = try await RouterDiscovery(discovery, loop: loop).scan(for: .milliseconds(800))
        try remember(result)
        guard let found = result.routers.first else { return nil }
        return try await place(of: found, exception: exception)
    }

    private func search(
        _ parsed: RouterReference, _ known: KnownRouter?, _ reference: String, exception: Bool
    ) async throws -> SwitchCore.Target {
        var discovery = looking
        discovery.link = .addresses([])
        if let known { discovery.mac = known.router.mac } else if case .mac(let mac) = parsed { discovery.mac = mac }
        let result = try await RouterDiscovery(discovery, loop: loop).scan(for: options.scanTime)
        try remember(result)
        // With the names that they have proven before: a datagram doesn't give a known router another one.
        var seen = try directory?.load() ?? DirectoryCore()
        seen.keepOnly(Set(result.routers.map(\.mac)))
        for router in result.routers { seen.merge(router.discovered, interface: router.interface, now: SystemCalls.monotonicNow()) }
        switch seen.find(discovery.mac.map { .mac($0) } ?? parsed) {
        case .found(let router):
            let found = result.routers.first { $0.mac == router.router.mac } ?? result.routers[0]
            let target = try await place(of: found, exception: exception)
            do { return try await named(target, parsed, exception: exception) } catch ManagerError.otherName(let name, let mac, let own) {
                if let other = try await selfNamed(parsed, of: result.routers.filter { $0.mac != mac }) { return other }
                throw ManagerError.otherName(name, mac, found: own)
            }
        case .ambiguous(let routers):
            let found = result.routers.filter { router in routers.contains { $0.router.mac == router.mac } }
            if !exception, let proven = try await onlyProven(of: found, parsed) {
                return try await named(proven, parsed, exception: exception)
            }
            throw ManagerError.ambiguous(reference, routers)
        case .unknown:
            if !exception, let own = try await selfNamed(parsed, of: result.routers) { return own }
            if let known { throw ManagerError.notAnswering(known) }
            throw ManagerError.unknownRouter(reference)
        }
    }

    /// Of several that answer to a name, the one that proves to be the company's, if a root is configured and exactly one does; of several
    /// that do, the one that calls itself that.
    private func onlyProven(of found: [FoundRouter], _ parsed: RouterReference) async throws -> SwitchCore.Target? {
        var proven = try await proven(of: found)
        if proven.count > 1, case .name(let name) = parsed {
            var called: [SwitchCore.Target] = []
            // Who can't be asked can't be told from the others.
            for one in proven where try await ownName(of: one)?.lowercased() == name.lowercased() { called.append(one) }
            proven = called
        }
        return proven.count == 1 ? proven[0] : nil
    }

    /// The only one that calls itself that over a proven connection, whatever replies call it: one forged reply in its name renames it.
    private func selfNamed(_ parsed: RouterReference, of found: [FoundRouter]) async throws -> SwitchCore.Target? {
        guard case .name(let name) = parsed else { return nil }
        var called: [SwitchCore.Target] = []
        for one in try await proven(of: found) {
            do { if try await ownName(of: one)?.lowercased() == name.lowercased() { called.append(one) } } catch ManagerError.notOpened(
                _, _, let reason)
            {
                onRemark("\(one.mac) has proven whose it is, but couldn't be asked what it calls itself: \(reason)")
            }
        }
        return called.count == 1 ? called[0] : nil
    }

    /// Those that prove to be the company's, where a root is configured.
    private func proven(of found: [FoundRouter]) async throws -> [SwitchCore.Target] {
        guard options.trust.hasRoot else { return [] }
        let findings = await verified(found.map(RouterVerifier.Subject.init), try verifier())
        return findings.filter { $0.judgement.verdict == .company }.compactMap { finding in
            found.first { $0.mac == finding.subject.mac }.map { target($0, at: finding.endpoint) }
        }
    }

    /// What the router at a place calls itself, over a connection on which it has proven itself: as it has said before, or asked now. nil
    /// where it needn't prove anything, or can't, which is told when a session is wanted.
    private func ownName(of target: SwitchCore.Target) async throws -> String? {
        guard target.offersTLS, try wantsProof(of: target.mac) else { return nil }
        if let known = try directory?.load()[target.mac]?.provenName { return known }
        let inquiry = HelloInquiry(
            trust: options.trust, memory: try trustMemory(), session: inquirySession, limit: .seconds(5), loop: loop)
        let hello: RouterHello
        do { hello = try await inquiry.ask(target.mac, at: target.session).get() } catch {
            throw ManagerError.notOpened(target.mac, target.session, error)
        }
        try keepHello(hello, of: target.mac, isProven: true)
        return DisplayText.clean(hello.identity.name ?? "", limit: DisplayText.maximumNameBytes)
    }

    /// What a router says of itself when its session stands is kept with what is known of it.
    func keepHello(_ hello: RouterHello, of mac: MACAddress, isProven: Bool) throws {
        try directory?.update {
            $0.heard(mac, says: hello.identity.name ?? "", isProven: isProven, now: SystemCalls.monotonicNow(), date: .systemNow())
        }
    }

    /// Where to dial a named router for messages that may wait for it: where it is, or else where it was heard last. Whoever is there now
    /// has to be that router, and where proof is wanted has to prove it, before it gets anything.
    ///
    /// - Throws: what ``locate(_:)`` throws, ``ManagerError/notAnswering(_:)`` apart.
    public func whereabouts(_ reference: String) async throws -> SwitchCore.Target {
        do { return try await locate(reference) } catch ManagerError.notAnswering(let known) {
            let place = lastPlace(of: known)
            onRemark("\(known.router.mac) doesn't answer; it's dialled where it was, \(place.session)")
            return place
        }
    }
}
