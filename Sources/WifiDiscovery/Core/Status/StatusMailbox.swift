import SocketCore

/// What waits for one subscriber: the newest value of each thing that it asked for and hasn't seen.
///
/// However slow the subscriber, this holds one value a key and never a queue: ``merge(_:)`` overwrites, ``take()`` empties.
public struct StatusMailbox: Sendable {
    /// What is wanted.
    public let filter: StatusFilter
    private var seen: [StatusKey: StatusValue] = [:]
    private var waiting: [StatusKey: StatusValue] = [:]
    /// In the order in which the changes began; a key that was taken back stands here without a value.
    private var order: [StatusKey] = []

    /// An empty mailbox.
    public init(_ filter: StatusFilter) { self.filter = filter }

    /// Values that wait.
    public var count: Int { waiting.count }

    /// Adds what is wanted of these.
    ///
    /// - Returns: whether something waits.
    @discardableResult
    public mutating func merge(_ items: [StatusItem]) -> Bool {
        for item in items where filter.wants(item.key) {
            if seen[item.key] == item.value {
                waiting[item.key] = nil
            } else if waiting.updateValue(item.value, forKey: item.key) == nil {
                order.append(item.key)
            }
        }
        if order.count > 2 * waiting.count + 16 { compact() }
        return !waiting.isEmpty
    }

    /// Everything that waits, at once; nil when nothing does.
    public mutating func take() -> StatusBatch? {
        guard !waiting.isEmpty else { return nil }
        var items: [StatusItem] = []
        items.reserveCapacity(waiting.count)
        for key in order {
            guard let value = waiting.removeValue(forKey: key) else { continue }
            seen[key] = value
            items.append(StatusItem(key, value))
        }
        order.removeAll(keepingCapacity: true)
        return StatusBatch(items)
    }

    /// Keys that were taken back and came again stand twice; the first place counts.
    private mutating func compact() {
        var kept: Set<StatusKey> = []
        order = order.filter { waiting[$0] != nil && kept.insert($0).inserted }
    }
}
