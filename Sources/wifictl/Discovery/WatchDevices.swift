import SocketCore
import WifiDiscovery

/// The devices of other makers in a watch, numbered in the order in which they were found.
struct WatchDevices {
    private var devices: [Int: FoundDevice] = [:]
    private var index = SamenessIndex<Int>()
    private var nextNumber = 0

    var isEmpty: Bool { devices.isEmpty }
    /// All of them, in their order.
    var all: [FoundDevice] { devices.sorted { $0.key < $1.key }.map(\.value) }

    /// The device of that number.
    subscript(number: Int) -> FoundDevice? { devices[number] }

    /// Adds one in place of those that are the same row: devices become one with others, but never share an address.
    ///
    /// - Returns: its number, and those it replaced.
    mutating func put(_ device: FoundDevice) -> (number: Int, replaced: [(number: Int, device: FoundDevice)]) {
        let replaced = remove(device)
        let number = nextNumber
        nextNumber += 1
        devices[number] = device
        index.set(number, device.samenessKeys(Int.self))
        return (number, replaced)
    }

    /// Removes those that are the same row.
    mutating func remove(_ device: FoundDevice) -> [(number: Int, device: FoundDevice)] {
        let addresses = Set(device.device.places.map { SamenessIndex<Int>.Key.address($0.address) })
        return index.sharing(addresses).sorted().compactMap { number in
            index.set(number, [])
            return devices.removeValue(forKey: number).map { (number, $0) }
        }
    }

    /// Those that are this router.
    func same(as router: FoundRouter) -> [(number: Int, device: FoundDevice)] {
        index.sharing(router.samenessKeys(Int.self)).sorted().compactMap { number in
            guard let device = devices[number], device.device.isSame(as: router.discovered) else { return nil }
            return (number, device)
        }
    }

    /// Grades all against another link.
    ///
    /// - Returns: the numbers of those whose grade it changes.
    mutating func grade(against link: Set<MACAddress>) -> [Int] {
        var changed: [Int] = []
        for (number, device) in devices.sorted(by: { $0.key < $1.key }) {
            let now = device.device.grading(link: link)
            guard now != device.grading else { continue }
            devices[number]?.grading = now
            changed.append(number)
        }
        return changed
    }
}
