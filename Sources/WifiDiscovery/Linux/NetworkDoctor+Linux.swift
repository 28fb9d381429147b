import CLinux
import Glibc
import SocketCore

/// What only Linux tells a doctor: sysfs, /proc, nf_tables.
extension NetworkDoctor {
    static func multicastRoute(_ group: IPAddress) throws(RoutingTableError) -> DoctorFacts.MulticastRoute {
        guard case .v4(let bits) = group else { return .unread }
        do throws(RoutingTableError) {
            let answer = try RoutingTables.dump { RouteQuestion.request(bits, sequence: $0) }
            return answer.lazy.compactMap(RouteQuestion.interface).first.map { .by($0) } ?? .none
        } catch {
            // Unreachable, prohibited, thrown away: the kernel's ways to say that there is none.
            if case .refused = error { return .none }
            throw error
        }
    }

    /// From what the kernel tells in sysfs: names prove nothing, anybody can rename an interface.
    static func kind(_ interface: NetworkInterface) -> DoctorFacts.Kind {
        let folder = "/sys/class/net/\(interface.name)"
        if interface.flags.contains(.loopback) { return .loopback }
        if SystemFiles.exists("\(folder)/phy80211") || SystemFiles.exists("\(folder)/wireless") { return .wifi }
        if SystemFiles.exists("\(folder)/tun_flags") || interface.flags.contains(.pointToPoint) { return .tunnel }
        if SystemFiles.exists("\(folder)/bridge") { return .bridge }
        if SystemFiles.text("\(folder)/uevent")?.contains("DEVTYPE=wireguard") == true { return .tunnel }
        // A device behind it makes it real; without one, a name that container tools give tells the rest. In a container the
        // only interface is such a cable too, and is the LAN as far as can be seen from there.
        let isCable = ["veth", "docker", "virbr", "br-", "cni", "vnet"].contains { interface.name.hasPrefix($0) }
        return isCable && !SystemFiles.exists("\(folder)/device") ? .virtual : .wired
    }

    static func holders(of port: UInt16) -> [DoctorFacts.Holder] {
        let lines = ["/proc/net/udp", "/proc/net/udp6"].flatMap { (SystemFiles.text($0) ?? "").split(separator: "\n") }
        let entries = lines.compactMap(UDPTableEntry.init).filter { $0.port == port }
        guard !entries.isEmpty else { return [] }
        let processes = holders(ofSockets: Set(entries.map { "socket:[\($0.inode)]" }))
        return entries.map { DoctorFacts.Holder(process: processes["socket:[\($0.inode)]"], uid: $0.uid) }
    }

    /// The processes that have the sockets, as far as this user may see.
    private static func holders(ofSockets wanted: Set<String>) -> [String: String] {
        var found: [String: String] = [:]
        for process in SystemFiles.names(in: "/proc") ?? [] where UInt32(process) != nil {
            for descriptor in SystemFiles.names(in: "/proc/\(process)/fd") ?? [] {
                guard let target = SystemFiles.link("/proc/\(process)/fd/\(descriptor)"), wanted.contains(target) else { continue }
                let name = SystemFiles.text("/proc/\(process)/comm")?.trimmingASCIISpaces ?? "process"
                found[target] = "\(DisplayText.clean(name, limit: 32)) (\(process))"
            }
        }
        return found
    }

    /// nf_tables' chains, those of iptables' present form among them; reading takes CAP_NET_ADMIN.
    static func filter() -> DoctorFacts.Filter {
        let request = FilterChain.request(1)
        var reply = NetlinkReply(to: request)
        do throws(SystemError) {
            try SystemCalls.netlinkExchange(protocolNumber: NETLINK_NETFILTER, request: request.bytes) { reply.take(Array($0)) }
        } catch {
            // A kernel without netfilter has no such protocol.
            return error.code == EPROTONOSUPPORT ? .none : .unreadable
        }
        if case .refused(let code) = reply.ending { return code == EPERM || code == EACCES ? .unreadable : .none }
        let old = (SystemFiles.text("/proc/net/ip_tables_names") ?? "").split(separator: "\n").contains("filter")
        let chains = reply.messages.compactMap(FilterChain.init)
        // The old iptables' rules can't be listed this way: that they are there is all that can be said.
        return chains.isEmpty && old ? .unreadable : .chains(chains)
    }

    static func firewalls() -> [String] {
        var found: [String] = []
        if SystemFiles.text("/etc/ufw/ufw.conf")?.contains("ENABLED=yes") == true { found.append("ufw") }
        if SystemFiles.exists("/run/firewalld.pid") || SystemFiles.exists("/run/firewalld") { found.append("firewalld") }
        return found
    }

    static func largestBuffer() -> Int? { SystemFiles.text("/proc/sys/net/core/rmem_max").flatMap { Int($0.trimmingASCIISpaces) } }
}
