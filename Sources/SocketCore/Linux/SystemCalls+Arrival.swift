import CLinux
import Glibc

extension SystemCalls {
    /// The interface by which the last segment of an accepted connection's handshake came: Linux notes it in the connection, in the place
    /// that multicast uses otherwise. 0 where it can't be told.
    static func arrivalInterface(_ descriptor: Int32) -> UInt32 {
        // Of an IPv6 socket, also one that serves an IPv4 peer, it is the interface of outgoing multicast.
        var index: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        if getsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_IF, &index, &length) == 0 { return UInt32(bitPattern: index) }
        // Of an IPv4 socket it stands in a control message, in the same form as with a datagram.
        guard (try? setOption(descriptor, Int32(IPPROTO_IP), IP_PKTINFO, 1)) != nil else { return 0 }
        defer { try? setOption(descriptor, Int32(IPPROTO_IP), IP_PKTINFO, 0) }
        let space = clinux_cmsg_space(MemoryLayout<in_pktinfo>.size)
        return withUnsafeTemporaryAllocation(byteCount: space, alignment: MemoryLayout<cmsghdr>.alignment) { control in
            control.initializeMemory(as: UInt8.self, repeating: 0)
            var length = socklen_t(space)
            guard getsockopt(descriptor, Int32(IPPROTO_IP), IP_PKTOPTIONS, control.baseAddress, &length) == 0 else { return 0 }
            var message = msghdr()
            message.msg_control = control.baseAddress
            message.msg_controllen = Int(length)
            guard let header = clinux_cmsg_first(&message), header.pointee.cmsg_type == IP_PKTINFO else { return 0 }
            let information = UnsafeRawPointer(clinux_cmsg_data(header)).loadUnaligned(as: in_pktinfo.self)
            return UInt32(bitPattern: information.ipi_ifindex)
        }
    }
}
