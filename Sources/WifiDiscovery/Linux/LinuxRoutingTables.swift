import CLinux
import Glibc
import SocketCore

/// Reads the kernel's neighbour table.
public enum NeighbourTable {
    /// All entries, of both families; also those that nobody has answered for: see ``NeighbourEntry/isUsable``.
    ///
    /// - Throws: ``RoutingTableError``.
    public static func read() throws(RoutingTableError) -> [NeighbourEntry] {
        try RoutingTables.dump(NeighbourEntry.request).compactMap(NeighbourEntry.init)
    }
}

/// Reads the kernel's default routes.
public enum DefaultGateways {
    /// All default routes with a gateway, of both families, the preferred ones first.
    ///
    /// - Throws: ``RoutingTableError``.
    public static func read() throws(RoutingTableError) -> [DefaultRoute] {
        let routes = try RoutingTables.dump(DefaultRoute.request).flatMap(DefaultRoute.all)
        return routes.sorted { ($0.metric, $0.interface) < ($1.metric, $1.interface) }
    }
}

/// Asks for a table until it comes whole.
enum RoutingTables {
    /// A busy machine changes its tables often, but not while each of these is read.
    private static let tries = 4

    static func dump(_ request: (UInt32) -> NetlinkRequest) throws(RoutingTableError) -> [NetlinkMessage] {
        for sequence in 1...UInt32(tries) {
            let request = request(sequence)
            var reply = NetlinkReply(to: request)
            do throws(SystemError) {
                try SystemCalls.netlinkExchange(protocolNumber: NETLINK_ROUTE, request: request.bytes) { reply.take(Array($0)) }
            } catch {
                throw .system(error)
            }
            switch reply.ending {
            case .complete: return reply.messages
            case .refused(let code): throw .refused(code)
            case .interrupted, .overlong, nil: continue
            }
        }
        throw .unsteady(tries: tries)
    }
}
