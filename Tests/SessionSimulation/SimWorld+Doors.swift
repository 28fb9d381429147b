import FrameCodec
import SocketCore

// MARK: - Other ways in: plain devices, versions nobody shares, and connections that are long gone

extension SimWorld {
    /// A plain router's process takes a connection: no hello, and a session of its own.
    func beginPlain(_ link: SimLink) {
        let (host, controller) = (link.host, link.controller)
        let session = controller.core.session
        let core = SessionCore(configuration(.router, host), session: session, seed: random.next(), now: Instant(nanoseconds: now))
        let name = "router\(host.index)/\(controller.name)"
        let endpoint = adopt(SimEndpoint(name: name, side: .router, host: host, core: core, memory: newMemory()))
        // Its predecessor ends when its kernel notices; nobody of this world waits for that.
        if let old = host.sessions[session] { orphan(old) }
        host.sessions[session] = endpoint
        endpoints.append(endpoint)
        link.router = endpoint
        link.numbers[SimSide.router.rawValue] = endpoint.core.acceptPlain(now: clock(endpoint))
        endpoint.link = link
        tick(endpoint)
    }

    /// A hello that can't be answered: only because no version is in common, and the controller is told.
    func refuse(_ step: Greeting.Step, _ link: SimLink) {
        guard case .refuse(let reply, .versionRefused) = step, Set(link.controller.versions).isDisjoint(with: link.versions) else {
            return fail("a controller's hello is refused: \(step)")
        }
        note("router\(link.host.index) speaks \(link.versions), none of \(link.controller.versions)")
        if !link.isCut, !link.pipes[SimSide.controller.rawValue].isBlackHole {
            link.pipes[SimSide.controller.rawValue].bytes += reply
            wantArrival(link, .controller)
        }
        closeEnd(link, .router, abort: false)
    }

    /// A connection's last words may reach a process long after it gave the connection up.
    func hauntLater(_ endpoint: SimEndpoint, _ number: ConnectionNumber) {
        if random.chance(0.3) { schedule(.haunt(endpoint, number), after: 0...5_000_000_000) }
    }

    /// Everything that a connection can say, said by one that is gone: nothing may come of it.
    func haunt(_ endpoint: SimEndpoint, _ number: ConnectionNumber) {
        guard endpoint.isAlive, endpoint.frozenUntil <= now, endpoint.core.connection != number else { return }
        tick(endpoint)
        guard endpoint.isAlive, failure == nil else { return }
        let time = clock(endpoint)
        let before = state(endpoint)
        let body: [UInt8] = [0, 0, 0, 0]
        endpoint.core.receivedBytes(1, on: number, now: time)
        let pending = endpoint.core.pendingTickets.first?.msgId ?? 1
        for id in [0, pending, pending &+ 1_000] {
            _ = endpoint.core.receive(FrameHeader(msgId: id, version: 1, bodyLength: 0), body: RawSpan(), on: number, now: time)
            _ = endpoint.core.receive(FrameHeader(msgId: id, version: 1, bodyLength: 4), body: body.span.bytes, on: number, now: time)
        }
        endpoint.core.connected(number, now: time)
        endpoint.core.wrote(1, on: number, now: time)
        endpoint.core.connectFailed(number, "late", now: time)
        endpoint.core.peerFinished(number, now: time)
        endpoint.core.disconnected(number, .peerClosed, now: time)
        if state(endpoint) != before { fail("\(endpoint.name) heeds news of connection \(number.value), which is gone") }
    }

    private func state(_ endpoint: SimEndpoint) -> [Int] {
        let kept = endpoint.core.kept
        return [
            endpoint.core.pendingMessages, endpoint.core.unsettledMessages, endpoint.core.outputByteCount, kept.unhandedBytes, kept.events,
            endpoint.core.hasActions ? 1 : 0, endpoint.core.isOpen ? 1 : 0, Int(endpoint.core.connection.value),
        ]
    }
}
