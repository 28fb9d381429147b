import CLinux
import Glibc

/// The few calls that the wire is made of, all on loopback and none that blocks.
enum WireSocket {
    static func listen(_ port: UInt16) -> Int32? {
        let descriptor = fresh()
        set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        let isOpen = withAddress(port) { Glibc.bind(descriptor, $0, $1) } == 0 && Glibc.listen(descriptor, 64) == 0
        if isOpen { return descriptor }
        Glibc.close(descriptor)
        return nil
    }

    static func accept(_ listening: Int32) -> Int32? {
        let descriptor = accept4(listening, nil, nil, flags)
        guard descriptor >= 0 else { return nil }
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        return descriptor
    }

    /// On its way; writable when it stands or has failed.
    static func connect(_ port: UInt16) -> Int32 {
        let descriptor = fresh()
        set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        // How it ends is seen by writing.
        _ = withAddress(port) { Glibc.connect(descriptor, $0, $1) }
        return descriptor
    }

    static func hasFailed(_ descriptor: Int32) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &length) != 0 || value != 0
    }

    /// nil: nothing now; empty: the end; a failure: broken.
    static func read(_ descriptor: Int32, _ most: Int) throws(WireBroken) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: most)
        let count = recv(descriptor, &buffer, most, 0)
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return nil }
            throw WireBroken()
        }
        return Array(buffer.prefix(count))
    }

    static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) throws(WireBroken) -> Int {
        let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw WireBroken()
    }

    static func close(_ descriptor: Int32, resets: Bool) {
        if resets {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        Glibc.close(descriptor)
    }

    /// Calls don't block, and no child that another test starts inherits it.
    static let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

    private static func fresh() -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | flags, 0)
        precondition(descriptor >= 0, "the test has descriptors left")
        return descriptor
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}

/// The connection is gone.
struct WireBroken: Error {}
