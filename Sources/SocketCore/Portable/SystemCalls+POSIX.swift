import Glibc

/// What POSIX promises, in the place of what Linux does better.
extension SystemCalls {
    /// A descriptor that polls as readable once it has been signalled: a UDP socket that is connected to itself, since a pipe would be two.
    static func makeEventDescriptor() throws(SystemError) -> FileDescriptor {
        let descriptor = try socket(AF_INET, Int32(SOCK_DGRAM.rawValue))
        try bind(descriptor.number, to: Endpoint(.loopback, port: 0))
        try connect(descriptor.number, to: try localEndpoint(descriptor.number))
        return descriptor
    }

    /// Wakes whoever polls the event descriptor. A full queue means that it is awake already.
    static func signal(_ descriptor: Int32) {
        var one: UInt8 = 1
        _ = uninterrupted { Glibc.send(descriptor, &one, 1, 0) }
    }

    /// Takes the event descriptor's signals, so that it no longer polls as ready.
    static func drain(_ descriptor: Int32) {
        var byte: UInt8 = 0
        while uninterrupted({ recv(descriptor, &byte, 1, 0) }) >= 0 {}
    }

    /// No name: systems differ in how one is given.
    static func nameThisThread(_ name: String) {}

    /// A non-blocking socket.
    public static func socket(_ family: Int32, _ type: Int32, _ protocolNumber: Int32 = 0) throws(SystemError) -> FileDescriptor {
        let descriptor = FileDescriptor(owning: try check("socket") { Glibc.socket(family, type, protocolNumber) })
        try prepare(descriptor.number)
        return descriptor
    }

    /// In two steps: a child process that is started in between holds a copy.
    private static func prepare(_ descriptor: Int32) throws(SystemError) {
        try check("fcntl") { fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let flags = try check("fcntl") { fcntl(descriptor, F_GETFL) }
        try check("fcntl") { fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
    }

    /// Takes one waiting connection; nil when none waits. A connection that died while it waited counts as none.
    static func accept(_ descriptor: Int32) throws(SystemError) -> (number: Int32, peer: Endpoint)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = uninterrupted {
            withUnsafeMutablePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.accept(descriptor, $0, &length) }
            }
        }
        guard accepted == -1 else {
            try prepare(accepted)
            return Endpoint(storage).map { (accepted, $0) } ?? (accepted, Endpoint(.any, port: 0))
        }
        guard errno == EAGAIN || errno == ECONNABORTED else { throw SystemError(function: "accept", code: errno) }
        return nil
    }

    /// POSIX has no word for it.
    static func arrivalInterface(_ descriptor: Int32) -> UInt32 { 0 }

    /// MSG_NOSIGNAL is POSIX; a system without it sets SO_NOSIGPIPE on the socket.
    static func send(_ descriptor: Int32, _ bytes: RawSpan) throws(SystemError) -> IOOutcome {
        let count = bytes.withUnsafeBytes { raw in
            uninterrupted { Glibc.send(descriptor, raw.baseAddress, raw.count, Int32(MSG_NOSIGNAL)) }
        }
        if count >= 0 { return .moved(count) }
        guard errno == EAGAIN else { throw SystemError(function: "send", code: errno) }
        return .wouldBlock
    }

    /// Sends one datagram. Which interface it leaves by was set on the socket (``Multicast``), and by which address it was bound.
    static func send(
        _ descriptor: Int32, _ bytes: RawSpan, to endpoint: Endpoint, interface: UInt32, source: IPAddress
    ) throws(SystemError) -> IOOutcome {
        let count = bytes.withUnsafeBytes { raw in
            endpoint.withSocketAddress { address, length in
                uninterrupted { sendto(descriptor, raw.baseAddress, raw.count, 0, address, length) }
            }
        }
        if count >= 0 { return .moved(count) }
        guard errno == EAGAIN else { throw SystemError(function: "sendto", code: errno, subject: endpoint.description) }
        return .wouldBlock
    }

    /// Receives one datagram; nil when none waits. A longer one than `buffer` comes cut off.
    static func receiveDatagram(
        _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, from name: UnsafeMutablePointer<sockaddr_storage>
    ) throws(SystemError) -> Int? {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = uninterrupted {
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, $0, &length)
            }
        }
        if count >= 0 { return count }
        guard errno == EAGAIN else { throw SystemError(function: "recvfrom", code: errno) }
        return nil
    }
}
