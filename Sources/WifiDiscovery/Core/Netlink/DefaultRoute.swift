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

    /// Asks for all routes, of both families.
    static func request(sequence: UInt32) -> NetlinkRequest {
        NetlinkRequest(type: 26, isDump: true, sequence: sequence, head: [UInt8](repeating: 0, count: bodyByteCount))
    }

    private static let newRoute: UInt16 = 24
    private static let bodyByteCount = 12
    private static let unicast: UInt8 = 1
    /// One next hop of several: length, flags, hops, interface index; then its attributes.
    private static let hopByteCount = 8

    /// Reads one message of the answer: the default routes that it holds, none for any other message.
    static func all(in message: NetlinkMessage) -> [DefaultRoute] {
        let body = message.payload
        guard message.type == newRoute, let family = body.first, body.native(UInt8.self, at: 1) == 0,
            body.native(UInt8.self, at: 7) == unicast
        else { return [] }
        let attributes = NetlinkAttributes(body.dropFirst(bodyByteCount))
        let metric = attributes[6]?.uint32 ?? 0
        var hops = [(attributes[4]?.uint32, attributes[5]?.value)]
        var rest = attributes[9]?.value ?? []
        while let length = rest.native(UInt16.self, at: 0).map(Int.init), length >= hopByteCount, length <= rest.count {
            let gateway = NetlinkAttributes(rest.prefix(length).dropFirst(hopByteCount))[5]?.value
            hops.append((rest.native(UInt32.self, at: 4), gateway))
            rest = rest.dropFirst(NetlinkAttributes.aligned(length))
        }
        return hops.compactMap { interface, octets in
            guard let interface, let octets, let gateway = IPAddress(family: family, octets: Array(octets)), !gateway.isUnspecified else {
                return nil
            }
            return DefaultRoute(gateway: gateway.scoped(to: interface), interface: interface, metric: metric)
        }
    }
}

/// Which way the kernel would send to one address (RTM_GETROUTE without a dump, linux/rtnetlink.h).
struct RouteQuestion {
    private static let newRoute: UInt16 = 24
    private static let bodyByteCount = 12
    private static let family: UInt8 = 2
    private static let destination: UInt16 = 1
    private static let outgoing: UInt16 = 4

    /// Asks about an IPv4 address.
    static func request(_ bits: UInt32, sequence: UInt32) -> NetlinkRequest {
        var head = [UInt8](repeating: 0, count: bodyByteCount)
        (head[0], head[1]) = (family, 32)
        var request = NetlinkRequest(type: 26, isDump: false, sequence: sequence, head: head)
        request.add(destination, bits.bigEndian)
        return request
    }

    /// The interface that the answer names; nil for any other message.
    static func interface(in message: NetlinkMessage) -> UInt32? {
        guard message.type == newRoute else { return nil }
        return NetlinkAttributes(message.payload.dropFirst(bodyByteCount))[outgoing]?.uint32
    }
}
