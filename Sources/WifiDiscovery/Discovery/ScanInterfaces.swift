import SocketCore

/// Which interfaces a scan or a responder uses, and why not the others.
struct ScanInterfaces {
    var usable: [NetworkInterface]
    /// Why not, by name.
    var unusable: [String: String]

    /// Those that were named, whatever they are; else all that can hold a LAN, and this machine alone where there's none
    /// or where one of `targets` is on it.
    ///
    /// In mid-watch an interface that was named may be gone for now, and this machine alone is no place to go on.
    ///
    /// - Throws: ``DiscoveryError``.
    static func choose(
        _ names: [String], reaching targets: [IPAddress] = [], inMidWatch: Bool = false
    ) throws(DiscoveryError) -> ScanInterfaces {
        let all: [NetworkInterface]
        do throws(SystemError) { all = try NetworkInterfaces.current() } catch { throw .system(error) }
        guard names.isEmpty else { return try named(names, of: all, inMidWatch) }
        var chosen = ScanInterfaces(usable: all.filter { $0.obstacle == nil }, unusable: [:])
        for interface in all {
            if let obstacle = interface.obstacle, obstacle != .loopback { chosen.unusable[interface.name] = obstacle.reason }
        }
        if !targets.isEmpty, targets.allSatisfy(\.isLoopback) { chosen.usable = [] }
        if chosen.usable.isEmpty && !inMidWatch || targets.contains(where: \.isLoopback) {
            chosen.usable += all.filter { $0.obstacle == .loopback }
        }
        return chosen
    }

    private static func named(
        _ names: [String], of all: [NetworkInterface], _ inMidWatch: Bool
    ) throws(DiscoveryError) -> ScanInterfaces {
        var chosen = ScanInterfaces(usable: [], unusable: [:])
        for name in names {
            guard let interface = all.first(where: { $0.name == name }) else {
                guard !inMidWatch else { continue }
                throw .noSuchInterface(name, known: all.map(\.name))
            }
            switch interface.obstacle {
            case nil, .loopback, .pointToPoint, .unicastOnly: chosen.usable.append(interface)
            case .some(let obstacle): chosen.unusable[name] = obstacle.reason
            }
        }
        return chosen
    }
}

extension NetworkInterface.Obstacle {
    /// For people, behind the interface's name: "is down".
    public var reason: String {
        switch self {
        case .down: "is down"
        case .noCarrier: "has no carrier"
        case .noAddress: "has no address"
        case .unicastOnly: "carries neither multicast nor broadcast"
        case .pointToPoint: "is a tunnel to one other machine"
        case .loopback: "leads to this machine only"
        }
    }
}

extension NetworkInterface {
    /// The address that a socket for group traffic binds to: on loopback the kernel would otherwise choose another
    /// interface's address as source.
    var bindAddressV4: IPAddress? {
        guard let first = addresses.first(where: \.address.isV4) else { return nil }
        return flags.contains(.loopback) ? first.address : .any
    }

    /// Whether an IPv6 socket makes sense: link-local addresses are what the group needs.
    var hasLinkLocalV6: Bool { addresses.contains { !$0.address.isV4 && $0.address.isLinkLocal } }

    /// What a socket of that family needs of it; nil where it has no address of the family.
    func need(isV4: Bool) -> LinkRoster.Need? {
        let fitting = addresses.map(\.address).filter { $0.isV4 == isV4 }
        guard !fitting.isEmpty, let bind = isV4 ? bindAddressV4 : .anyV6 else { return nil }
        return LinkRoster.Need(
            key: LinkRoster.Key(interface: index, isV4: isV4), name: name, bind: bind,
            // Global IPv6 addresses come and go for privacy's sake, and matter to nobody here.
            addresses: fitting.filter { isV4 || $0.isLinkLocal }, broadcasts: isV4 ? broadcasts : [])
    }
}
