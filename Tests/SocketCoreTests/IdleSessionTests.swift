import FrameCodec
import Testing

@testable import SocketCore

@Suite("Idle sessions, counted")
struct IdleSessionTests {
    private static let session = SessionIdentifier(high: 1, low: 2)

    /// A router's session whose controller has just said hello, with the router's hello written.
    private static func makeCore(now: Instant = .zero) -> (core: SessionBox, number: ConnectionNumber) {
        let box = SessionBox(SessionCore(SessionConfiguration(role: .router), session: session, seed: 1, now: now))
        let hello = ControllerHello(session: session, versions: [1], received: 0, resume: false)
        let number = box.core.accept(hello, version: 1, now: now)
        box.core.wrote(box.core.outputByteCount, on: number, now: now)
        _ = box.core.takeEvents()
        return (box, number)
    }

    @Test func `a session that has only said hello holds no buffer`() {
        #expect(IdleSessionTests.makeCore().core.core.heldByteCount == 0)
    }

    @Test func `what a burst needed is held no longer than until the next heartbeat has left`() throws {
        let (box, number) = IdleSessionTests.makeCore()
        let body: [UInt8] = [1, 2, 3]
        for id in 1...64 as ClosedRange<UInt32> {
            _ = box.core.receive(
                FrameHeader(msgId: id, version: 1, bodyLength: body.count), body: body.span.bytes, on: number, now: .zero)
        }
        let tickets = try (0..<32).map { _ in try box.core.send(body, now: .zero) }
        #expect(box.core.takeEvents().count == 64)
        box.core.handedOver(through: 64, now: .zero)
        #expect(box.core.heldByteCount > 64 * 10)
        box.core.wrote(box.core.outputByteCount, on: number, now: .zero)
        for ticket in tickets {
            _ = box.core.receive(
                FrameHeader(msgId: ticket.msgId, version: 1, bodyLength: 0), body: RawSpan(), on: number, now: .zero)
        }
        #expect(box.core.takeEvents().count == 32)
        let due = box.core.deadline
        #expect(due.reason == .heartbeat)
        box.core.advance(to: due.at)
        #expect(box.core.outputByteCount == FrameHeader.byteCount)
        box.core.wrote(box.core.outputByteCount, on: number, now: due.at)
        #expect(box.core.heldByteCount == 0)
    }

    @Test func `a core's own size leaves most of four kibibytes to the rest of a session`() {
        #expect(MemoryLayout<SessionCore>.size <= 2_048)
    }

    @Test func `an idle session's heartbeats cost one wake-up and one place in the heap each, whatever its peer says between`() {
        let count = 2_000
        var timers = TimerQueue()
        var sessions: [(box: SessionBox, number: ConnectionNumber, timer: TimerToken)] = []
        var bySlot: [Int: Int] = [:]
        for index in 0..<count {
            // They didn't all begin in one instant.
            let (box, number) = IdleSessionTests.makeCore(now: Instant(nanoseconds: Int64(index) * 7_000_000))
            let timer = timers.add()
            bySlot[timer.slot] = index
            sessions.append((box, number, timer))
            timers.set(timer, to: box.core.deadline.at)
        }
        let start = Instant(nanoseconds: Int64(count) * 7_000_000)
        let pushes = timers.pushes
        var wakeUps = 0
        for second in 1...60 {
            let now = start + .seconds(second)
            for index in sessions.indices where (index + second).isMultiple(of: 15) {
                // The peer's heartbeat moves the deadline of silence, which costs a store.
                sessions[index].box.core.receivedBytes(FrameHeader.byteCount, on: sessions[index].number, now: now)
                timers.set(sessions[index].timer, to: sessions[index].box.core.deadline.at)
            }
            while let due = timers.popDue(at: now) {
                wakeUps += 1
                guard let index = bySlot[due.slot] else { continue }
                let (box, number, timer) = sessions[index]
                box.core.advance(to: now)
                box.core.wrote(box.core.outputByteCount, on: number, now: now)
                timers.set(timer, to: box.core.deadline.at)
            }
        }
        let sent = sessions.reduce(0) { $0 + Int($1.box.core.counters.heartbeatsSent) }
        #expect(sent >= 3 * count && sent <= 4 * count)
        #expect(wakeUps == sent)
        #expect(Int(timers.pushes - pushes) == sent)
        #expect(timers.queuedCount == count)
    }
}

/// A core in a place of its own, since a core can't be copied into a list.
private final class SessionBox {
    var core: SessionCore
    init(_ core: consuming SessionCore) { self.core = core }
}
