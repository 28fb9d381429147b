import SocketCore

/// The devices that foreign dialects have shown, each once.
///
/// Two descriptions belong to one device when they came from one place or name the same hardware address; also when one came over
/// IPv4 and the other over IPv6, and they alone share an identity (UPnP's UDN) or the kernel's hardware address. Nothing else
/// joins: gateways that ship with one identity, and those behind an extender that shows one address for all, stay apart.
public struct DialectTable: Sendable {
    /// As many as of the native dialect.
    public static let maximumDevices = DiscoveryBounds.routers
    /// Half of them for one network: an IPv4 address is one device, but a host has as many IPv6 addresses of a /64 as it likes.
    public static let devicesPerNetwork = maximumDevices / 2

    /// What a description changed.
    public enum Change: Equatable, Sendable {
        /// A device that wasn't known.
        case found(DialectDevice)
        /// Another dialect, another place, or other words.
        case updated(DialectDevice)
        /// It said goodbye and is no longer listed.
        case left(DialectDevice)
        /// Nothing new.
        case nothing
        /// The table is full, or the share of the network that it came from.
        case refused
    }

    private enum Key: Hashable {
        case place(DiscoveredRouter.Place)
        case mac(MACAddress)
    }

    /// What two places of one device share, and so may two devices: many ship with one identity, and behind an extender all have
    /// one hardware address in the neighbour table.
    private enum Kin: Hashable {
        case identity(Dialect, String)
        case neighbour(MACAddress)
    }

    /// By number; numbers are given in the order of discovery.
    private var rows: [Int: DialectDevice] = [:]
    private var index: [Key: Int] = [:]
    private var kin: [Kin: Set<Int>] = [:]
    private var nextNumber = 0
    /// Rows by the network of their first place.
    private var networks: [IPAddress: Int] = [:]

    /// An empty table.
    public init() {}

    /// The devices in the order in which they were found.
    public var devices: [DialectDevice] { rows.sorted { $0.key < $1.key }.map(\.value) }

    /// Takes what a datagram said.
    ///
    /// - Parameters:
    ///   - description: what was said.
    ///   - place: where it came from.
    ///   - neighbour: the kernel's hardware address for the place, where it has one.
    ///   - now: the present.
    public mutating func take(
        _ description: DeviceDescription, at place: DiscoveredRouter.Place, neighbour: MACAddress?, now: Instant
    ) -> Change {
        let fresh = DialectDevice(
            places: [place], claimedMACs: description.mac.map { [$0] } ?? [],
            neighbour: neighbour.flatMap { $0.isPlaceholder ? nil : $0 }, descriptions: [description.dialect: description], lastHeard: now)
        let same = rowsOf(fresh)
        guard let first = same.first, let before = rows[first] else {
            if description.isLeaving { return .nothing }
            guard rows.count < DialectTable.maximumDevices,
                networks[place.address.network, default: 0] < DialectTable.devicesPerNetwork
            else { return .refused }
            put(fresh, nextNumber)
            nextNumber += 1
            return .found(fresh)
        }
        if description.isLeaving { return leave(before, first, description.dialect) }
        var device = before
        for other in same.dropFirst() {
            if let absorbed = take(other) { device.absorb(absorbed) }
        }
        DialectTable.update(&device, with: fresh, description)
        put(device, first)
        return DialectTable.isNews(before, device) ? .updated(device) : .nothing
    }

    /// Adds what the kernel has learned since about devices that it knew nothing of.
    ///
    /// - Returns: the devices that gained a hardware address.
    public mutating func complete(neighbours lookup: (DiscoveredRouter.Place) -> MACAddress?) -> [DialectDevice] {
        rows.keys.sorted().compactMap { number in
            guard var device = rows[number], device.neighbour == nil, let found = device.places.lazy.compactMap(lookup).first,
                !found.isPlaceholder
            else { return nil }
            device.neighbour = found
            put(device, number)
            return device
        }
    }

    /// Forgets what was heard last before `limit`, in a watch.
    public mutating func forget(silentSince limit: Instant) -> [DialectDevice] {
        let silent = rows.filter { $0.value.lastHeard < limit }.keys.sorted()
        return silent.compactMap { take($0) }
    }

    /// Forgets the places on an interface's family that is gone.
    ///
    /// - Returns: the devices that had no other place, and those that go on at another one.
    public mutating func forget(interface: UInt32, isV4: Bool) -> (lost: [DialectDevice], updated: [DialectDevice]) {
        var (lost, updated): ([DialectDevice], [DialectDevice]) = ([], [])
        let isGone = { (place: DiscoveredRouter.Place) in place.interface == interface && place.address.isV4 == isV4 }
        for number in rows.keys.sorted() {
            guard var device = rows[number], device.places.contains(where: isGone) else { continue }
            let left = device.places.filter { !isGone($0) }
            guard !left.isEmpty else {
                if let gone = take(number) { lost.append(gone) }
                continue
            }
            device.places = left
            put(device, number)
            updated.append(device)
        }
        return (lost, updated)
    }

    /// The devices that the native dialect hasn't found as well.
    public func beside(_ routers: [DiscoveredRouter]) -> [DialectDevice] {
        devices.filter { device in !routers.contains { device.isSame(as: $0) } }
    }

    /// The rows that show the same device, ascending.
    private func rowsOf(_ fresh: DialectDevice) -> [Int] {
        var found = Set(DialectTable.keys(fresh).compactMap { index[$0] })
        for shared in DialectTable.kin(fresh) {
            guard let sharing = kin[shared], sharing.count == 1, let only = sharing.first, let row = rows[only],
                row.places.allSatisfy({ $0.address.isV4 != fresh.address.isV4 }),
                row.neighbour == nil || fresh.neighbour == nil || row.neighbour == fresh.neighbour
            else { continue }
            found.insert(only)
        }
        return found.sorted()
    }

    private static func keys(_ device: DialectDevice) -> [Key] { device.places.map(Key.place) + device.claimedMACs.map(Key.mac) }

    private static func kin(_ device: DialectDevice) -> [Kin] {
        device.descriptions.filter { !$0.value.identity.isEmpty }.map { Kin.identity($0.key, $0.value.identity) }
            + (device.neighbour.map { [.neighbour($0)] } ?? [])
    }

    private mutating func put(_ device: DialectDevice, _ number: Int) {
        _ = take(number)
        rows[number] = device
        if let first = device.places.first { networks[first.address.network, default: 0] += 1 }
        for key in DialectTable.keys(device) { index[key] = number }
        for shared in DialectTable.kin(device) { kin[shared, default: []].insert(number) }
    }

    /// Takes a row out.
    private mutating func take(_ number: Int) -> DialectDevice? {
        guard let device = rows.removeValue(forKey: number) else { return nil }
        if let network = device.places.first?.address.network, let count = networks[network] {
            networks[network] = count > 1 ? count - 1 : nil
        }
        for key in DialectTable.keys(device) where index[key] == number { index[key] = nil }
        for shared in DialectTable.kin(device) {
            kin[shared]?.remove(number)
            if kin[shared]?.isEmpty == true { kin[shared] = nil }
        }
        return device
    }

    private mutating func leave(_ before: DialectDevice, _ number: Int, _ dialect: Dialect) -> Change {
        var device = before
        guard device.descriptions.removeValue(forKey: dialect) != nil else { return .nothing }
        guard !device.descriptions.isEmpty else {
            _ = take(number)
            return .left(before)
        }
        put(device, number)
        return .updated(device)
    }

    private static func update(_ device: inout DialectDevice, with fresh: DialectDevice, _ description: DeviceDescription) {
        let known = device.descriptions[description.dialect]
        device.absorb(fresh)
        device.descriptions[description.dialect] = known.map { merged($0, description) } ?? description
        // The dialects that know their own devices best name the address that is printed on them.
        let isBest = description.dialect == .ubnt || description.dialect == .mndp && device.descriptions[.ubnt] == nil
        if isBest, let mac = description.mac, let at = device.claimedMACs.firstIndex(of: mac), at > 0 { device.claimedMACs.swapAt(0, at) }
    }

    /// An answer that says less than an earlier one (another service of a device, a description not fetched yet) takes nothing away.
    private static func merged(_ old: DeviceDescription, _ new: DeviceDescription) -> DeviceDescription {
        var result = new
        for field in [\DeviceDescription.name, \.vendor, \.model, \.firmware, \.identity] where result[keyPath: field].isEmpty {
            result[keyPath: field] = old[keyPath: field]
        }
        result.mac = new.mac ?? old.mac
        for bssid in old.bssids where !result.bssids.contains(bssid) && result.bssids.count < DeviceDescription.maximumBSSIDs {
            result.bssids.append(bssid)
        }
        let added = new.services.filter { !old.services.contains($0) }
        result.services = Array((old.services + added).prefix(DeviceDescription.maximumServices))
        // Of several names in one dialect the first stays: a device with three services would change its name with every answer.
        if new.dialect == .mdns, !old.name.isEmpty { result.name = old.name }
        result.location = new.location ?? old.location
        result.uptime = new.uptime ?? old.uptime
        result.isRouter = new.isRouter || old.isRouter
        return result
    }

    private static func isNews(_ before: DialectDevice, _ after: DialectDevice) -> Bool {
        var (left, right) = (before, after)
        left.lastHeard = right.lastHeard
        for dialect in Dialect.allCases {
            left.descriptions[dialect]?.uptime = nil
            right.descriptions[dialect]?.uptime = nil
        }
        return left != right
    }
}
