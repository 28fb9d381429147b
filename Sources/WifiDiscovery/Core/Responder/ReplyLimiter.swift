import SocketCore

/// How often a router may answer: 10 times a second a source and 200 times a second over all (protocol.md, section 4), in
/// any second, not just from one full second to the next. A host has as many IPv6 addresses of a /64 as it likes: all of one get
/// ``perNetworkAndSecond``, so that other controllers, and the same ones by IPv4, are still answered.
///
/// A reply takes a place when it is decided on and gives it back one second after it left, so waiting replies count too
/// and memory is bounded by ``perSecond``.
struct ReplyLimiter {
    static let perSourceAndSecond = 10
    static let perSecond = 200
    /// Half of all: on one LAN every honest controller has the same /64, and they share it.
    static let perNetworkAndSecond = perSecond / 2
    private static let span: Duration = .seconds(1)

    private var counts: [IPAddress: Int] = [:]
    private var networks: [IPAddress: Int] = [:]
    private var total = 0
    private var sent: [(source: IPAddress, at: Instant)] = []
    private var firstSent = 0

    /// Takes a place; false when there is none.
    mutating func admit(_ source: IPAddress, now: Instant) -> Bool {
        while firstSent < sent.count, now - sent[firstSent].at >= ReplyLimiter.span {
            release(sent[firstSent].source)
            firstSent += 1
        }
        if firstSent == sent.count {
            sent.removeAll()
            firstSent = 0
        } else if firstSent > ReplyLimiter.perSecond {
            sent.removeFirst(firstSent)
            firstSent = 0
        }
        guard total < ReplyLimiter.perSecond, counts[source, default: 0] < ReplyLimiter.perSourceAndSecond,
            networks[source.network, default: 0] < ReplyLimiter.perNetworkAndSecond
        else { return false }
        total += 1
        counts[source, default: 0] += 1
        networks[source.network, default: 0] += 1
        return true
    }

    /// The reply left.
    mutating func left(_ source: IPAddress, now: Instant) { sent.append((source, now)) }

    /// The reply will never leave.
    mutating func release(_ source: IPAddress) {
        total -= 1
        ReplyLimiter.lower(&counts, source)
        ReplyLimiter.lower(&networks, source.network)
    }

    private static func lower(_ counts: inout [IPAddress: Int], _ key: IPAddress) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}

/// Probes that were already seen, so that one that came by the group and by broadcast is answered once.
struct ProbeMemory {
    /// More than a router may answer in the time for which they are remembered.
    static let capacity = 4096
    /// As long as the nonce is good for.
    static let lifetime: Duration = .seconds(10)

    struct Key: Hashable {
        var source: Endpoint
        var nonce: HexToken
    }

    private var seen: Set<Key> = []
    private var order: [(key: Key, at: Instant)] = []
    private var first = 0

    /// True when the probe is new.
    mutating func insert(_ key: Key, now: Instant) -> Bool {
        while first < order.count, order.count - first >= ProbeMemory.capacity || now - order[first].at > ProbeMemory.lifetime {
            seen.remove(order[first].key)
            first += 1
        }
        if first > ProbeMemory.capacity || first == order.count {
            order.removeFirst(first)
            first = 0
        }
        guard seen.insert(key).inserted else { return false }
        order.append((key, now))
        return true
    }
}
