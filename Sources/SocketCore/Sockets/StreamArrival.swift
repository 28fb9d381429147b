/// By which way a connection came to a listener.
public struct StreamArrival: Equatable, Sendable {
    /// The other side.
    public var peer: Endpoint
    /// The address of this machine that it was made to.
    public var local: IPAddress
    /// The interface that it came in by; 0 where the system doesn't tell.
    public var interface: UInt32

    /// An arrival.
    ///
    /// - Parameters:
    ///   - peer: the other side.
    ///   - local: this machine's address.
    ///   - interface: the interface's number, 0 for unknown.
    public init(peer: Endpoint, local: IPAddress, interface: UInt32) {
        self.peer = peer
        self.local = local
        self.interface = interface
    }
}
