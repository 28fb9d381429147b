import SocketCore
import WifiDiscovery

/// The session that a watch follows: opened, moved, its properties subscribed to; what comes of it goes into the inbox.
actor WatchSessions {
    /// A router that wasn't there is looked for again after this time.
    static let retry = Duration.seconds(5)

    private let manager: RouterManager
    private let inbox: WatchInbox
    private var connection: RouterConnection?
    private var listener: Task<Void, Never>?
    private var attempt: Task<Void, Never>?

    init(_ manager: RouterManager, _ inbox: WatchInbox) {
        self.manager = manager
        self.inbox = inbox
    }

    /// Whether waiting doesn't mend it: a name that fits several, or a router that was refused for what it proved.
    static func isFinal(_ error: any Error) -> Bool {
        switch error {
        case ManagerError.ambiguous, ManagerError.notProven, ManagerError.noneProven, ManagerError.noRoot: true
        case ManagerError.notOpened(_, _, .refused): true
        default: false
        }
    }

    /// Opens a session with the router that is named, however long it takes for it to be there.
    func follow(_ reference: String) {
        attempt?.cancel()
        attempt = Task {
            while !Task.isCancelled {
                do {
                    return self.adopt(try await self.manager.connect(to: reference))
                } catch {
                    let isFinal = WatchSessions.isFinal(error)
                    let said = TrustOptions.explained(error)
                    self.inbox.tell(.remark("no session with \(reference): \(said)\(isFinal ? "" : "; trying on")", .red))
                    guard !isFinal else { return }
                }
                guard (try? await Task.sleep(for: WatchSessions.retry)) != nil else { return }
            }
        }
    }

    /// Makes a router the current one; the present session is kept until the new one stands.
    ///
    /// - Parameters:
    ///   - reference: its MAC.
    ///   - title: what people call it.
    func move(to reference: String, _ title: String) {
        attempt?.cancel()
        attempt = Task {
            self.inbox.tell(.remark("switching to \(title)", .cyan))
            do {
                let new = try await self.manager.switch(to: reference)
                guard new !== self.connection else {
                    return self.inbox.tell(.remark("\(title) has the session already", .cyan))
                }
                self.adopt(new)
            } catch is CancellationError {
            } catch {
                self.inbox.tell(.remark("no switch to \(title): \(error)", .red))
            }
        }
    }

    private func adopt(_ new: RouterConnection) {
        connection = new
        listen(to: new)
    }

    /// The router has forgotten what it was asked to report.
    func reopened(_ mac: MACAddress) {
        guard let connection, connection.mac == mac else { return }
        listen(to: connection)
    }

    private func listen(to connection: RouterConnection) {
        listener?.cancel()
        listener = Task {
            while !Task.isCancelled {
                do {
                    return try await self.report(connection)
                } catch CommandError.timedOut {
                    continue
                } catch let error as CommandError {
                    if error != .cancelled { self.inbox.tell(.remark("its properties aren't told: \(error)", .yellow)) }
                    return
                } catch { return }
            }
        }
    }

    /// The present values, then what changes, of all properties that the router reports by itself.
    private func report(_ connection: RouterConnection) async throws {
        let capabilities = try await connection.request(.capabilities)
        let names = (capabilities["properties"]?.arrayValue ?? []).prefix(ChangeBatch.mostProperties).compactMap { property -> String? in
            guard property["access"]?.arrayValue?.contains("notify") == true else { return nil }
            return property["name"]?.stringValue
        }
        guard !names.isEmpty else { return }
        let changes = try await connection.subscribe(to: names)
        inbox.tell(.changed(connection.mac, try await connection.get(names)))
        for await change in changes { inbox.tell(.changed(connection.mac, change.values)) }
    }

    /// Tells what was counted in the session, if there is one.
    func count() async {
        guard let session = connection?.session else { return }
        inbox.tell(.counters(await session.counters, unsettled: await session.pendingMessages))
    }

    /// The end; what is unsettled stays for the next run.
    func close() async {
        attempt?.cancel()
        listener?.cancel()
        await manager.close()
    }
}
