import SocketCore

/// Properties that changed, gathered until it's quiet: 200 ms after the last change, or a second after the first. Of one property
/// the last value counts.
struct ChangeBatch: Sendable {
    static let quiet = Duration.milliseconds(200)
    static let longest = Duration.seconds(1)
    /// More than a device has; a router can't make it grow.
    static let mostProperties = 256

    private(set) var values: [JSONValue.Member] = []
    private var first = Instant.zero
    private var last = Instant.zero

    /// When it's to be shown; nil while there's nothing to show.
    var deadline: Instant? { values.isEmpty ? nil : min(last + ChangeBatch.quiet, first + ChangeBatch.longest) }

    mutating func add(_ members: [JSONValue.Member], now: Instant) {
        if values.isEmpty { first = now }
        last = now
        for member in members {
            values.removeAll { $0.name == member.name }
            if values.count < ChangeBatch.mostProperties { values.append(member) }
        }
    }

    /// What is due by now, and an empty batch after it.
    mutating func due(_ now: Instant) -> [JSONValue.Member] {
        guard let deadline, now >= deadline else { return [] }
        defer { values = [] }
        return values
    }
}
