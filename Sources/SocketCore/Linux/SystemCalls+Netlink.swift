import CLinux
import Glibc

extension SystemCalls {
    /// Sends a request to the kernel and gives every reply datagram to `take` until that answers false.
    ///
    /// Netlink answers are there when the request returns, so that this never blocks for another party; a bound on
    /// waiting (100 ms a datagram) keeps a kernel that answers nothing from holding the caller.
    public static func netlinkExchange(
        protocolNumber: Int32, request: [UInt8], _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(SystemError) {
        let owned = try socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), protocolNumber)
        let descriptor = owned.number
        try check("send") { request.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) } }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard try check("poll", { poll(&waiting, 1, 100) }) > 0 else { throw SystemError(function: "poll", code: ETIMEDOUT) }
            guard case .moved(let count) = try receive(descriptor, into: buffer) else { continue }
            guard take(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else { return }
        }
    }

    /// A netlink socket that hears the given multicast groups; unlike ``netlinkExchange(protocolNumber:request:_:)`` it has an
    /// address, since the kernel passes its own messages over sockets without one.
    static func netlinkListener(protocolNumber: Int32, groups: [UInt32]) throws(SystemError) -> FileDescriptor {
        let descriptor = try socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), protocolNumber)
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        let number = descriptor.number
        try check("bind") {
            withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.bind(number, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
                }
            }
        }
        for group in groups { try setOption(number, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, Int32(bitPattern: group)) }
        return descriptor
    }

    /// An old-style request about one interface (netdevice(7)): the name goes in, and up to 16 bytes come back behind it.
    ///
    /// - Returns: the 16 bytes behind the name.
    /// - Throws: ``SystemError`` about the interface; `EOPNOTSUPP`, `ENOTTY` or `EINVAL` where it knows no such request.
    public static func interfaceRequest(_ request: UInt, about interface: String) throws(SystemError) -> [UInt8] {
        let nameSize = Int(IF_NAMESIZE)
        // struct ifreq is 40 bytes long on 64-bit machines, struct iwreq 32: room for either.
        var buffer = [UInt8](repeating: 0, count: 40)
        for (index, byte) in interface.utf8.prefix(nameSize - 1).enumerated() { buffer[index] = byte }
        let descriptor = try socket(AF_INET, Int32(SOCK_DGRAM.rawValue))
        let result = buffer.withUnsafeMutableBytes { raw in uninterrupted { ioctl(descriptor.number, request, raw.baseAddress!) } }
        guard result != -1 else { throw SystemError(function: "ioctl", code: errno, subject: interface) }
        return Array(buffer[nameSize..<nameSize + 16])
    }
}
