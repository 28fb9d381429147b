import Glibc
import SocketCore

/// An app's life in the background (docs/sessions.md): suspended and back, or killed and launched again.
extension RouterManager {
    /// The app goes to the background: the connection is given up in order, and no timer of it runs until ``resume()``.
    ///
    /// Returns once the socket is closed, after a second at most. Messages may still be sent; they wait, in the outbox where there is one.
    public func suspend() async {
        isSuspended = true
        await current?.suspend()
        await leftover?.suspend()
    }

    /// The app is back: the router is looked for anew, for it may have another address, and dialled once; the session goes on.
    ///
    /// - Returns: the connection in use, open again; nil when there is none.
    /// - Throws: ``ManagerError/notOpened(_:_:_:)`` when it didn't open at the first try; it goes on trying in the background.
    @discardableResult
    public func resume() async throws -> RouterConnection? {
        guard isSuspended else { return current }
        isSuspended = false
        await leftover?.resume()
        guard let current else { return nil }
        do { try await current.resume() } catch {
            let endpoint = await current.session.peer ?? Endpoint(.loopback, port: 0)
            throw ManagerError.notOpened(current.mac, endpoint, error)
        }
        return current
    }

    /// The app was killed and is launched again: goes on with the router in use, its session, and what was under way.
    ///
    /// What processes that ran beside that one have left for the router is settled in the background, one session each.
    ///
    /// What the router had to say meanwhile comes as the session's events, to this manager's `onEvent` from the first on. The router is
    /// looked for; where it can't be found yet, it's dialled where it was, again and again: see ``RouterConnection/opened()``.
    ///
    /// - Returns: the connection, not necessarily open yet; nil when no state is kept or no router was in use.
    /// - Throws: what reading the state throws; ``ManagerError/notProven(_:_:)``; ``ManagerError/outboxHeld(_:after:)``,
    ///   `OutboxJournalError`.
    @discardableResult
    public func restore() async throws -> RouterConnection? {
        if let current { return current }
        guard let known = try directory?.load(), let mac = known.current, let router = known[mac] else { return nil }
        var target = lastPlace(of: router)
        // One that has been proven was not named as an exception, and whoever is in its place now isn't either.
        let exception = try options.allowsUnproven && !wasProven(mac)
        do { target = try await locate(mac.description, exception: exception) } catch {
            onRemark("\(mac) isn't found (\(error)); it's dialled where it was, \(target.session)")
        }
        let connection = try await borrow(target, exception: exception)
        // Somebody may have connected while it was looked for.
        if current == nil {
            await connection.begin()
            await adopt(connection, moves: false)
            settleLeftovers(of: target)
        }
        await release(connection)
        return current
    }

    /// Where a router was heard last, and whether it spoke TLS there.
    public nonisolated func lastPlace(of known: KnownRouter) -> SwitchCore.Target {
        let address = known.address.scoped(to: if_nametoindex(known.interface))
        return SwitchCore.Target(
            mac: known.router.mac, probe: Endpoint(address, port: options.discovery.port),
            session: Endpoint(address, port: known.router.tcp), offersTLS: known.hasSpokenTLS)
    }
}
