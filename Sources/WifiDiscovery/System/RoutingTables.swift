import SocketCore

/// Why a table of the kernel couldn't be read.
public enum RoutingTableError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A call failed.
    case system(SystemError)
    /// The kernel refused, with this error number.
    case refused(Int32)
    /// The table changed with each of the tries, or was longer than any that we know.
    case unsteady(tries: Int)

    /// A clause for people.
    public var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .refused(let code): "the kernel refuses: \(SystemError(function: "netlink", code: code).reason)"
        case .unsteady(let tries): "they changed with each of \(tries) tries to read them"
        }
    }
}

extension NetworkFacts {
    /// What the kernel knows now.
    ///
    /// - Throws: ``RoutingTableError``.
    public static func current() throws(RoutingTableError) -> NetworkFacts {
        NetworkFacts(routes: try DefaultGateways.read(), neighbours: try NeighbourTable.read())
    }
}
