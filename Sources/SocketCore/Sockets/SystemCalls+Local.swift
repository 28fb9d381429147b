import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// Sockets between processes of this machine, found by a path (unix(7)).
extension SystemCalls {
    /// The longest path that a socket's address takes, in bytes, without the NUL behind it.
    static let longestLocalPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// A socket that accepts connections at `path`, which must not exist yet; only its owner may connect.
    static func listenLocal(_ path: String) throws(SystemError) -> FileDescriptor {
        let descriptor = try socket(AF_UNIX, Int32(SOCK_STREAM.rawValue))
        try withLocalAddress(path) { address, length throws(SystemError) in
            do throws(SystemError) { try check("bind") { Glibc.bind(descriptor.number, address, length) } } catch {
                throw error.about(path)
            }
        }
        // Nobody can connect before listen(), so that the mode is right in time.
        try check("chmod") { chmod(path, 0o600) }
        try listen(descriptor.number, backlog: 64)
        return descriptor
    }

    /// A connection to the socket at `path`. It stands at once or not at all; `EAGAIN` means that too many wait there.
    static func connectLocal(_ path: String) throws(SystemError) -> FileDescriptor {
        let descriptor = try socket(AF_UNIX, Int32(SOCK_STREAM.rawValue))
        try withLocalAddress(path) { address, length throws(SystemError) in
            do throws(SystemError) { try check("connect") { Glibc.connect(descriptor.number, address, length) } } catch {
                throw error.about(path)
            }
        }
        return descriptor
    }

    private static func withLocalAddress(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SystemError) -> Void
    ) throws(SystemError) {
        let bytes = Array(path.utf8)
        guard bytes.count <= longestLocalPath else { throw SystemError(function: "bind", code: ENAMETOOLONG, subject: path) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        var failure: SystemError?
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                do throws(SystemError) { try body(generic, socklen_t(MemoryLayout<sockaddr_un>.size)) } catch { failure = error }
            }
        }
        if let failure { throw failure }
    }
}
