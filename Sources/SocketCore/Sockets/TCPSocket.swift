import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// Making TCP sockets with the options that this toolkit wants.
enum TCPSocket {
    /// Connections waiting to be accepted; the kernel lowers it to its own bound (net.core.somaxconn).
    static let backlog: Int32 = 4_096

    /// A socket on its way to `endpoint`; it becomes writable when the connection stands or has failed.
    static func connect(to endpoint: Endpoint) throws(SystemError) -> FileDescriptor {
        let descriptor = try make(for: endpoint)
        try SystemCalls.connect(descriptor.number, to: endpoint)
        return descriptor
    }

    /// A socket that accepts connections on `endpoint`; port 0 lets the kernel choose.
    static func listen(on endpoint: Endpoint) throws(SystemError) -> FileDescriptor {
        let descriptor = try make(for: endpoint)
        // A router that restarts must get its port back though connections of its former life linger in TIME_WAIT.
        try SystemCalls.setOption(descriptor.number, SOL_SOCKET, SO_REUSEADDR, 1)
        // On `::` both families are heard, so that one port serves a controller whichever way it came.
        if !endpoint.address.isV4 {
            let isV6Only: Int32 = endpoint.address.isUnspecified ? 0 : 1
            try SystemCalls.setOption(descriptor.number, Int32(IPPROTO_IPV6), IPV6_V6ONLY, isV6Only)
        }
        try SystemCalls.bind(descriptor.number, to: endpoint)
        try SystemCalls.listen(descriptor.number, backlog: backlog)
        return descriptor
    }

    /// Frames are gathered a tick at a time already; holding them back for more would only delay receipts (RFC 896).
    static func disableCoalescing(_ descriptor: borrowing FileDescriptor) throws(SystemError) {
        try SystemCalls.setOption(descriptor.number, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    private static func make(for endpoint: Endpoint) throws(SystemError) -> FileDescriptor {
        let descriptor = try SystemCalls.socket(endpoint.address.isV4 ? AF_INET : AF_INET6, Int32(SOCK_STREAM.rawValue))
        try disableCoalescing(descriptor)
        return descriptor
    }
}
