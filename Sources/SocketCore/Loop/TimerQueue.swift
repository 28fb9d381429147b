/// Which timer: a place in the queue and the generation of its tenant, so that a late answer never reaches a successor.
struct TimerToken: Hashable, Sendable {
    let slot: Int
    let generation: UInt32
}

/// Deadlines of many owners in one heap.
///
/// Sessions push their deadlines into the future at every byte, and rarely meet them. So moving a deadline later costs
/// one store: the heap keeps the earlier time, and when that comes up the timer is put back to where it belongs.
struct TimerQueue {
    private struct Entry {
        let deadline: Instant
        let token: TimerToken
    }

    private struct Slot {
        var generation: UInt32 = 0
        var wanted = Instant.distantFuture
        var queued = Instant.distantFuture
        var isTaken = false
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    private var heap: [Entry] = []
    /// Entries put into the heap so far: what timers cost beyond a store.
    private(set) var pushes: UInt64 = 0

    /// Entries in the heap, stale ones included.
    var queuedCount: Int { heap.count }
    /// Timers that exist, armed or not.
    var timerCount: Int { slots.count - free.count }

    /// A new timer that isn't armed.
    mutating func add() -> TimerToken {
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot()) }
        slots[slot].isTaken = true
        slots[slot].wanted = .distantFuture
        slots[slot].queued = .distantFuture
        return TimerToken(slot: slot, generation: slots[slot].generation)
    }

    /// Ends a timer; its token means nothing any more.
    mutating func remove(_ token: TimerToken) {
        guard isCurrent(token) else { return }
        slots[token.slot].generation &+= 1
        slots[token.slot].isTaken = false
        free.append(token.slot)
    }

    /// Arms the timer anew; `distantFuture` disarms it.
    mutating func set(_ token: TimerToken, to deadline: Instant) {
        guard isCurrent(token) else { return }
        slots[token.slot].wanted = deadline
        guard deadline < slots[token.slot].queued else { return }
        slots[token.slot].queued = deadline
        push(Entry(deadline: deadline, token: token))
        // Deadlines that were moved earlier leave stale entries; they mustn't outgrow the live ones.
        if heap.count > 4 * slots.count + 64 { rebuild() }
    }

    /// No timer is due before this instant.
    var next: Instant { heap.first?.deadline ?? .distantFuture }

    /// A timer that is due at `now`, disarmed; nil when none is.
    mutating func popDue(at now: Instant) -> TimerToken? {
        while let top = heap.first, top.deadline <= now {
            pop()
            guard isCurrent(top.token), slots[top.token.slot].queued == top.deadline else { continue }
            let wanted = slots[top.token.slot].wanted
            slots[top.token.slot].queued = .distantFuture
            guard wanted <= now else {
                if wanted < .distantFuture { set(top.token, to: wanted) }
                continue
            }
            slots[top.token.slot].wanted = .distantFuture
            return top.token
        }
        return nil
    }

    private func isCurrent(_ token: TimerToken) -> Bool {
        slots[token.slot].isTaken && slots[token.slot].generation == token.generation
    }

    private mutating func rebuild() {
        let live = heap.filter { isCurrent($0.token) && slots[$0.token.slot].queued == $0.deadline }
        heap.removeAll(keepingCapacity: true)
        for entry in live { push(entry) }
    }

    private mutating func push(_ entry: Entry) {
        pushes &+= 1
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].deadline < heap[least].deadline {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
