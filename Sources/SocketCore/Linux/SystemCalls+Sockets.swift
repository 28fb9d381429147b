import CLinux
import Glibc

/// What Linux does in one call where POSIX takes two: descriptors that are non-blocking and close-on-exec from birth, writes without SIGPIPE.
extension SystemCalls {
    /// A non-blocking socket.
    public static func socket(_ family: Int32, _ type: Int32, _ protocolNumber: Int32 = 0) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            owning: try check("socket") {
                Glibc.socket(family, type | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), protocolNumber)
            })
    }

    /// Takes one waiting connection; nil when none waits. A connection that died while it waited counts as none.
    static func accept(_ descriptor: Int32) throws(SystemError) -> (number: Int32, peer: Endpoint)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = uninterrupted {
            withUnsafeMutablePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    accept4(descriptor, $0, &length, Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue))
                }
            }
        }
        guard accepted == -1 else { return Endpoint(storage).map { (accepted, $0) } ?? (accepted, Endpoint(.any, port: 0)) }
        switch errno {
        case EAGAIN, ECONNABORTED, EPROTO, ENETDOWN, ENETUNREACH, EHOSTUNREACH, EHOSTDOWN, ENOPROTOOPT, ENONET, EOPNOTSUPP: return nil
        default: throw SystemError(function: "accept4", code: errno)
        }
    }

    static func send(_ descriptor: Int32, _ bytes: RawSpan) throws(SystemError) -> IOOutcome {
        let count = bytes.withUnsafeBytes { raw in uninterrupted { Glibc.send(descriptor, raw.baseAddress, raw.count, Int32(MSG_NOSIGNAL)) }
        }
        if count >= 0 { return .moved(count) }
        guard errno == EAGAIN else { throw SystemError(function: "send", code: errno) }
        return .wouldBlock
    }
}
