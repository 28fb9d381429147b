import CLinux
import Glibc
import SocketCore

/// What `getifaddrs` tells in Linux's own way.
extension NetworkInterfaces {
    /// `struct sockaddr_ll`: the address's length at offset 11, the address at 12.
    static func hardwareAddress(_ address: UnsafePointer<sockaddr>) -> MACAddress? {
        guard Int32(address.pointee.sa_family) == AF_PACKET else { return nil }
        let raw = UnsafeRawPointer(address)
        guard raw.load(fromByteOffset: 11, as: UInt8.self) == 6 else { return nil }
        let octets = [UInt8](UnsafeRawBufferPointer(start: raw + 12, count: 6))
        return MACAddress(octets: octets).flatMap { $0.isUsableAsDevice ? $0 : nil }
    }

    static func broadcastAddress(_ entry: ifaddrs) -> UnsafePointer<sockaddr>? { UnsafePointer(entry.ifa_ifu.ifu_broadaddr) }

    static func flags(_ bits: UInt32) -> NetworkInterface.Flags {
        let names: [(Int, NetworkInterface.Flags)] = [
            (IFF_UP, .up), (IFF_RUNNING, .running), (IFF_LOOPBACK, .loopback), (IFF_POINTOPOINT, .pointToPoint),
            (IFF_MULTICAST, .multicast), (IFF_BROADCAST, .broadcast),
        ]
        return names.reduce(into: []) { flags, name in if Int(bits) & name.0 != 0 { flags.insert(name.1) } }
    }
}
