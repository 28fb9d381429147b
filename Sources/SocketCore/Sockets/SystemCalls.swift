import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// The one place that calls the kernel's socket functions.
///
/// What every caller would otherwise repeat is settled here: EINTR is retried, would-block is a value and no error, no
/// write can raise SIGPIPE, every descriptor is close-on-exec and non-blocking, and every error names its C function.
public enum SystemCalls {
    /// Calls until it isn't interrupted by a signal.
    @inline(__always)
    static func uninterrupted<R: FixedWidthInteger>(_ call: () -> R) -> R {
        while true {
            let result = call()
            if result == -1, errno == EINTR { continue }
            return result
        }
    }

    @inline(__always) @discardableResult
    static func check<R: FixedWidthInteger>(_ function: String, _ call: () -> R) throws(SystemError) -> R {
        let result = uninterrupted(call)
        guard result != -1 else { throw SystemError(function: function, code: errno) }
        return result
    }

    /// Closes; Linux frees the descriptor even when it says EINTR, so that it's never tried twice.
    static func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }

    // MARK: Sockets

    static func bind(_ descriptor: Int32, to endpoint: Endpoint) throws(SystemError) {
        do throws(SystemError) { try check("bind") { endpoint.withSocketAddress { Glibc.bind(descriptor, $0, $1) } } } catch {
            throw error.about(endpoint.description)
        }
    }

    static func listen(_ descriptor: Int32, backlog: Int32) throws(SystemError) {
        try check("listen") { Glibc.listen(descriptor, backlog) }
    }

    /// Begins to connect: the descriptor becomes writable when the connection stands or has failed.
    static func connect(_ descriptor: Int32, to endpoint: Endpoint) throws(SystemError) {
        let result = endpoint.withSocketAddress { Glibc.connect(descriptor, $0, $1) }
        // An interrupted connect goes on in the kernel: its end is seen like that of one under way.
        if result == -1, errno == EINPROGRESS || errno == EINTR { return }
        guard result == 0 else { throw SystemError(function: "connect", code: errno, subject: endpoint.description) }
    }

    /// The error that a connection under way ended in; 0 when it stands.
    static func pendingError(_ descriptor: Int32) throws(SystemError) -> Int32 {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        try check("getsockopt") { getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &length) }
        return value
    }

    static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) throws(SystemError) {
        try setOption(descriptor, level, name, structure: value)
    }

    static func setOption<T>(
        _ descriptor: Int32, _ level: Int32, _ name: Int32, structure: T
    ) throws(SystemError) {
        try check("setsockopt") {
            withUnsafeBytes(of: structure) { setsockopt(descriptor, level, name, $0.baseAddress, socklen_t($0.count)) }
        }
    }

    static func localEndpoint(_ descriptor: Int32) throws(SystemError) -> Endpoint {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        try check("getsockname") {
            withUnsafeMutablePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            }
        }
        guard let endpoint = Endpoint(storage) else { throw SystemError(function: "getsockname", code: EAFNOSUPPORT) }
        return endpoint
    }

    static func shutdownWriting(_ descriptor: Int32) throws(SystemError) {
        try check("shutdown") { shutdown(descriptor, Int32(SHUT_WR)) }
    }

    // MARK: Bytes

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> IOOutcome {
        let count = uninterrupted { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
        if count > 0 { return .moved(count) }
        if count == 0 { return .endOfStream }
        guard errno == EAGAIN else { throw SystemError(function: "recv", code: errno) }
        return .wouldBlock
    }

    /// Whether bytes wait to be received.
    static func hasUnread(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return uninterrupted { recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) } == 1
    }
}
