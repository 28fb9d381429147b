import SocketCore

/// What became of one command at one router of a group.
public struct GroupResult: Sendable {
    /// Which router.
    public var mac: MACAddress
    /// The answer's value, or why there's none: ``CommandError``, ``ManagerError``, or what else kept it from being asked.
    public var result: Result<JSONValue, any Error>

    /// A result.
    public init(mac: MACAddress, result: Result<JSONValue, any Error>) {
        self.mac = mac
        self.result = result
    }
}

/// One command for several routers: exactly one result each, in the order in which they were named.
public struct GroupOutcome: Sendable, CustomStringConvertible {
    /// The results.
    public var results: [GroupResult]

    /// An outcome.
    public init(results: [GroupResult]) { self.results = results }

    /// The routers that answered.
    public var succeeded: [MACAddress] { results.compactMap { if case .success = $0.result { $0.mac } else { nil } } }
    /// The routers that didn't, and why.
    public var failed: [(mac: MACAddress, error: any Error)] {
        results.compactMap { if case .failure(let error) = $0.result { ($0.mac, error) } else { nil } }
    }
    /// All of them answered.
    public var isWhole: Bool { failed.isEmpty }

    /// A sentence for people.
    public var description: String {
        let bad = failed
        let list = bad.prefix(4).map { "\($0.mac): \($0.error)" }.joined(separator: "; ")
        let more = bad.count > 4 ? "; and \(bad.count - 4) more" : ""
        return "\(results.count - bad.count) of \(results.count) routers answered\(bad.isEmpty ? "" : " (\(list)\(more))")"
    }
}

/// Which routers of a group are asked when: a few at a time, each once.
///
/// Ask for ``takeStarts()`` at the beginning and after each ``finished(_:_:)``, until ``outcome`` is there.
public struct CommandGroup: Sendable {
    /// Routers that are asked at a time: sessions cost a handshake each, and the air is shared.
    public static let parallel = 8

    private let routers: [MACAddress]
    private let limit: Int
    private var results: [MACAddress: Result<JSONValue, any Error>] = [:]
    private var started = 0
    private var running: Set<MACAddress> = []

    /// A group; a router that is named twice is asked once.
    public init(_ routers: [MACAddress], parallel: Int = CommandGroup.parallel) {
        var known: Set<MACAddress> = []
        self.routers = routers.filter { known.insert($0).inserted }
        limit = max(1, parallel)
    }

    /// Routers that are being asked.
    public var runningCount: Int { running.count }

    /// The routers to ask now.
    public mutating func takeStarts() -> [MACAddress] {
        let room = min(limit - running.count, routers.count - started)
        let starts = Array(routers[started..<started + room])
        started += room
        running.formUnion(starts)
        return starts
    }

    /// A router has answered, or won't. Only the first time counts.
    public mutating func finished(_ mac: MACAddress, _ result: Result<JSONValue, any Error>) {
        guard running.remove(mac) != nil else { return }
        results[mac] = result
    }

    /// All results; nil while some are missing.
    public var outcome: GroupOutcome? {
        guard results.count == routers.count else { return nil }
        return GroupOutcome(results: routers.compactMap { mac in results[mac].map { GroupResult(mac: mac, result: $0) } })
    }
}
