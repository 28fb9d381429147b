import SocketCore

/// Things that fall due, the earliest first; of equal ones that which was put in first. A binary heap.
struct DueQueue<Element> {
    private var heap: [(due: Instant, sequence: UInt64, element: Element)] = []
    private var sequence: UInt64 = 0

    var count: Int { heap.count }
    var nextDue: Instant? { heap.first?.due }

    mutating func insert(_ element: Element, due: Instant) {
        heap.append((due, sequence, element))
        sequence += 1
        var child = heap.count - 1
        while child > 0, comes(child, before: (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// The earliest element that is due; nil when none is.
    mutating func pop(now: Instant) -> Element? {
        guard let first = heap.first, first.due <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && comes(child, before: least) { least = child }
            if least == parent { break }
            heap.swapAt(parent, least)
            parent = least
        }
        return first.element
    }

    private func comes(_ left: Int, before right: Int) -> Bool {
        (heap[left].due, heap[left].sequence) < (heap[right].due, heap[right].sequence)
    }
}

extension DueQueue: Sendable where Element: Sendable {}
