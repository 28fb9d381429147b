import SocketCore

/// Which connections a router takes that is to be reached over some interfaces only.
///
/// What counts is the interface by which a connection came, not the address that it was made to: whoever is on another network of this
/// machine can send to any address of it.
struct ServedInterfaces: Sendable {
    /// By name, as the user gave them.
    let names: Set<String>

    /// Whether to take a connection.
    ///
    /// - Parameters:
    ///   - arrival: how it came.
    ///   - interfaces: those that there are now.
    func admits(_ arrival: StreamArrival, among interfaces: [NetworkInterface]) -> Bool {
        guard !names.isEmpty else { return true }
        let served = interfaces.filter { names.contains($0.name) }
        if served.contains(where: { $0.index == arrival.interface }) { return true }
        // This machine's own connection to one of its addresses comes by loopback, whatever interface has the address. Where the system
        // doesn't tell how it came, the address is all that there is to go by.
        let isOwn = interfaces.first { $0.index == arrival.interface }?.flags.contains(.loopback) ?? (arrival.interface == 0)
        return isOwn && served.contains { $0.addresses.contains { $0.address.unscoped == arrival.local.unscoped } }
    }
}
