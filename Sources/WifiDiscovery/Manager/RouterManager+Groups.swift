import SocketCore

/// The routers that a group command is for.
public enum RouterGroup: Sendable, Equatable {
    /// All that are there and prove to be the company's.
    case company
    /// These.
    case routers([MACAddress])
}

extension RouterManager {
    /// One command to several routers, a few at a time: each has its own result, and one that fails hinders no other.
    ///
    /// The current router is asked over its session; others over the session that is kept for them, or one of their own.
    ///
    /// - Throws: ``ManagerError/noRoot`` when all of the company's are wanted and none is known, ``ManagerError/noneProven(_:)``,
    ///   ``ManagerError/nothingFound(_:)``, ``DiscoveryError``. What goes wrong with one router is in its result.
    public func command(
        _ request: DeviceRequest, to group: RouterGroup, parallel: Int = CommandGroup.parallel
    ) async throws -> GroupOutcome {
        var targets: [MACAddress: SwitchCore.Target] = [:]
        var members: [MACAddress]
        switch group {
        case .routers(let macs): members = macs
        case .company:
            let all = try await companyRouters()
            for target in all { targets[target.mac] = target }
            members = all.map(\.mac)
        }
        let exception = options.allowsUnproven && group != .company
        var core = CommandGroup(members, parallel: parallel)
        return await withTaskGroup(of: GroupResult.self) { tasks in
            while true {
                for mac in core.takeStarts() {
                    let target = targets[mac]
                    tasks.addTask {
                        do {
                            return GroupResult(
                                mac: mac, result: .success(try await self.ask(mac, target, request, exception: exception)))
                        } catch { return GroupResult(mac: mac, result: .failure(error)) }
                    }
                }
                if let outcome = core.outcome { return outcome }
                guard let one = await tasks.next() else { return GroupOutcome(results: []) }
                core.finished(one.mac, one.result)
            }
        }
    }

    /// All routers that are there and prove to be the company's, by MAC.
    private func companyRouters() async throws -> [SwitchCore.Target] {
        guard options.trust.hasRoot else { throw ManagerError.noRoot }
        var discovery = looking
        discovery.endsAtMatch = false
        let result = try await RouterDiscovery(discovery, loop: loop).scan(for: options.scanTime)
        try remember(result)
        let confirmed = result.routers.filter(\.discovered.isConfirmed)
        guard !confirmed.isEmpty else { throw ManagerError.nothingFound(result) }
        let findings = await verified(confirmed.map(RouterVerifier.Subject.init), try verifier())
        let places = Dictionary(
            findings.filter { $0.judgement.verdict == .company }.map { ($0.subject.mac, $0.endpoint) },
            uniquingKeysWith: { first, _ in first })
        guard !places.isEmpty else { throw ManagerError.noneProven(findings) }
        return confirmed.filter { places[$0.mac] != nil }.map { target($0, at: places[$0.mac]) }
    }

    private func ask(
        _ mac: MACAddress, _ target: SwitchCore.Target?, _ request: DeviceRequest, exception: Bool
    ) async throws -> JSONValue {
        let connection: RouterConnection
        if let there = await borrowHeld(mac, exception: exception) {
            connection = there
        } else {
            let place: SwitchCore.Target
            if let target { place = target } else { place = try await locate("\(mac)", exception: exception) }
            connection = try await borrow(place, exception: exception)
        }
        let result: Result<JSONValue, any Error>
        do {
            // To the current router requests are sent as ever, and wait for it where it is away.
            if current !== connection { try await open(connection) }
            result = .success(try await connection.request(request))
        } catch { result = .failure(error) }
        await release(connection)
        return try result.get()
    }

    private func open(_ connection: RouterConnection) async throws {
        do { try await connection.open() } catch {
            throw ManagerError.notOpened(connection.mac, await connection.session.peer ?? Endpoint(.loopback, port: 0), error)
        }
    }
}
