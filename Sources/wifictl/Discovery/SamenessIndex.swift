import SocketCore
import WifiDiscovery

/// Finds routers and devices again by what two of them have in common when they're one: an address or a hardware address. With thousands
/// of both, looking through all at each event would take the time of their square.
struct SamenessIndex<ID: Hashable> {
    /// What may be shared.
    enum Key: Hashable {
        case address(IPAddress)
        case mac(MACAddress)
    }

    private var ids: [Key: Set<ID>] = [:]
    private var keys: [ID: Set<Key>] = [:]

    /// From now on that one has these keys.
    mutating func set(_ id: ID, _ now: Set<Key>) {
        for key in keys[id, default: []].subtracting(now) {
            ids[key]?.remove(id)
            if ids[key]?.isEmpty == true { ids[key] = nil }
        }
        for key in now { ids[key, default: []].insert(id) }
        keys[id] = now.isEmpty ? nil : now
    }

    /// All that have one of the keys.
    func sharing(_ some: Set<Key>) -> Set<ID> { some.reduce(into: []) { $0.formUnion(ids[$1] ?? []) } }
}

extension FoundRouter {
    /// What a device that is this router may share with it; whether it is, `isSame` says.
    func samenessKeys<ID>(_: ID.Type) -> Set<SamenessIndex<ID>.Key> {
        let macs = [mac] + discovered.router.radios.map(\.bssid) + discovered.router.mld
        return Set(macs.map { .mac($0) } + ([discovered.place] + discovered.alternates).map { .address($0.address) })
    }
}

extension FoundDevice {
    /// See ``WifiDiscovery/FoundRouter/samenessKeys(_:)``.
    func samenessKeys<ID>(_: ID.Type) -> Set<SamenessIndex<ID>.Key> {
        Set(device.claimedMACs.map { .mac($0) } + device.places.map { .address($0.address) })
    }
}
