import SocketCore

/// Whose news a session's event is.
public struct SessionSource: Hashable, Sendable {
    /// The router.
    public var mac: MACAddress
    /// The session with it.
    public var session: SessionIdentifier
    /// The router's boot, as it said last in this session; nil before it first stood, and of a plain device.
    public var boot: String?
    /// Where the router was reached last in this session; nil before it first stood.
    public var peer: Endpoint?

    /// Names a session.
    ///
    /// - Parameters:
    ///   - mac: the router.
    ///   - session: the session with it.
    ///   - opening: what was agreed when it last stood.
    public init(_ mac: MACAddress, _ session: SessionIdentifier, _ opening: SessionOpening?) {
        self.mac = mac
        self.session = session
        boot = opening?.router?.identity.boot
        peer = opening?.peer
    }

    /// The same, once it has told this.
    public mutating func hear(_ event: SessionEvent) {
        switch event {
        case .state(.open(let opening)), .state(.resumed(let opening)): self = SessionSource(mac, session, opening)
        default: break
        }
    }
}
