import SocketCore

/// Weighs ``DoctorFacts``: which of them explain that discovery fails. The order is that of looking: from the cable up.
enum Diagnosis {
    static func findings(_ facts: DoctorFacts) -> [DoctorFinding] {
        facts.interfaces.filter { !$0.flags.contains(.loopback) }.map { interface($0, facts) } + [network(facts)] + routes(facts)
            + facts.probes.sorted { $0.key < $1.key }.map { selfProbe($0.key, $0.value, facts) } + [firewall(facts), port(facts)]
            + wifi(facts) + isolation(facts) + [limits(facts), others(facts)]
            + facts.unread.sorted { $0.key < $1.key }.map {
                DoctorFinding(.limits, $0.key, .unknown, "\($0.key) can't be read: \($0.value)")
            }
    }

    // MARK: Interfaces and routes

    private static func interface(_ interface: NetworkInterface, _ facts: DoctorFacts) -> DoctorFinding {
        let kind = facts.kinds[interface.name] ?? .wired
        let addresses = interface.addresses.map { "\($0.address.unscoped)" }.joined(separator: ", ")
        let name = { (verdict: DoctorFinding.Verdict, detail: String, advice: String) in
            DoctorFinding(.interface, interface.name, verdict, detail, advice: advice)
        }
        switch interface.obstacle {
        case .down:
            let isNeeded = facts.interfaces.allSatisfy { $0.obstacle != nil }
            return name(.note, "\(kind.words), switched off", isNeeded ? "ip link set \(interface.name) up" : "")
        case .noCarrier:
            return name(.note, "\(kind.words), no carrier", kind == .wifi ? "connect to a network" : "plug the cable in at both ends")
        case .noAddress: return name(.note, "\(kind.words), up but without address", "is there a DHCP server? give it an address")
        case .pointToPoint:
            return name(.note, "\(kind.words) to one other machine: not scanned", "name it with --interface to scan it all the same")
        case .unicastOnly:
            return name(.note, "\(kind.words), carries neither multicast nor broadcast: not scanned", "ask a router with --to ADDRESS")
        case .loopback: return name(.fine, "this machine itself", "")
        case nil: break
        }
        let v4 = interface.addresses.filter(\.address.isV4)
        if !v4.isEmpty, v4.allSatisfy(\.address.isLinkLocal) {
            return name(
                .note, "\(kind.words), only a self-assigned address (\(addresses))",
                "no DHCP server answered: routers that answer by IPv4 see a stranger; check cable, network and DHCP")
        }
        switch kind {
        case .bridge, .virtual:
            return name(.note, "\(kind.words) (\(addresses)): scanned, but behind it are containers or virtual machines, as a rule", "")
        case .tunnel: return name(.note, "\(kind.words) (\(addresses)): what lies beyond is no LAN", "leave the VPN if it hides the LAN")
        default: return name(.fine, "\(kind.words), up (\(addresses))", "")
        }
    }

    private static func network(_ facts: DoctorFacts) -> DoctorFinding {
        let usable = facts.interfaces.filter { $0.obstacle == nil }
        let real = usable.filter { [.wired, .wifi].contains(facts.kinds[$0.name] ?? .wired) }
        guard !usable.isEmpty else {
            let own = facts.isLoopbackScanned ? facts.interfaces.filter { $0.obstacle == .loopback }.map(\.name) : []
            guard own.isEmpty else {
                let words = "scanned: \(own.joined(separator: ", ")), which is this machine alone"
                return facts.isNarrowed
                    ? DoctorFinding(.network, "", .fine, words)
                    : DoctorFinding(
                        .network, "", .cause, "no network to scan; \(words)", advice: "connect to the router's network by cable or Wi-Fi")
            }
            return DoctorFinding(
                .network, "", .cause, "no interface can be scanned", advice: "connect to the router's network by cable or Wi-Fi")
        }
        let names = (real.isEmpty ? usable : real).map(\.name).joined(separator: ", ")
        let hasAddress = real.contains { interface in interface.addresses.contains { !$0.address.isLinkLocal } }
        if !real.isEmpty, !hasAddress {
            return DoctorFinding(
                .network, "", .cause, "no interface has an address of a LAN (\(names))",
                advice: "check that the router's DHCP server answers")
        }
        return DoctorFinding(.network, "", .fine, "scanned: \(names)")
    }

    private static func routes(_ facts: DoctorFacts) -> [DoctorFinding] { gateways(facts) + multicast(facts) }

    /// Probes name the interface that they leave by, so that they need no route for multicast; other programs do.
    private static func multicast(_ facts: DoctorFacts) -> [DoctorFinding] {
        switch facts.multicastRoute {
        case .unread: return []
        case .none:
            return [
                DoctorFinding(
                    .route, "multicast", .note, "the kernel has no route for the group: probes name their interface and need none",
                    advice: "for other programs: ip route add 224.0.0.0/4 dev INTERFACE")
            ]
        case .by(let index):
            let name = facts.names[index] ?? "interface \(index)"
            return [
                DoctorFinding(.route, "multicast", .fine, "by itself the kernel would send to the group by \(name); probes leave by each")
            ]
        }
    }

    private static func gateways(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard let first = facts.gateways.first else {
            return [
                DoctorFinding(
                    .route, "", .note, "no default gateway: which router leads out isn't known",
                    advice: "fine on a network of its own; else check DHCP")
            ]
        }
        let name = facts.names[first.interface] ?? "interface \(first.interface)"
        let isTunnel = facts.kinds[name] == .tunnel
        return [
            isTunnel
                ? DoctorFinding(
                    .route, "", .note, "the default route leads through \(name), a tunnel; the LAN is scanned beside it",
                    advice: "some VPNs block the LAN: leave the VPN if nothing is found")
                : DoctorFinding(.route, "", .fine, "gateway \(first.gateway.unscoped) on \(name)")
        ]
    }

    // MARK: The way of a datagram

    private static func selfProbe(_ interface: String, _ probes: DoctorFacts.Probes, _ facts: DoctorFacts) -> DoctorFinding {
        if case .refused(let reason) = probes.unicast {
            return DoctorFinding(
                .selfProbe, interface, .cause, "the system refuses to send to its own address: \(reason)",
                advice: "a sandbox forbids it: run outside of it")
        }
        switch (probes.group, probes.reply) {
        case (.arrived, .arrived) where probes.unicast == .lost:
            return DoctorFinding(
                .selfProbe, interface, .cause, "multicast comes back, but unicast to this machine's own address is swallowed",
                advice: filterAdvice(facts))
        case (.arrived, .arrived):
            return DoctorFinding(
                .selfProbe, interface, .fine, "a datagram to the group comes back, one to our own address arrives, and so would replies")
        case (.refused(let reason), _), (_, .refused(let reason)):
            return DoctorFinding(
                .selfProbe, interface, .cause, "the system refuses to send or hear multicast: \(reason)",
                advice: "a sandbox or a filter forbids it: run outside of it, or ask a router with --to ADDRESS")
        case (.lost, .lost):
            return DoctorFinding(
                .selfProbe, interface, .cause, "a datagram to the group is swallowed on this machine", advice: filterAdvice(facts))
        case (.lost, .arrived):
            return DoctorFinding(
                .selfProbe, interface, .cause, "a datagram to UDP port \(facts.port) is swallowed on this machine",
                advice: filterAdvice(facts))
        case (.arrived, .lost):
            return DoctorFinding(
                .selfProbe, interface, .cause, "probes get out, but replies to our ports are swallowed on this machine",
                advice: filterAdvice(facts))
        }
    }

    private static func filterAdvice(_ facts: DoctorFacts) -> String {
        let whose = facts.firewalls.isEmpty ? "the firewall" : facts.firewalls.joined(separator: " or ")
        return "let \(whose) accept UDP from source port \(facts.port) on this interface"
    }

    private static func firewall(_ facts: DoctorFacts) -> DoctorFinding {
        let running = facts.firewalls.isEmpty ? "" : " (\(facts.firewalls.joined(separator: ", ")) is set up)"
        switch facts.filter {
        case .none: return DoctorFinding(.firewall, "", .fine, "the kernel filters nothing\(running)")
        case .unreadable:
            return DoctorFinding(
                .firewall, "", .unknown, "its rules can't be read by this user\(running); the self-probe shows what they do",
                advice: "run as root to see the rules")
        case .chains(let chains):
            let dropping = chains.filter(\.drops)
            if chains.isEmpty { return DoctorFinding(.firewall, "", .fine, "no rules for incoming or outgoing datagrams\(running)") }
            guard let first = dropping.first else {
                return DoctorFinding(.firewall, "", .fine, "\(chains.count) chains, none of them drops by itself\(running)")
            }
            let direction = first.hook == .input ? "incoming" : "outgoing"
            return DoctorFinding(
                .firewall, "", .note, "table \(first.table) drops \(direction) datagrams that no rule allows\(running)",
                advice: filterAdvice(facts))
        }
    }

    private static func port(_ facts: DoctorFacts) -> DoctorFinding {
        guard !facts.holders.isEmpty else { return DoctorFinding(.port, "", .fine, "UDP \(facts.port) is free") }
        let names = Set(facts.holders.map { $0.process ?? "a process of user \($0.uid)" }).sorted().joined(separator: ", ")
        return DoctorFinding(
            .port, "", .note, "UDP \(facts.port) is held by \(names)",
            advice: "scanning doesn't need it; a router on this machine does: stop that program, or use --port")
    }

    // MARK: Wi-Fi and neighbours

    private static func wifi(_ facts: DoctorFacts) -> [DoctorFinding] {
        guard !facts.wireless.interfaces.isEmpty else {
            return [DoctorFinding(.wifi, "", .note, "\(facts.wireless.unknown ?? .noInterface)")]
        }
        return facts.wireless.interfaces.map { interface in
            switch interface.association {
            case .success(let association):
                let parts: [String?] = [
                    association.ssid.map { $0.isHidden ? "hidden network" : "\"\($0)\"" },
                    association.bssids.map(\.description).joined(separator: " + "), association.band.map { "\($0) GHz" },
                    association.signal.map { "\(Int($0.rounded())) dBm" },
                ]
                let weak = (association.signal ?? 0) < weakSignal
                return DoctorFinding(
                    .wifi, interface.name, weak ? .note : .fine, "connected to " + parts.compactMap { $0 }.joined(separator: ", "),
                    advice: weak ? "the signal is weak: replies may get lost; go nearer, or scan longer with --for" : "")
            case .failure(let reason): return DoctorFinding(.wifi, interface.name, .note, "\(reason)")
            }
        }
    }

    /// dBm below which multicast, which is never repeated on the air, gets lost noticeably.
    private static let weakSignal = -75.0

    /// Client isolation: the access point lets its stations talk to the gateway and to nobody else.
    private static func isolation(_ facts: DoctorFacts) -> [DoctorFinding] {
        facts.gateways.filter(\.gateway.isV4).compactMap { route in
            guard let interface = facts.interfaces.first(where: { $0.index == route.interface }), interface.obstacle == nil else {
                return nil
            }
            let entries = facts.neighbours.filter { $0.interface == route.interface && $0.address.isV4 }
            let others = entries.filter { $0.address != route.gateway && ($0.isUsable || $0.isSilent) }
            let gateway = entries.filter { $0.address == route.gateway }
            guard gateway.contains(where: \.isUsable) else {
                guard !gateway.isEmpty else {
                    return DoctorFinding(
                        .isolation, interface.name, .unknown,
                        "whether the gateway \(route.gateway) answers isn't known: the kernel hasn't asked for it",
                        advice: "does ping \(route.gateway) work?")
                }
                return DoctorFinding(
                    .isolation, interface.name, .cause, "the gateway \(route.gateway) doesn't answer",
                    advice: "is it switched on? does ping \(route.gateway) work?")
            }
            if others.count >= silentNeighbours, !others.contains(where: \.isUsable) {
                return DoctorFinding(
                    // A cable isolates nobody, as a rule: there the neighbours are more likely switched off.
                    .isolation, interface.name, facts.kinds[interface.name] == .wifi ? .cause : .note,
                    "the gateway answers, and none of \(others.count) neighbours does: the access point seems to isolate its clients",
                    advice: "guest networks do: use the main network, or switch client isolation off")
            }
            return DoctorFinding(
                .isolation, interface.name, .fine,
                others.contains(where: \.isUsable) ? "gateway and neighbours answer" : "the gateway answers; no other neighbour is known")
        }
    }

    /// One neighbour that is switched off proves nothing.
    private static let silentNeighbours = 2

    private static func limits(_ facts: DoctorFacts) -> DoctorFinding {
        // A reply takes about this much of a receive buffer, with the kernel's own administration.
        let perReply = 2_304
        guard let largest = facts.largestBuffer else { return DoctorFinding(.limits, "", .unknown, "net.core.rmem_max can't be read") }
        let replies = 2 * largest / perReply
        return replies >= 1_000
            ? DoctorFinding(.limits, "", .fine, "room for \(replies) replies at once")
            : DoctorFinding(
                .limits, "", .note, "room for \(replies) replies at once: enough unless hundreds of routers answer",
                advice: "sysctl -w net.core.rmem_max=4194304 for such networks")
    }

    private static func others(_ facts: DoctorFacts) -> DoctorFinding {
        guard !facts.others.isEmpty else {
            return DoctorFinding(
                .others, "", .note, "nobody answers in SSDP, mDNS, MNDP or Ubiquiti's dialect: proves nothing, but shows nothing either")
        }
        let shown = facts.others.prefix(3).map { "\($0.name) (\($0.device.dialects.map(\.rawValue).joined(separator: ", ")))" }
        let rest = facts.others.count > shown.count ? " and \(facts.others.count - shown.count) more" : ""
        return DoctorFinding(.others, "", .fine, "the network carries discovery: \(shown.joined(separator: "; "))\(rest) answered")
    }
}

extension DoctorFacts.Kind {
    fileprivate var words: String {
        switch self {
        case .wired: "wired"
        case .wifi: "Wi-Fi"
        case .bridge: "a bridge"
        case .virtual: "a virtual cable"
        case .tunnel: "a tunnel"
        case .loopback: "loopback"
        }
    }
}

extension NeighbourEntry {
    /// It was asked for and didn't answer (NUD_INCOMPLETE, NUD_FAILED); groups, which are never asked for, don't count.
    fileprivate var isSilent: Bool { state & 0x21 != 0 }
}
