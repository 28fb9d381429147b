import SocketCore
import WifiDiscovery

/// The sessions that the agent keeps open between commands: one for each router and way of talking to it.
actor SessionPool {
    /// Ends the agent.
    nonisolated let stop: CancellationSignal
    /// The state directory.
    nonisolated let home: String

    private struct Key: Hashable {
        var mac: MACAddress
        var manner: String
    }

    /// A manager has one session in use, so that each session has a manager of its own.
    private struct Held {
        var manager: RouterManager
        var connection: RouterConnection
        var lastUse: Instant
        var uses = 1
    }

    /// A session that the agent keeps, for `agent status`.
    struct Account {
        var mac: MACAddress
        var session: SessionIdentifier
        var isOpen: Bool
        var uses: Int
        var idle: Duration
    }

    private var sessions: [Key: Held] = [:]
    private var openings: [String: Task<RouterConnection, any Error>] = [:]

    init(home: String, stop: CancellationSignal) {
        self.home = home
        self.stop = stop
    }

    /// The session with a router, opened if it isn't there. Commands that ask at the same time get the same one.
    ///
    /// - Parameters:
    ///   - manner: what else tells sessions apart: trust, interfaces, layout.
    ///   - makeManager: for a session that must be opened.
    func connection(
        _ reference: String, _ manner: String, _ makeManager: @Sendable @escaping () throws -> RouterManager
    ) async throws -> RouterConnection {
        if let held = try await standing(reference, manner) { return held }
        let name = "\(manner) \(reference)"
        if let opening = openings[name] { return try await opening.value }
        let opening = Task { try await self.open(reference, manner, try makeManager()) }
        openings[name] = opening
        defer { openings[name] = nil }
        return try await opening.value
    }

    private func standing(_ reference: String, _ manner: String) async throws -> RouterConnection? {
        guard case .found(let known) = try RouterDirectory(home: home).load().find(RouterReference(reference)) else { return nil }
        let key = Key(mac: known.router.mac, manner: manner)
        guard let connection = sessions[key]?.connection, await connection.session.isOpen else { return nil }
        sessions[key]?.lastUse = SystemCalls.monotonicNow()
        sessions[key]?.uses += 1
        return connection
    }

    private func open(_ reference: String, _ manner: String, _ manager: RouterManager) async throws -> RouterConnection {
        let target = try await manager.locate(reference)
        let key = Key(mac: target.mac, manner: manner)
        // Its connection was lost, or the router has moved: what it hasn't settled is in its journal, and the new one goes on with it.
        if let old = sessions.removeValue(forKey: key) { await old.manager.close() }
        let connection = try await manager.connect(to: "\(target.mac)")
        sessions[key] = Held(manager: manager, connection: connection, lastUse: SystemCalls.monotonicNow())
        return connection
    }

    /// The manager whose session in use is the one with that router, for a switch away from it.
    func manager(of mac: MACAddress, _ manner: String) -> RouterManager? { sessions[Key(mac: mac, manner: manner)]?.manager }

    /// A manager's session in use has changed by a switch from one router to another.
    func moved(_ manager: RouterManager, from old: MACAddress?, to connection: RouterConnection, _ manner: String) async {
        if let old, old != connection.mac { sessions[Key(mac: old, manner: manner)] = nil }
        let key = Key(mac: connection.mac, manner: manner)
        if let held = sessions[key], held.manager !== manager { await held.manager.close() }
        sessions[key] = Held(manager: manager, connection: connection, lastUse: SystemCalls.monotonicNow())
    }

    /// What it keeps now.
    func accounts() async -> [Account] {
        var accounts: [Account] = []
        for (key, held) in sessions {
            accounts.append(
                Account(
                    mac: key.mac, session: held.connection.session.identifier, isOpen: await held.connection.session.isOpen,
                    uses: held.uses, idle: SystemCalls.monotonicNow() - held.lastUse))
        }
        return accounts.sorted { $0.mac < $1.mac }
    }

    /// Ends all sessions; what is unsettled stays for later.
    func close() async {
        let ending = sessions.values.map(\.manager)
        sessions = [:]
        for manager in ending { await manager.close() }
    }
}
