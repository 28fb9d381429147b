import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// The multicast options of a UDP socket, by RFC 3493 and BSD's names for IPv4; what else a system has or needs is in its own folder.
enum Multicast {
    /// One hop: discovery never leaves the link (protocol.md, section 4).
    static let hopLimit: Int32 = 1

    /// Sets hop limit, outgoing interface and loopback, and what the system needs for arrival interfaces to be told.
    static func prepare(_ descriptor: Int32, isV4: Bool, interface: UInt32) throws(SystemError) {
        try prepareReception(descriptor, isV4: isV4)
        if isV4 {
            let level = Int32(IPPROTO_IP)
            try SystemCalls.setOption(descriptor, level, IP_MULTICAST_TTL, hopLimit)
            // A router and a controller on one machine must hear each other.
            try SystemCalls.setOption(descriptor, level, IP_MULTICAST_LOOP, 1)
            if interface != 0 { try SystemCalls.setOption(descriptor, level, IP_MULTICAST_IF, structure: request(interface)) }
        } else {
            let level = Int32(IPPROTO_IPV6)
            try SystemCalls.setOption(descriptor, level, IPV6_V6ONLY, 1)
            try SystemCalls.setOption(descriptor, level, IPV6_MULTICAST_HOPS, hopLimit)
            try SystemCalls.setOption(descriptor, level, IPV6_MULTICAST_LOOP, 1)
            if interface != 0 { try SystemCalls.setOption(descriptor, level, IPV6_MULTICAST_IF, Int32(bitPattern: interface)) }
        }
    }

    /// Joins a group on one interface. Joined already counts as joined.
    static func join(_ descriptor: Int32, _ group: IPAddress, interface: UInt32) throws(SystemError) {
        do throws(SystemError) {
            switch group {
            case .v4(let bits):
                var membership = request(interface)
                membership.imr_multiaddr.s_addr = bits.bigEndian
                try SystemCalls.setOption(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, structure: membership)
            case .v6(let high, let low, _):
                let membership = ipv6_mreq(ipv6mr_multiaddr: in6_addr(high: high, low: low), ipv6mr_interface: interface)
                try SystemCalls.setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_JOIN_GROUP, structure: membership)
            }
        } catch {
            if error.code != EADDRINUSE { throw error.about("\(group)") }
        }
    }

    /// By index: Linux and Darwin both know this structure.
    private static func request(_ interface: UInt32) -> ip_mreqn {
        var request = ip_mreqn()
        request.imr_ifindex = Int32(bitPattern: interface)
        return request
    }
}
