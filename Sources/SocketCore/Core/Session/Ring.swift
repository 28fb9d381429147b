/// A queue that is read and written at any place and taken from at the front. Its memory is reused, never shifted.
struct Ring<Element> {
    private var slots: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    /// Bytes allocated.
    var heldByteCount: Int { slots.capacity * MemoryLayout<Element?>.stride }

    @inline(__always)
    private func slot(_ index: Int) -> Int { (head &+ index) & (slots.count &- 1) }

    subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < count, "index outside of the ring")
            return slots[slot(index)]!  // A slot below count is filled.
        }
        @inline(__always) _modify {
            precondition(index >= 0 && index < count, "index outside of the ring")
            yield &slots[slot(index)]!  // A slot below count is filled.
        }
    }

    var first: Element? { count > 0 ? slots[head] : nil }
    var last: Element? { count > 0 ? slots[slot(count - 1)] : nil }

    mutating func append(_ element: consuming Element) {
        if count == slots.count { grow() }
        slots[slot(count)] = consume element
        count += 1
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = slots[head].take()
        head = (head &+ 1) & (slots.count &- 1)
        count -= 1
        return element
    }

    /// Takes one out; those behind it move up.
    mutating func remove(at index: Int) -> Element {
        precondition(index >= 0 && index < count, "index outside of the ring")
        if index == 0, let first = popFirst() { return first }
        let element = self[index]
        for later in index + 1..<count { slots[slot(later - 1)] = slots[slot(later)] }
        slots[slot(count - 1)] = nil
        count -= 1
        return element
    }

    mutating func removeAll() {
        slots = []
        head = 0
        count = 0
    }

    /// Gives memory back when nothing is held.
    mutating func shrink() {
        if count == 0 { removeAll() }
    }

    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(max(4, slots.count * 2))
        for index in 0..<count { larger.append(slots[slot(index)].take()) }
        while larger.count < max(4, slots.count * 2) { larger.append(nil) }
        slots = larger
        head = 0
    }
}
