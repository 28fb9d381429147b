import SocketCore

/// Turns a flood of reports into few batches (design: commands and status).
///
/// After the first report of something new it waits for more; each further one starts the waiting over, up to a limit. Then the last
/// value of everything that changed leaves as one batch. Reports that change nothing, and changes that were taken back in time, leave
/// no trace; a session that is lost and stands again within the hold time never showed as lost.
///
/// - **Inputs**: ``report(_:_:now:)``, ``sessionLost(_:now:)``, ``forget(_:)``, ``advance(to:)``.
/// - **Outputs**: ``takeBatches()`` after every input; call ``advance(to:)`` no later than ``deadline``.
/// - **Queries**: ``shown(_:)``, ``counters``.
public struct StatusBoard: Sendable {
    /// The spans.
    public struct Timing: Equatable, Sendable {
        /// From a report to its batch, when nothing else comes.
        public var window = Duration.milliseconds(200)
        /// From the first report of a batch to the batch, whatever comes.
        public var longest = Duration.seconds(1)
        /// A session may be gone for this long before it shows as lost: a roam, a reconnect.
        public var hold = Duration.seconds(3)

        /// The design's values.
        public init() {}
    }

    /// What became of reports.
    public struct Counters: Equatable, Sendable {
        /// All that came.
        public var reports: UInt64 = 0
        /// Those that changed nothing.
        public var unchanged: UInt64 = 0
        /// Those for which there was no room.
        public var refused: UInt64 = 0
        /// Losses that were over before they showed.
        public var flickers: UInt64 = 0
        /// Batches handed out.
        public var batches: UInt64 = 0
    }

    /// Things with a value: sixteen for each router that can be known.
    public static let capacity = 16 * DiscoveryBounds.routers

    private struct Slot: Sendable {
        var key: StatusKey
        var shown: StatusValue?
        /// What it has become since; nil when it is as shown.
        var pending: StatusValue?
        /// Whether it stands in ``changed``.
        var isListed = false
        var isFree = false
    }

    private let timing: Timing
    private var places: [StatusKey: Int] = [:]
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var changed: [Int] = []
    private var opened = Instant.distantFuture
    private var due = Instant.distantFuture
    private var absences: [MACAddress: Instant] = [:]
    private var nextAbsence = Instant.distantFuture
    private var batches: [StatusBatch] = []
    /// See ``Counters``.
    public private(set) var counters = Counters()

    /// An empty board.
    public init(timing: Timing = Timing()) { self.timing = timing }

    /// When ``advance(to:)`` must be called.
    public var deadline: Instant { min(due, nextAbsence) }

    // MARK: Inputs

    /// Something has this value now.
    public mutating func report(_ key: StatusKey, _ value: StatusValue, now: Instant) {
        if now >= deadline { advance(to: now) }
        counters.reports += 1
        if key.subject == .session, absences.removeValue(forKey: key.router) != nil {
            if value == .session(.online) { counters.flickers += 1 }
            nextAbsence = absences.values.min() ?? .distantFuture
        }
        note(key, value, now)
    }

    /// The session with a router is gone, perhaps for a moment only.
    public mutating func sessionLost(_ router: MACAddress, now: Instant) {
        if now >= deadline { advance(to: now) }
        counters.reports += 1
        guard latest(StatusKey(router, .session)) != .session(.offline), absences[router] == nil else {
            counters.unchanged += 1
            return
        }
        let end = now + timing.hold
        absences[router] = end
        nextAbsence = min(nextAbsence, end)
    }

    /// Forgets a router: nothing more is said about it.
    public mutating func forget(_ router: MACAddress) {
        for index in slots.indices where slots[index].key.router == router && !slots[index].isFree {
            places[slots[index].key] = nil
            slots[index].pending = nil
            slots[index].shown = nil
            slots[index].isFree = true
            free.append(index)
        }
        if absences.removeValue(forKey: router) != nil { nextAbsence = absences.values.min() ?? .distantFuture }
    }

    /// Does what is due, in the order in which it was due.
    public mutating func advance(to now: Instant) {
        while deadline <= now {
            if nextAbsence <= due { showAbsences(at: nextAbsence) } else { hand() }
        }
    }

    /// What is to be told, once.
    public mutating func takeBatches() -> [StatusBatch] {
        guard !batches.isEmpty else { return [] }
        defer { batches = [] }
        return batches
    }

    // MARK: Queries

    /// What was last told, for who asks only now.
    public func shown(_ filter: StatusFilter) -> [StatusItem] {
        slots.compactMap { slot in
            guard let value = slot.shown, filter.wants(slot.key) else { return nil }
            return StatusItem(slot.key, value)
        }
    }

    // MARK: Working

    private func latest(_ key: StatusKey) -> StatusValue? { places[key].flatMap { slots[$0].pending ?? slots[$0].shown } }

    private mutating func note(_ key: StatusKey, _ value: StatusValue, _ now: Instant) {
        guard let index = places[key] ?? add(key) else {
            counters.refused += 1
            return
        }
        guard (slots[index].pending ?? slots[index].shown) != value else {
            counters.unchanged += 1
            return
        }
        slots[index].pending = slots[index].shown == value ? nil : value
        if !slots[index].isListed {
            slots[index].isListed = true
            changed.append(index)
        }
        if due == .distantFuture { opened = now }
        due = min(now + timing.window, opened + timing.longest)
    }

    private mutating func add(_ key: StatusKey) -> Int? {
        if let index = free.popLast() {
            // It may still be listed from before it was freed: then it keeps its place in the order.
            slots[index] = Slot(key: key, isListed: slots[index].isListed)
            places[key] = index
            return index
        }
        guard slots.count < StatusBoard.capacity else { return nil }
        places[key] = slots.count
        slots.append(Slot(key: key))
        return slots.count - 1
    }

    private mutating func showAbsences(at time: Instant) {
        let gone = absences.filter { $0.value <= time }.keys.sorted()
        for router in gone {
            absences[router] = nil
            note(StatusKey(router, .session), .session(.offline), time)
        }
        nextAbsence = absences.values.min() ?? .distantFuture
    }

    private mutating func hand() {
        var items: [StatusItem] = []
        items.reserveCapacity(changed.count)
        for index in changed {
            slots[index].isListed = false
            guard let value = slots[index].pending else { continue }
            slots[index].pending = nil
            slots[index].shown = value
            items.append(StatusItem(slots[index].key, value))
        }
        changed.removeAll(keepingCapacity: true)
        opened = .distantFuture
        due = .distantFuture
        guard !items.isEmpty else { return }
        counters.batches += 1
        batches.append(StatusBatch(items))
    }
}
