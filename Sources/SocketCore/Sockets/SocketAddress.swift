import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// `Endpoint` to and from the kernel's `sockaddr`.
extension Endpoint {
    /// Calls `body` with the address as the kernel wants it.
    func withSocketAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        switch address {
        case .v4(let bits):
            var native = sockaddr_in()
            native.sin_family = sa_family_t(AF_INET)
            native.sin_port = port.bigEndian
            native.sin_addr.s_addr = bits.bigEndian
            return withUnsafePointer(to: native) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
            }
        case .v6(let high, let low, let scope):
            var native = sockaddr_in6()
            native.sin6_family = sa_family_t(AF_INET6)
            native.sin6_port = port.bigEndian
            native.sin6_scope_id = scope
            native.sin6_addr = in6_addr(high: high, low: low)
            return withUnsafePointer(to: native) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
            }
        }
    }

    /// Reads what the kernel filled in; nil for another family than IP.
    init?(_ storage: sockaddr_storage) {
        let endpoint = withUnsafePointer(to: storage) { Endpoint($0) }
        guard let endpoint else { return nil }
        self = endpoint
    }

    /// Reads an address of any family; nil for another one than IP.
    init?(_ storage: UnsafePointer<sockaddr_storage>) {
        let raw = UnsafeRawPointer(storage)
        switch Int32(storage.pointee.ss_family) {
        case AF_INET:
            let native = raw.loadUnaligned(as: sockaddr_in.self)
            self.init(.v4(UInt32(bigEndian: native.sin_addr.s_addr)), port: UInt16(bigEndian: native.sin_port))
        case AF_INET6:
            let native = raw.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = native.sin6_addr.halves
            let port = UInt16(bigEndian: native.sin6_port)
            // ::ffff:a.b.c.d: an IPv4 peer of a socket that hears both families.
            let isMapped = high == 0 && low >> 32 == 0xFFFF
            let v6 = IPAddress.v6(high: high, low: low, scope: native.sin6_scope_id)
            self.init(isMapped ? .v4(UInt32(truncatingIfNeeded: low)) : v6, port: port)
        default: return nil
        }
    }
}

extension in6_addr {
    /// From two host-order halves.
    init(high: UInt64, low: UInt64) {
        self.init()
        withUnsafeMutableBytes(of: &self) {
            $0.storeBytes(of: high.bigEndian, toByteOffset: 0, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }

    /// As two host-order halves.
    var halves: (high: UInt64, low: UInt64) {
        withUnsafeBytes(of: self) {
            (
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}
