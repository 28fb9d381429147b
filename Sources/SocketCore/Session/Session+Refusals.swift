/// Why a place isn't dialled again until the session has stood.
struct PlaceRefusal {
    let text: String
    /// Whether it takes the router's being seen there once more to give up: somebody else may have its address while it's away. A refused
    /// certificate ends it where the router isn't seen elsewhere.
    let takesSighting: Bool
}

extension Session {
    /// A certificate was refused, ours or the peer's. Where somebody can say where else the router may be, that is asked for once; a place
    /// that refused before is the end.
    func refused(_ error: TLSError, _ now: Instant) {
        defer { flushLater() }
        guard resolver != nil, let endpoint, refusals[endpoint] == nil else {
            return core.giveUp(streamNumber, .refused(error.description), now: now)
        }
        refusals[endpoint] = PlaceRefusal(text: error.description, takesSighting: false)
        core.connectFailed(streamNumber, error.description, now: now)
        core.disconnected(streamNumber, .transport(error.description), now: now)
    }

    /// After each read: a session that stands forgets all refusals, and one that was turned down by a hello notes where.
    func noteGreeting() {
        if core.isOpen {
            if !refusals.isEmpty { refusals = [:] }
        } else if let reason = core.greetingRefusal, let endpoint, refusals[endpoint] == nil {
            refusals[endpoint] = PlaceRefusal(text: reason.description, takesSighting: true)
        }
    }
}
