import CLinux
import Glibc

extension Multicast {
    /// Asks for the arrival interface of each datagram, and for the socket's own groups alone: Linux delivers those that any other socket
    /// of the machine has joined as well.
    static func prepareReception(_ descriptor: Int32, isV4: Bool) throws(SystemError) {
        if isV4 {
            try SystemCalls.setOption(descriptor, Int32(IPPROTO_IP), IP_PKTINFO, 1)
            try SystemCalls.setOption(descriptor, Int32(IPPROTO_IP), IP_MULTICAST_ALL, 0)
        } else {
            try SystemCalls.setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_RECVPKTINFO, 1)
            try SystemCalls.setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_MULTICAST_ALL, 0)
        }
    }
}
