import Testing

@testable import SocketCore

@Suite("duplicate window")
struct DuplicateWindowTests {
    /// What the window must say, the slow and obvious way.
    struct Model {
        var seen: Set<UInt32> = []
        var taken: Set<UInt32> = []
        var top: UInt32 = 0
        var floor: UInt32 = 0

        mutating func take(_ id: UInt32) {
            taken.insert(id)
            // Nothing that is a window behind can come any more.
            floor = max(floor, id > DuplicateWindow.span ? id - DuplicateWindow.span : 0)
            top = max(top, floor)
            while taken.contains(MessageID.next(after: top)) { top = MessageID.next(after: top) }
        }
        func verdict(_ id: UInt32) -> DuplicateWindow.Verdict { !seen.contains(id) ? .new : taken.contains(id) ? .known : .pending }
    }

    @Test("agrees with a set that forgets nothing, while ids stay within its span", arguments: 1...20)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var window = DuplicateWindow()
        var model = Model()
        var next: UInt32 = 1
        var pending: [UInt32] = []
        for _ in 0..<3_000 {
            if random.chance(0.5) {
                let gap: UInt32 = random.chance(0.02) ? 3 : 1
                next &+= gap
                model.seen.insert(next)
                window.insert(next)
                pending.append(next)
            } else if random.chance(0.6), !pending.isEmpty {
                let id = pending.remove(at: random.chance(0.9) ? 0 : pending.count / 2)
                model.take(id)
                window.take(id)
            }
            if pending.count > 500 { continue }
            let probe = next &- UInt32(random.next() % 500)
            guard probe > 0, probe <= next else { continue }
            #expect(window.verdict(probe) == model.verdict(probe), "seed \(seed), id \(probe)")
            // Of what has left its memory the window may know less, never more.
            let isFar = next - model.floor > DuplicateWindow.span && (model.floor...model.top).contains(window.top)
            #expect(window.top == model.top || isFar, "seed \(seed)")
        }
    }

    @Test("goes on over the end of the ids, past 0")
    func wrap() {
        var window = DuplicateWindow(top: .max - 2, above: [])
        for id: UInt32 in [.max - 1, .max, 1, 2, 3] {
            #expect(window.verdict(id) == .new)
            window.insert(id)
            #expect(window.verdict(id) == .pending)
            window.take(id)
            #expect(window.verdict(id) == .known)
            #expect(window.top == id)
        }
        #expect(window.verdict(.max - 500_000) == .known, "old ids are behind, wherever they are")
        #expect(window.verdict(4) == .new)
    }

    @Test("a gap holds the top back and costs no memory of what's above")
    func gap() {
        var window = DuplicateWindow()
        for id: UInt32 in [2, 3, 5] {
            window.insert(id)
            window.take(id)
        }
        #expect(window.top == 0)
        #expect(window.takenAboveTop == [2, 3, 5])
        #expect(DuplicateWindow(top: 0, above: [2, 3, 5]) == window)
        window.insert(1)
        window.take(1)
        #expect(window.top == 3)
    }

    @Test("a random first id is new, not old")
    func randomStart() {
        var window = DuplicateWindow()
        #expect(window.verdict(3_000_000_000) == .new)
        window.insert(3_000_000_000)
        window.take(3_000_000_000)
        #expect(window.verdict(3_000_000_000) == .known)
        #expect(window.verdict(3_000_000_001) == .new)
        #expect(window.top == 3_000_000_000 - DuplicateWindow.span, "what might still come isn't claimed")
    }

    @Test("an id that was passed over holds the top back no longer than the window shows it, over the end of the ids too")
    func passedOver() {
        var window = DuplicateWindow()
        for id: UInt32 in 1...5_000 where id != 6 {
            window.insert(id)
            window.take(id)
            #expect(window.top == (id < 6 || id >= 6 + DuplicateWindow.span ? id : 5))
        }
        // Half of all ids ahead of the gap is as new as anything.
        #expect(window.verdict(0x8000_02BC) == .new)
        #expect(DuplicateWindow(top: window.top, above: window.takenAboveTop).top == 5_000)
        var wrapping = DuplicateWindow(top: .max - 2, above: [])
        for id in [.max] + Array(1...3_000) as [UInt32] {
            #expect(wrapping.verdict(id) == .new)
            wrapping.insert(id)
            wrapping.take(id)
        }
        #expect(wrapping.top == 3_000)
    }

    @Test("its size doesn't grow")
    func size() {
        #expect(MemoryLayout<DuplicateWindow>.size <= 288)
    }
}

@Suite("rings and schedules")
struct SessionPartsTests {
    @Test("a ring is an array that is taken from at the front", arguments: 1...10)
    func ring(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ring = Ring<Int>()
        var model: [Int] = []
        for number in 0..<2_000 {
            switch random.next() % 5 {
            case 0, 1:
                ring.append(number)
                model.append(number)
            case 2:
                let expected = model.isEmpty ? nil : model.removeFirst()
                #expect(ring.popFirst() == expected)
            case 3 where !model.isEmpty:
                let index = Int(random.next() % UInt64(model.count))
                #expect(ring.remove(at: index) == model.remove(at: index))
            default:
                if let index = model.indices.randomElement(using: &random) {
                    ring[index] += 1
                    model[index] += 1
                }
            }
            #expect(ring.count == model.count)
            #expect(ring.first == model.first)
            #expect(ring.last == model.last)
            if let index = model.indices.randomElement(using: &random) { #expect(ring[index] == model[index]) }
        }
    }

    @Test("waits for receipts: 5 s to 7.5 s, doubling")
    func resendWaits() {
        var random = SeededGenerator(seed: 1)
        for resends in 0...4 {
            for _ in 0..<100 {
                let wait = ResendSchedule().wait(afterResends: resends, &random)
                #expect(wait >= .seconds(5 << resends))
                #expect(wait <= .milliseconds(7_500 << resends))
            }
        }
    }

    @Test("waits before dialling: 1 s doubling to 60 s, a quarter more or less")
    func reconnectWaits() {
        var random = SeededGenerator(seed: 1)
        for (failures, seconds) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (1_000, 60)] {
            for _ in 0..<100 {
                let wait = ReconnectSchedule().wait(afterFailures: failures, &random)
                #expect(wait >= .milliseconds(seconds * 750))
                #expect(wait <= .milliseconds(seconds * 1_250))
            }
        }
    }
}
