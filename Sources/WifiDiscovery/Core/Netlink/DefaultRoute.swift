import SocketCore

/// A default route with a gateway (`rtmsg`, linux/rtnetlink.h).
///
///     offset  size  field
///     0       1     family: 2 IPv4, 10 IPv6
///     1       1     prefix length of the destination: 0 for a default route
///     4       1     table
///     7       1     kind: 1 unicast
///     12      -     attributes: 4 interface, 5 gateway, 6 metric, 9 several next hops
public struct DefaultRoute: Hashable, Sendable {
    /// The gateway; link-local IPv6 with its scope.
    public var gateway: IPAddress
    /// The index of the interface that leads to it.
    public var interface: UInt32
    /// The smaller the preferred.
    public var metric: UInt32

    /// A route.
    public init(gateway: IPAddress, interface: UInt32, metric: UInt32) {
        self.gateway = gateway
        self.interface = interface
        self.metric = metric
    }

    private static let newRoute: UInt16 = 24
    private static let bodyByteCount = 12
    private static let unicast: UInt8 = 1
    /// One next hop of several: length, flags, hops, interface index.
    private static let hopByteCount = 8

    /// Reads one message of a dump: the default routes that it holds, none for any other message.
    ///
    /// - Throws: ``NetlinkError/badLength(offset:declared:have:)``.
    public static func read(type: UInt16, _ payload: NetlinkBytes) throws(NetlinkError) -> [DefaultRoute] {
        guard type == newRoute, let family = payload.number(at: 0, as: UInt8.self), payload.number(at: 1, as: UInt8.self) == 0,
            payload.number(at: 7, as: UInt8.self) == unicast
        else { return [] }
        var metric: UInt32 = 0
        var hops: [Hop] = [Hop()]
        try payload.attributes(from: bodyByteCount) { kind, value throws(NetlinkError) in
            switch kind {
            case 4: hops[0].interface = value.number(at: 0, as: UInt32.self)
            case 5: hops[0].gateway = IPAddress(family: family, octets: value.copy)
            case 6: metric = value.number(at: 0, as: UInt32.self) ?? 0
            case 9: hops += try readHops(value, family: family)
            default: break
            }
        }
        return hops.compactMap { hop in
            guard let gateway = hop.gateway, let interface = hop.interface, !gateway.isUnspecified else { return nil }
            return DefaultRoute(gateway: gateway.scoped(to: interface), interface: interface, metric: metric)
        }
    }

    private struct Hop {
        var interface: UInt32?
        var gateway: IPAddress?
    }

    private static func readHops(_ bytes: NetlinkBytes, family: UInt8) throws(NetlinkError) -> [Hop] {
        var hops: [Hop] = []
        try bytes.records(from: 0, headerByteCount: hopByteCount) { record throws(NetlinkError) in
            var hop = Hop(interface: record.number(at: 4, as: UInt32.self))
            try record.attributes(from: hopByteCount) { kind, value in
                if kind == 5 { hop.gateway = IPAddress(family: family, octets: value.copy) }
            }
            hops.append(hop)
        }
        return hops
    }
}
