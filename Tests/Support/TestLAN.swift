import Foundation
import Glibc
import Synchronization

/// A LAN of this machine's own: a bridge, and one network namespace a host, joined by veth pairs. Needs root, `ip` and
/// (for ``filter(_:_:)``) `nft`.
///
/// Everything lies in namespaces called `wd<pid>-<host>` (`wd<pid>x2-<host>` for the second LAN of a process), the bridge
/// too, so that nothing of the machine's own network is touched and removing the namespaces removes everything.
public final class TestLAN: Sendable {
    /// A further interface of a host.
    public struct NIC: Sendable {
        /// Such as `eth1`.
        public let name: String
        /// Its MAC, colon form.
        public let mac: String
        /// IPv4 addresses with prefix length; with none it is up and has no address at all, not even an IPv6 one.
        public let addresses: [String]
        /// The switch that it is plugged into.
        public let plug: String

        /// An interface.
        public init(_ name: String, mac: String, addresses: [String] = [], plug: String) {
            self.name = name
            self.mac = mac
            self.addresses = addresses
            self.plug = plug
        }
    }

    /// A host to be: an interface `eth0`, and others where wanted.
    public struct Host: Sendable {
        /// Short (12 characters at most), letters and digits.
        public let name: String
        /// The interface's MAC, colon form.
        public let mac: String
        /// IPv4 addresses with prefix length, such as `192.0.2.1/24`.
        public let addresses: [String]
        /// The IPv4 default gateway.
        public let gateway: String?
        /// The switch that it is plugged into.
        public let plug: String
        /// Its interfaces beside `eth0`.
        public let others: [NIC]

        /// A host; its IPv6 link-local address follows from its MAC (``linkLocal``).
        public init(
            _ name: String, mac: String, addresses: [String] = [], gateway: String? = nil, plug: String = "lan", others: [NIC] = []
        ) {
            self.name = name
            self.mac = mac
            self.addresses = addresses
            self.gateway = gateway
            self.plug = plug
            self.others = others
        }

        /// The IPv6 link-local address, without scope (RFC 4291, appendix A).
        public var linkLocal: String {
            var octets = mac.split(separator: ":").compactMap { UInt16($0, radix: 16) }
            octets[0] ^= 2
            let groups = [octets[0] << 8 | octets[1], octets[2] << 8 | 0xFF, 0xFE00 | octets[3], octets[4] << 8 | octets[5]]
            return "fe80::" + groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
    }

    /// A bridge between the main switch `lan` and the hosts plugged into it: a child access point, seen from its wires.
    public struct Bridge: Sendable {
        /// Short, letters and digits; what hosts name in `plug`.
        public let name: String
        /// The bridge's own MAC.
        public let mac: String
        /// Not joined to the main switch: a second LAN.
        public let isApart: Bool

        /// A bridge.
        public init(_ name: String, mac: String, isApart: Bool = false) {
            self.name = name
            self.mac = mac
            self.isApart = isApart
        }
    }

    /// Whether this process may and should build LANs: root, and `WIFI_LAN_TESTS=1` in the environment.
    public static var isWanted: Bool { getuid() == 0 && ProcessInfo.processInfo.environment["WIFI_LAN_TESTS"] == "1" }

    private static let count = Atomic<Int>(0)

    /// The hosts, as given.
    public let hosts: [Host]
    private let prefix: String
    private let names: [String]

    /// Removes what dead processes left, then builds the LAN. Returns once every link is up.
    ///
    /// - Throws: ``CommandError`` with what `ip` said; nothing is left behind then.
    public init(_ hosts: [Host], bridges: [Bridge] = []) async throws {
        let number = TestLAN.count.add(1, ordering: .relaxed).newValue
        prefix = "wd\(getpid())" + (number == 1 ? "" : "x\(number)") + "-"
        self.hosts = hosts
        names = ["lan"] + bridges.map(\.name) + hosts.map(\.name)
        try await TestLAN.sweep()
        do {
            try await runCommand(["sh", "-ec", script(bridges)], mustSucceed: true)
        } catch {
            await remove()
            throw error
        }
    }

    /// Builds a LAN for the time of `body` and removes it whatever comes of that.
    ///
    /// - Throws: ``CommandError``, and what `body` throws.
    public static func with(
        _ hosts: [Host], bridges: [Bridge] = [], _ body: (TestLAN) async throws -> Void
    ) async throws {
        let lan = try await TestLAN(hosts, bridges: bridges)
        do {
            try await body(lan)
        } catch {
            await lan.remove()
            throw error
        }
        await lan.remove()
    }

    /// The network namespace of a host or bridge.
    public func namespace(_ name: String) -> String { prefix + name }

    /// Runs a command on a host to its end.
    ///
    /// - Throws: ``CommandError``.
    @discardableResult
    public func run(
        _ host: String, _ words: [String], input: [UInt8] = [], environment: [String: String] = [:], within limit: Duration = .seconds(60),
        mustSucceed: Bool = false
    ) async throws -> CommandResult {
        try await runCommand(inside(host, words), input: input, environment: environment, within: limit, mustSucceed: mustSucceed)
    }

    /// Starts a command on a host.
    ///
    /// - Throws: ``CommandError/start(command:reason:)``.
    public func start(_ host: String, _ words: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(inside(host, words), environment: environment)
    }

    /// Pulls the host's cable: its interface loses its carrier.
    public func unplug(_ host: String) async throws { try await setPort(of: host, "down") }

    /// Plugs it in again.
    public func plug(_ host: String) async throws { try await setPort(of: host, "up") }

    /// Loads an nftables ruleset on a host, in place of the one before.
    public func filter(_ host: String, _ ruleset: String) async throws {
        try await run(host, ["nft", "-f", "-"], input: Array("flush ruleset\n\(ruleset)\n".utf8), mustSucceed: true)
    }

    /// Drops that share of what a host receives by UDP and TCP (nftables' `numgen`; the kernel needn't have netem); 0 ends it.
    public func lose(_ host: String, percent: Int, of match: String = "meta l4proto { tcp, udp }") async throws {
        let rule = percent > 0 ? "\(match) numgen random mod 100 <= \(percent - 1) drop" : ""
        try await filter(host, "table inet loss { chain arriving { type filter hook input priority 0; \(rule); }; }")
    }

    /// Ends every process on the LAN and removes it.
    public func remove() async {
        await TestLAN.remove(names.map { prefix + $0 })
    }

    private func inside(_ host: String, _ words: [String]) -> [String] { ["ip", "netns", "exec", namespace(host)] + words }

    private func setPort(of name: String, _ direction: String) async throws {
        guard let host = hosts.first(where: { $0.name == name }) else {
            throw CommandError.start(command: "ip link set \(direction)", reason: "no host \(name) on this LAN")
        }
        try await runCommand(["ip", "-n", namespace(host.plug), "link", "set", "p-\(name)", direction], mustSucceed: true)
    }
}

// MARK: - Building and removing

extension TestLAN {
    private func script(_ bridges: [Bridge]) -> String {
        var lines = switchLines("lan", mac: nil)
        for bridge in bridges {
            lines += switchLines(bridge.name, mac: bridge.mac)
            guard !bridge.isApart else { continue }
            lines += [
                "ip link add p-\(bridge.name) netns \(namespace("lan")) type veth peer name uplink netns \(namespace(bridge.name))",
                "ip -n \(namespace("lan")) link set p-\(bridge.name) master br0 up",
                "ip -n \(namespace(bridge.name)) link set uplink master br0 up",
            ]
        }
        return (lines + hosts.flatMap(hostLines)).joined(separator: "\n")
    }

    private func switchLines(_ name: String, mac: String?) -> [String] {
        let space = namespace(name)
        // No snooping: on a LAN without a multicast querier, a snooping bridge would sooner or later stop forwarding.
        let address = mac.map { "address \($0) " } ?? ""
        return [
            "ip netns add \(space)",
            "ip -n \(space) link add br0 \(address)type bridge forward_delay 0 mcast_snooping 0",
            "ip -n \(space) link set br0 up",
        ]
    }

    private func hostLines(_ host: Host) -> [String] {
        let space = namespace(host.name)
        var lines = [
            "ip netns add \(space)",
            "ip -n \(space) link set lo up",
            "ip link add p-\(host.name) netns \(namespace(host.plug)) type veth peer name eth0 netns \(space) address \(host.mac)",
            // The address is set by hand and without duplicate detection, so that it can be used at once.
            "ip -n \(space) link set eth0 addrgenmode none",
            "ip -n \(namespace(host.plug)) link set p-\(host.name) master br0 up",
            "ip -n \(space) link set eth0 up",
            "ip -n \(space) address add \(host.linkLocal)/64 dev eth0 nodad",
        ]
        lines += host.addresses.map { "ip -n \(space) address add \($0) brd + dev eth0" }
        for nic in host.others { lines += nicLines(nic, of: host) }
        if let gateway = host.gateway { lines.append("ip -n \(space) route add default via \(gateway)") }
        return lines
    }

    private func nicLines(_ nic: NIC, of host: Host) -> [String] {
        let (space, hub, port) = (namespace(host.name), namespace(nic.plug), "p-\(host.name)-\(nic.name)")
        return [
            "ip link add \(port) netns \(hub) type veth peer name \(nic.name) netns \(space) address \(nic.mac)",
            "ip -n \(space) link set \(nic.name) addrgenmode none",
            "ip -n \(hub) link set \(port) master br0 up",
            "ip -n \(space) link set \(nic.name) up",
        ] + nic.addresses.map { "ip -n \(space) address add \($0) brd + dev \(nic.name)" }
    }

    /// Removes the namespaces of processes that no longer live.
    private static func sweep() async throws {
        let listed = try await runCommand(["ip", "netns", "list"], mustSucceed: true)
        let names = listed.lines.compactMap { $0.split(separator: " ").first.map(String.init) }
        await remove(names.filter { owner(of: $0).map { kill($0, 0) != 0 && errno == ESRCH } ?? false })
    }

    /// The process that made a namespace of this name; nil for names that aren't ours.
    static func owner(of namespace: String) -> Int32? {
        guard namespace.hasPrefix("wd"), let dash = namespace.firstIndex(of: "-") else { return nil }
        let parts = namespace[..<dash].dropFirst(2).split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ Int32($0) != nil }) else { return nil }
        return parts.first.flatMap { Int32($0) }
    }

    private static func remove(_ namespaces: [String]) async {
        guard !namespaces.isEmpty else { return }
        // Processes first: a namespace lives on, nameless, as long as one process is inside.
        let script = namespaces.map { name in
            "for process in $(ip netns pids \(name) 2>/dev/null); do kill -9 $process 2>/dev/null; done; ip netns delete \(name) 2>/dev/null"
        }.joined(separator: "\n")
        // Namespaces that were never made are not there to be removed: no failure here is one.
        _ = try? await runCommand(["sh", "-c", script])
    }
}
