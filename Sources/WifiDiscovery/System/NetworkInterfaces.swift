import Glibc
import SocketCore

#if canImport(CLinux)
    import CLinux
#endif

/// Reads the machine's interfaces.
public enum NetworkInterfaces {
    /// All of them, by index, each with its addresses.
    ///
    /// - Throws: `SystemError` of `getifaddrs`.
    public static func current() throws(SystemError) -> [NetworkInterface] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { throw SystemError(function: "getifaddrs", code: errno) }
        defer { freeifaddrs(list) }
        var found: [String: NetworkInterface] = [:]
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let name = String(cString: entry.ifa_name)
            var interface =
                found[name] ?? NetworkInterface(index: if_nametoindex(entry.ifa_name), name: name, flags: flags(entry.ifa_flags))
            add(entry, to: &interface)
            found[name] = interface
        }
        // An interface that vanished meanwhile has no index any more.
        return found.values.filter { $0.index != 0 }.map(sorted).sorted { $0.index < $1.index }
    }

    private static func add(_ entry: ifaddrs, to interface: inout NetworkInterface) {
        guard let address = entry.ifa_addr else { return }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            guard let value = internetAddress(address) else { return }
            let mask = internetAddress(entry.ifa_netmask)
            let broadcasts = interface.flags.contains(.broadcast)
            let broadcast = broadcasts ? internetAddress(broadcastAddress(entry)) : nil
            interface.addresses.append(.init(value, prefixLength: prefixLength(mask, ifMissing: 32), broadcast: broadcast))
        case AF_INET6:
            guard let value = internetAddress(address) else { return }
            let mask = internetAddress(entry.ifa_netmask)
            interface.addresses.append(.init(value.scoped(to: interface.index), prefixLength: prefixLength(mask, ifMissing: 128)))
        default: if let mac = hardwareAddress(address) { interface.mac = mac }
        }
    }

    private static func internetAddress(_ address: UnsafePointer<sockaddr>?) -> IPAddress? {
        guard let address else { return nil }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: return .v4(UInt32(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            let octets = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
            return IPAddress(family: UInt8(AF_INET6), octets: octets)
        default: return nil
        }
    }

    private static func prefixLength(_ mask: IPAddress?, ifMissing length: Int) -> Int {
        switch mask {
        case .v4(let bits): (~bits).leadingZeroBitCount
        case .v6(let high, let low, _): ~high == 0 ? 64 + (~low).leadingZeroBitCount : (~high).leadingZeroBitCount
        case nil: length
        }
    }

    /// IPv4 first; otherwise the system's order, which puts the primary address first.
    private static func sorted(_ interface: NetworkInterface) -> NetworkInterface {
        var copy = interface
        copy.addresses = interface.addresses.filter(\.address.isV4) + interface.addresses.filter { !$0.address.isV4 }
        return copy
    }
}
