import CLinux
import Glibc

extension SystemCalls {
    /// Sends one datagram; `interface` (0: the routing table's choice) is the one that it leaves by, and `source` the bound
    /// address, which the kernel would forget when an interface is named.
    static func send(
        _ descriptor: Int32, _ bytes: RawSpan, to endpoint: Endpoint, interface: UInt32, source: IPAddress
    ) throws(SystemError) -> IOOutcome {
        let count = bytes.withUnsafeBytes { raw in
            endpoint.withSocketAddress { address, length in
                var vector = iovec(iov_base: UnsafeMutableRawPointer(mutating: raw.baseAddress), iov_len: raw.count)
                return withUnsafeMutablePointer(to: &vector) { vector in
                    var message = msghdr()
                    message.msg_name = UnsafeMutableRawPointer(mutating: address)
                    message.msg_namelen = length
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    return withPacketInfo(&message, interface, source) { message in
                        uninterrupted { sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL)) }
                    }
                }
            }
        }
        if count >= 0 { return .moved(count) }
        guard errno == EAGAIN else { throw SystemError(function: "sendmsg", code: errno, subject: endpoint.description) }
        return .wouldBlock
    }

    /// Adds the control message that names the outgoing interface, where one is named.
    private static func withPacketInfo<R>(
        _ message: inout msghdr, _ interface: UInt32, _ source: IPAddress, _ call: (inout msghdr) -> R
    ) -> R {
        guard interface != 0, case .v4(let sourceBits) = source else { return call(&message) }
        let space = clinux_cmsg_space(MemoryLayout<in_pktinfo>.size)
        return withUnsafeTemporaryAllocation(byteCount: space, alignment: MemoryLayout<cmsghdr>.alignment) { control in
            control.initializeMemory(as: UInt8.self, repeating: 0)
            message.msg_control = control.baseAddress
            message.msg_controllen = space
            if let header = clinux_cmsg_first(&message) {
                header.pointee.cmsg_level = Int32(IPPROTO_IP)
                header.pointee.cmsg_type = IP_PKTINFO
                header.pointee.cmsg_len = clinux_cmsg_len(MemoryLayout<in_pktinfo>.size)
                var info = in_pktinfo()
                info.ipi_ifindex = Int32(bitPattern: interface)
                info.ipi_spec_dst.s_addr = sourceBits.bigEndian
                UnsafeMutableRawPointer(clinux_cmsg_data(header)).storeBytes(of: info, as: in_pktinfo.self)
            }
            defer {
                message.msg_control = nil
                message.msg_controllen = 0
            }
            return call(&message)
        }
    }

    /// Receives as many waiting datagrams as `messages` has places for.
    ///
    /// - Returns: how many; 0 when none waits.
    static func receiveMany(
        _ descriptor: Int32, into messages: UnsafeMutableBufferPointer<clinux_mmsghdr>
    ) throws(SystemError) -> Int {
        let count = uninterrupted { recvmmsg(descriptor, messages.baseAddress, UInt32(messages.count), 0, nil) }
        if count >= 0 { return Int(count) }
        guard errno == EAGAIN else { throw SystemError(function: "recvmmsg", code: errno) }
        return 0
    }
}
