import SocketCore

/// Why a table of the kernel couldn't be read.
public enum RoutingTableError: Error, Equatable, Sendable {
    /// A call failed.
    case system(SystemError)
    /// The kernel refused, with this error number.
    case refused(Int32)
    /// The table changed with each of the tries, or was longer than any that we know.
    case unsteady(tries: Int)
}

extension NetworkFacts {
    /// What the kernel knows now.
    ///
    /// - Throws: ``RoutingTableError``.
    public static func current() throws(RoutingTableError) -> NetworkFacts {
        NetworkFacts(routes: try DefaultGateways.read(), neighbours: try NeighbourTable.read())
    }
}
