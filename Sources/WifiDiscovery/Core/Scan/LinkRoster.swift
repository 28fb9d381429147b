import SocketCore

/// Which sockets a scan needs, as interfaces come and go.
///
/// An interface that is away for less than ``grace`` keeps its sockets, and so the routers behind it: a cable is moved, an association
/// is between two access points.
///
/// Inputs: ``update(_:now:)`` with what is there, ``failed(_:)``. Query: ``deadline``, the time for ``due(now:)``.
struct LinkRoster {
    /// As long as a roam takes at most.
    static let grace = LinkWatch.grace

    /// A socket of an interface.
    struct Key: Hashable, Comparable {
        var interface: UInt32
        var isV4: Bool

        static func < (left: Key, right: Key) -> Bool {
            (left.interface, left.isV4 ? 0 : 1) < (right.interface, right.isV4 ? 0 : 1)
        }
    }

    /// What a socket is for. Another address, or another name, makes it another one for the routers as well.
    struct Need: Equatable {
        var key: Key
        var name: String
        /// Where it's bound.
        var bind: IPAddress
        /// The interface's addresses that matter for it.
        var addresses: [IPAddress]
        /// Directed broadcast addresses.
        var broadcasts: [IPAddress]
    }

    /// What is to be done.
    enum Step: Equatable {
        /// Open a socket and ask.
        case open(Need)
        /// Ask anew by the socket that is there.
        case renew(Need)
        /// Close it.
        case close(Key, name: String)
    }

    private struct Entry {
        var need: Need
        var awaySince: Instant?
    }

    private var entries: [Key: Entry] = [:]

    /// When the first grace is over; nil when nothing is away.
    var deadline: Instant? { entries.values.compactMap(\.awaySince).min().map { $0 + LinkRoster.grace } }

    /// Takes what is needed now.
    mutating func update(_ needs: [Need], now: Instant) -> [Step] {
        var steps: [Step] = []
        for need in needs {
            let known = entries.updateValue(Entry(need: need), forKey: need.key)
            guard let known else {
                steps.append(.open(need))
                continue
            }
            if known.awaySince != nil || known.need != need { steps.append(.renew(need)) }
        }
        let present = Set(needs.map(\.key))
        for key in entries.keys where !present.contains(key) && entries[key]?.awaySince == nil { entries[key]?.awaySince = now }
        return steps + due(now: now)
    }

    /// What has been away for too long.
    mutating func due(now: Instant) -> [Step] {
        let gone = entries.filter { $0.value.awaySince.map { now - $0 >= LinkRoster.grace } ?? false }
        for key in gone.keys { entries[key] = nil }
        return gone.sorted { $0.key < $1.key }.map { .close($0.key, name: $0.value.need.name) }
    }

    /// The socket couldn't be opened; the next update tries again.
    mutating func failed(_ key: Key) { entries[key] = nil }

    /// Whether any socket of the interface is left.
    func holds(_ interface: UInt32) -> Bool { entries.keys.contains { $0.interface == interface } }
}
