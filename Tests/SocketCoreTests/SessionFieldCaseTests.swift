import FrameCodec
import SessionSimulation
import SocketCore
import Testing

/// What sessions of this kind have met in the field, one test each.
@Suite("session core, cases from the field")
struct SessionFieldCaseTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func open(_ adjust: (inout SessionConfiguration) -> Void = { _ in }) -> SessionPair {
        var pair = SessionPair(adjust)
        pair.controller.start(now: .zero)
        pair.settle()
        return pair
    }

    @Test("a receipt that arrives inside the write call settles")
    func receiptInsideWrite() throws {
        var pair = open()
        pair.controllerStalled = true
        let ticket = try pair.controller.send(bytes("x"), now: pair.now)
        let number = pair.controller.connection
        let receipt = FrameHeader(msgId: ticket.msgId, version: 1, bodyLength: 0)
        _ = pair.controller.receive(receipt, body: RawSpan(), on: number, now: pair.now)
        let count = pair.controller.outputByteCount
        pair.controller.wrote(count, on: number, now: pair.now)
        let outcomes = pair.controller.takeEvents().outcomes
        #expect(outcomes.map(\.result) == [.delivered])
        let deadline = pair.controller.deadline
        #expect(deadline.reason == .heartbeat, "nothing is waited for any more")
    }

    @Test("a receipt for a message of an earlier connection settles it on the present one")
    func receiptOfEarlierConnection() throws {
        var pair = open()
        pair.routerTakes = false
        _ = try pair.controller.send(bytes("x"), now: pair.now)
        pair.settle()
        pair.cut()
        pair.run(for: .seconds(2))
        let sequence = UInt64(1)
        pair.router.handedOver(through: sequence, now: pair.now)
        pair.settle()
        #expect(pair.routerEvents.bodies == ["x"])
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.delivered])
        let stray = pair.controller.counters.strayReceipts
        #expect(stray == 0)
    }

    @Test("receipts lost, message three times there: delivered once, receipted each time")
    func lostReceipts() throws {
        var pair = open()
        pair.drops = { frame, toRouter in !toRouter && frame.msgId == 1 && frame.body.isEmpty }
        _ = try pair.controller.send(bytes("x"), now: pair.now)
        pair.run(for: .seconds(30))
        #expect(pair.toRouter.filter { $0.msgId == 1 }.count == 3)
        pair.drops = { _, _ in false }
        pair.run(for: .seconds(60))
        #expect(pair.routerEvents.bodies == ["x"])
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.delivered])
        #expect(pair.controllerEvents.outcomes.map(\.sends) == [4])
    }

    @Test("a router that rebooted begins its ids anew, and is heard")
    func reboot() throws {
        var pair = open()
        _ = try pair.router.send(bytes("old"), now: pair.now)
        pair.settle()
        pair.rebootRouter(boot: "00000000000000b2")
        pair.run(for: .seconds(3))
        let id = try pair.router.send(bytes("new"), now: pair.now).msgId
        pair.settle()
        #expect(id == 1)
        #expect(pair.controllerEvents.bodies == ["old", "new"])
        #expect(pair.routerEvents.outcomes.map(\.result) == [.delivered, .delivered])
    }

    @Test("after a reboot unsettled messages go again, or end as unknown, as chosen", arguments: [true, false])
    func rebootWithUnsettled(resends: Bool) throws {
        var pair = open { $0.memoryLoss = resends ? .resend : .reportUnknown }
        pair.routerTakes = false
        _ = try pair.controller.send(bytes("x"), now: pair.now)
        pair.settle()
        pair.rebootRouter(boot: "00000000000000b2")
        pair.routerTakes = true
        pair.run(for: .seconds(3))
        #expect(pair.controllerEvents.outcomes.map(\.result) == [resends ? .delivered : .unknown])
        #expect(pair.routerEvents.bodies == (resends ? ["x", "x"] : ["x"]), "the first was heard and never taken")
        let lost = pair.controllerEvents.states.contains { if case .open(let opening) = $0 { opening.memoryLost } else { false } }
        #expect(lost)
    }

    @Test("ids begin anew and skip those that are unsettled")
    func wrap() throws {
        var contents = JournalContents(session: SessionPair.session, role: .controller, nextId: .max - 1, received: 0)
        contents.add(msgId: 1, body: bytes("old one"))
        contents.add(msgId: 3, body: bytes("old three"))
        guard var core = SessionCore(SessionConfiguration(role: .controller), restoring: contents, seed: 1, now: .zero) else {
            Issue.record("the journal fits")
            return
        }
        var ids: [UInt32] = []
        for _ in 0..<5 { ids.append(try core.send(bytes("new"), now: .zero).msgId) }
        #expect(ids == [.max - 1, .max, 2, 4, 5])
    }

    @Test("a peer that is 5 s slow to receipt isn't flooded with copies")
    func slowReceipts() throws {
        var pair = open()
        pair.routerTakes = false
        for number in 1...200 { _ = try pair.controller.send(bytes("\(number)"), now: pair.now) }
        // The application takes what it has every 9 s: each receipt is later than the first resend is due.
        var taken: UInt64 = 0
        for _ in 0..<10 {
            pair.run(for: .seconds(9))
            taken += 32
            pair.router.handedOver(through: taken, now: pair.now)
            pair.settle()
        }
        pair.routerTakes = true
        pair.router.handedOver(through: 1_000, now: pair.now)
        pair.run(for: .seconds(60))
        #expect(pair.controllerEvents.outcomes.count == 200)
        #expect(pair.routerEvents.bodies == (1...200).map(String.init))
        let copies = pair.toRouter.count { !$0.body.isEmpty } - 200
        #expect(copies <= 12, "one question a wait, not a window of copies")
    }

    @Test("a stalled connection isn't given second copies of what it still holds")
    func stalledWrites() throws {
        var pair = open()
        pair.controllerStalled = true
        for number in 1...32 { _ = try pair.controller.send(bytes("\(number)"), now: pair.now) }
        let before = pair.controller.outputByteCount
        pair.controller.advance(to: pair.now + .seconds(25))
        let after = pair.controller.outputByteCount
        #expect(before == after)
    }

    @Test("a backlog of 500 never exceeds the window")
    func backlog() throws {
        var pair = SessionPair()
        for number in 1...500 { _ = try pair.controller.send(bytes("\(number)"), now: .zero) }
        pair.routerTakes = false
        pair.controller.start(now: .zero)
        pair.settle()
        var most = 0
        for taken in stride(from: 1, through: 500, by: 7) {
            most = max(most, pair.controller.unsettledMessages)
            if taken % 5 == 0 {
                pair.cut()
                pair.run(for: .seconds(70))
            }
            pair.router.handedOver(through: UInt64(taken), now: pair.now)
            pair.settle()
        }
        pair.routerTakes = true
        pair.router.handedOver(through: 500, now: pair.now)
        pair.run(for: .seconds(70))
        #expect(most == 32)
        #expect(pair.routerEvents.bodies == (1...500).map(String.init))
        #expect(pair.controllerEvents.outcomes.count == 500)
    }

    @Test("a server that accepts and closes at once sees at most 8 tries a minute", arguments: [1, 2, 3, 4, 5])
    func acceptThenClose(seed: UInt64) {
        var core = SessionCore(SessionConfiguration(role: .controller), session: SessionPair.session, seed: seed, now: .zero)
        core.start(now: .zero)
        var now = Instant.zero
        var dials: [Instant] = []
        while now < .zero + .seconds(600) {
            for action in core.takeActions() {
                guard case .connect(let number) = action else { continue }
                dials.append(now)
                core.connected(number, now: now)
                core.disconnected(number, .peerClosed, now: now)
            }
            now = core.deadline.at
            core.advance(to: now)
        }
        for (index, dial) in dials.enumerated() {
            let minute = dials[index...].prefix { $0 < dial + .seconds(60) }
            #expect(minute.count <= 8)
        }
        #expect(dials.count >= 8, "it doesn't give up either")
    }

    @Test("after 100 reconnects one heartbeat goes per 15 s")
    func hundredReconnects() {
        var pair = open()
        for _ in 0..<100 {
            pair.cut()
            pair.run(for: .seconds(80))
        }
        pair.run(for: .seconds(20))
        let before = pair.controller.counters.heartbeatsSent
        pair.run(for: .seconds(150))
        let after = pair.controller.counters.heartbeatsSent
        #expect(after - before == 10)
    }

    @Test("late news of an old connection changes nothing")
    func lateNews() throws {
        var pair = open()
        let old = pair.controller.connection
        pair.cut()
        pair.run(for: .seconds(2))
        pair.controllerStalled = true
        _ = try pair.controller.send(bytes("x"), now: pair.now)
        let waiting = pair.controller.outputByteCount
        let flow = pair.controller.receive(FrameHeader(msgId: 1, version: 1, bodyLength: 0), body: RawSpan(), on: old, now: pair.now)
        pair.controller.wrote(5, on: old, now: pair.now)
        pair.controller.peerFinished(old, now: pair.now)
        pair.controller.disconnected(old, .peerClosed, now: pair.now)
        #expect(flow == .stop)
        let events = pair.controller.takeEvents()
        #expect(events.isEmpty)
        let still = pair.controller.outputByteCount
        #expect(still == waiting)
        let isOpen = pair.controller.isOpen
        #expect(isOpen)
    }

    @Test("a process that was stopped for 12 h hears its peer before it judges it")
    func heldUp() {
        var pair = open()
        let later = pair.now + .seconds(12 * 3_600)
        pair.controller.advance(to: later)
        var isOpen = pair.controller.isOpen
        #expect(isOpen)
        // What lay in the socket is read now.
        let number = pair.controller.connection
        _ = pair.controller.receive(FrameHeader(msgId: 0, version: 1, bodyLength: 0), body: RawSpan(), on: number, now: later)
        pair.controller.advance(to: later + .seconds(2))
        isOpen = pair.controller.isOpen
        #expect(isOpen)
        // And silence is silence.
        pair.controller.advance(to: later + .seconds(31))
        isOpen = pair.controller.isOpen
        #expect(!isOpen)
    }

    @Test("timer and receipt in one tick, both orders: one outcome", arguments: [true, false])
    func sameTick(timerFirst: Bool) throws {
        var pair = open { $0.timing.resend.limit = 0 }
        pair.drops = { frame, toRouter in !toRouter && frame.body.isEmpty && frame.msgId != 0 }
        let ticket = try pair.controller.send(bytes("x"), now: pair.now)
        pair.settle()
        let due = pair.controller.deadline
        #expect(due.reason == .resend)
        let receipt = FrameHeader(msgId: ticket.msgId, version: 1, bodyLength: 0)
        let number = pair.controller.connection
        pair.now = due.at
        if timerFirst { pair.controller.advance(to: due.at) }
        _ = pair.controller.receive(receipt, body: RawSpan(), on: number, now: due.at)
        if !timerFirst { pair.controller.advance(to: due.at) }
        pair.drops = { _, _ in false }
        pair.run(for: .seconds(10))
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.delivered])
        #expect(pair.routerEvents.bodies == ["x"])
        #expect(pair.dials == (timerFirst ? 2 : 1))
    }

    @Test("a message queued offline and unsettled in the journal goes once")
    func journalledAndQueued() throws {
        var first = SessionCore(SessionPair.journalling, session: SessionPair.session, seed: 1, now: .zero)
        let ticket = try first.send(bytes("x"), now: .zero)
        let batch = first.takeJournal()
        let written = try #require(batch)
        #expect(written.mustSync)
        let contents = try #require(try JournalCore.read(written.bytes.span.bytes))
        guard let restored = SessionCore(SessionPair.journalling, restoring: contents, seed: 2, now: .zero) else {
            Issue.record("the journal fits")
            return
        }
        var pair = SessionPair(controller: restored)
        let tickets = pair.controller.pendingTickets
        #expect(tickets.map(\.msgId) == [ticket.msgId])
        pair.controller.start(now: .zero)
        pair.run(for: .seconds(60))
        #expect(pair.toRouter.filter { !$0.body.isEmpty }.map(\.msgId) == [1])
        #expect(pair.routerEvents.bodies == ["x"])
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.delivered])
    }
}
