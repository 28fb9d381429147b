import SocketCore

/// Which connections a router takes that is to be reached over some interfaces only.
///
/// What counts is the interface by which a connection came, not the address that it was made to: whoever is on another network of this
/// machine can send to any address of it. This machine's own connection counts as having come by the interface that has the address.
struct ServedInterfaces: Sendable {
    /// As they are now.
    let interfaces: [NetworkInterface]

    /// Whether to take a connection.
    func admits(_ arrival: StreamArrival) -> Bool {
        if interfaces.contains(where: { $0.index == arrival.interface }) { return true }
        // Where the system doesn't tell how it came, the address is all that there is to go by.
        guard arrival.interface == 0 else { return false }
        return interfaces.contains { $0.addresses.contains { $0.address.unscoped == arrival.local.unscoped } }
    }
}
