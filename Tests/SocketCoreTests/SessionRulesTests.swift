import FrameCodec
import SessionSimulation
import SocketCore
import Testing

/// The rules of protocol.md, sections 2 and 3, and the bounds, one by one.
@Suite("session core, rule by rule")
struct SessionRulesTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func open(_ adjust: (inout SessionConfiguration) -> Void = { _ in }) -> SessionPair {
        var pair = SessionPair(adjust)
        pair.controller.start(now: .zero)
        pair.settle()
        return pair
    }

    @Test("both sides send a heartbeat after 15 s without sending, and nothing else")
    func heartbeats() {
        var pair = open()
        pair.run(for: .milliseconds(14_999))
        #expect(pair.toRouter.isEmpty)
        pair.run(for: .milliseconds(1))
        #expect(pair.toRouter == [Frame(msgId: 0)])
        #expect(pair.toController == [Frame(msgId: 0)])
        pair.run(for: .seconds(3_600))
        let isOpen = pair.controller.isOpen
        #expect(isOpen)
        #expect(pair.dials == 1)
    }

    @Test("a connection without a received byte for 30 s is dead, own writes or not")
    func silence() {
        var pair = open()
        pair.routerStalled = true
        pair.run(for: .seconds(29))
        var isOpen = pair.controller.isOpen
        #expect(isOpen)
        pair.run(for: .seconds(1))
        isOpen = pair.controller.isOpen
        #expect(!isOpen)
        #expect(pair.controllerEvents.states.contains(.lost(.silent(for: .seconds(30)))))
    }

    @Test("bytes of a large frame under way are life")
    func largeFrame() {
        var pair = open()
        let number = pair.controller.connection
        for second in 1...10 {
            let now = Instant.zero + .seconds(second * 20)
            pair.controller.receivedBytes(1, on: number, now: now)
            pair.controller.advance(to: now)
        }
        let isOpen = pair.controller.isOpen
        #expect(isOpen)
    }

    @Test("an application that doesn't take stops the reading, and isn't blamed on the peer")
    func inboundPressure() {
        var pair = open()
        let number = pair.controller.connection
        let body = bytes("x")
        var taken = 0
        while pair.controller.wantsToRead, taken < 10_000 {
            _ = pair.controller.receive(
                FrameHeader(msgId: 0, version: 1, bodyLength: 1), body: body.span.bytes, on: number, now: .zero)
            taken += 1
        }
        #expect(taken == 512)
        let events = pair.controller.takeEvents()
        pair.controller.advance(to: .zero + .seconds(300))
        let isOpen = pair.controller.isOpen
        #expect(isOpen, "nothing was read, so nothing can be said about the peer")
        pair.controller.handedOver(through: UInt64(events.count), now: .zero + .seconds(300))
        let reads = pair.controller.wantsToRead
        #expect(reads)
    }

    @Test("a full outbox refuses, and says once when there's room")
    func outboundPressure() throws {
        var pair = SessionPair { $0.outboxMessages = 10 }
        for _ in 0..<10 { _ = try pair.controller.send(bytes("x"), now: .zero) }
        var refusal: SessionError?
        do throws(SessionError) { _ = try pair.controller.send(bytes("y"), now: .zero) } catch { refusal = error }
        #expect(refusal == .outboxFull(messages: 10, bytes: 650))
        pair.controller.start(now: .zero)
        pair.settle()
        #expect(pair.controllerEvents.filter { $0 == .writable }.count == 1)
    }

    @Test("bytes bound the outbox as well, small messages count for more than their bodies")
    func outboxBytes() throws {
        var pair = SessionPair { $0.outboxBytes = 1_000 }
        _ = try pair.controller.send([UInt8](repeating: 0, count: 5_000), now: .zero)
        var refusal: SessionError?
        do throws(SessionError) { _ = try pair.controller.send(bytes("y"), now: .zero) } catch { refusal = error }
        #expect(refusal == .outboxFull(messages: 1, bytes: 5_064), "one message is always taken, whatever its size")
    }

    @Test("closing sends what waits, waits for receipts, and the last message arrives")
    func orderlyClose() throws {
        var pair = open()
        for number in 1...100 { _ = try pair.controller.send(bytes("\(number)"), now: pair.now) }
        pair.controller.close(now: pair.now)
        var refusal: SessionError?
        do throws(SessionError) { _ = try pair.controller.send(bytes("late"), now: pair.now) } catch { refusal = error }
        #expect(refusal == .closed)
        pair.run(for: .seconds(5))
        #expect(pair.routerEvents.bodies.count == 100)
        #expect(pair.controllerEvents.outcomes.map(\.result) == Array(repeating: .delivered, count: 100))
        #expect(pair.controllerEvents.states.last == .closed(.closed))
        let isLost = pair.controllerEvents.states.contains { if case .lost = $0 { true } else { false } }
        #expect(!isLost, "a connection that is closed as wished isn't lost")
    }

    @Test("closing on a peer that's gone takes 5 s and says what isn't known")
    func closeUnheard() throws {
        var pair = open()
        pair.routerStalled = true
        pair.controllerStalled = true
        _ = try pair.controller.send(bytes("x"), now: pair.now)
        pair.controller.close(now: pair.now)
        pair.run(for: .seconds(5))
        let isClosed = pair.controller.isClosed
        #expect(isClosed)
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.notSent])
    }

    @Test("closed for later: what the journal holds stays, and everything else has its outcome", arguments: [true, false])
    func keptForLater(keepsJournal: Bool) throws {
        var pair = open { $0.keepsJournal = keepsJournal }
        pair.accepts = false
        pair.controller.disconnected(pair.controller.connection, .transport("gone"), now: pair.now)
        let kept = try pair.controller.send(bytes("x"), now: pair.now)
        let fired = try pair.controller.send(bytes("y"), wantsReceipt: false, now: pair.now)
        pair.controller.close(.keepForLater, now: pair.now)
        // Where no journal keeps them it tries on, in vain here.
        pair.run(for: .seconds(10))
        let outcomes = pair.controllerEvents.outcomes
        #expect(outcomes.map(\.ticket) == (keepsJournal ? [fired] : [kept, fired]))
        #expect(outcomes.allSatisfy { $0.result == .notSent })
        let pending = pair.controller.pendingTickets
        #expect(pending == (keepsJournal ? [kept] : []))
    }

    @Test("suspended: no timer runs; back: one connection, unsettled messages once, no burst of heartbeats")
    func suspension() throws {
        var pair = open()
        pair.routerTakes = false
        _ = try pair.controller.send(bytes("x"), now: pair.now)
        pair.settle()
        pair.controller.suspend(now: pair.now)
        pair.settle()
        let reason = pair.controller.deadline.reason
        #expect(reason == .none)
        _ = try pair.controller.send(bytes("y"), now: pair.now)
        pair.routerTakes = true
        pair.router.handedOver(through: 1, now: pair.now)
        pair.run(for: .seconds(240))
        let before = pair.toRouter.count
        pair.controller.resume(now: pair.now)
        pair.settle()
        #expect(pair.dials == 2)
        #expect(pair.routerEvents.bodies == ["x", "y"])
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.delivered, .delivered])
        #expect(pair.toRouter.count == before + 1, "only what's new")
    }

    @Test("a router forgets a session 300 s after its connection, and says what became of its messages")
    func forgetting() throws {
        var pair = open()
        pair.controller.suspend(now: pair.now)
        pair.settle()
        _ = try pair.router.send(bytes("x"), now: pair.now)
        pair.run(for: .seconds(300))
        #expect(pair.routerEvents.outcomes.map(\.result) == [.notSent])
        #expect(pair.routerEvents.states.last == .closed(.forgotten(after: .seconds(300))))
    }

    @Test("a message that's never receipted goes five times, then the connection is made anew")
    func resendSchedule() throws {
        var pair = open()
        pair.drops = { frame, toRouter in !toRouter && frame.msgId == 1 && frame.body.isEmpty }
        _ = try pair.controller.send(bytes("x"), now: pair.now)
        pair.run(for: .seconds(250))
        #expect(pair.toRouter.filter { $0.msgId == 1 }.count == 5)
        #expect(pair.controllerEvents.states.contains(.lost(.noReceipt(msgId: 1, resends: 4))))
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.delivered], "the new hello covers it")
    }

    @Test("a second connection replaces the first")
    func replacement() throws {
        var pair = open()
        let hello = ControllerHello(session: SessionPair.session, versions: [1], received: 0, resume: true)
        let old = pair.router.connection
        let new = pair.router.accept(hello, version: 1, now: pair.now)
        #expect(new != old)
        let actions = pair.router.takeActions()
        #expect(actions == [.close(old, abort: false)])
        let events = pair.router.takeEvents()
        #expect(events.states.first == .lost(.replaced))
    }

    @Test("another router at the address gets nothing")
    func wrongRouter() throws {
        var pair = SessionPair { $0.expectedMAC = "02:00:5E:00:53:99" }
        _ = try pair.controller.send(bytes("secret"), now: .zero)
        pair.controller.start(now: .zero)
        pair.settle()
        #expect(pair.routerEvents.bodies.isEmpty)
        #expect(pair.controllerEvents.states.contains(.lost(.wrongRouter(expected: "02:00:5E:00:53:99", found: "02:00:5e:00:53:01"))))
    }

    @Test("a frame of another version than agreed ends the connection")
    func wrongVersion() {
        var pair = open()
        let number = pair.controller.connection
        let flow = pair.controller.receive(FrameHeader(msgId: 0, version: 2, bodyLength: 0), body: RawSpan(), on: number, now: .zero)
        #expect(flow == .stop)
        pair.settle()
        #expect(pair.controllerEvents.states.contains(.lost(.wrongVersion(found: 2, agreed: 1))))
    }

    @Test("a hello that was long under way begins a session anew: who has received more than that ever sent is told of the loss")
    func staleHello() throws {
        var router = SessionCore(SessionConfiguration(role: .router), session: SessionPair.session, seed: 1, now: .zero)
        func hello(received: UInt32, resume: Bool) -> ControllerHello {
            ControllerHello(session: SessionPair.session, versions: [1], received: received, resume: resume, client: nil, station: nil)
        }
        // What the earlier session's first connection had said, which was given up long ago.
        let stale = router.accept(hello(received: 0, resume: false), version: 1, now: .zero)
        router.disconnected(stale, .connectFailed("given up"), now: .zero)
        _ = try router.send(bytes("a"), now: .zero)
        _ = router.takeEvents()
        let number = router.accept(hello(received: 8, resume: true), version: 1, now: .zero)
        guard case .open(let opening)? = router.takeEvents().states.last else { throw HelloError.notAHello }
        #expect(opening.memoryLost && opening.router?.resumed == false && opening.router?.received == 0)
        // Nothing of it leaves before the controller has shown that it has heard that, and so begins to count anew.
        router.disconnected(number, .connectFailed("cut"), now: .zero)
        let again = router.accept(hello(received: 8, resume: true), version: 1, now: .zero)
        _ = router.withOutput { $0.byteCount }
        let before = router.outputByteCount
        _ = router.receive(FrameHeader(msgId: 0, version: 1, bodyLength: 0), body: RawSpan(), on: again, now: .zero)
        router.disconnected(again, .connectFailed("cut"), now: .zero)
        #expect(before > 0 && router.takeEvents().states.contains { if case .resumed = $0 { true } else { false } } == false)
        // Now its `received` speaks of this memory.
        _ = router.accept(hello(received: 1, resume: true), version: 1, now: .zero)
        guard case .resumed? = router.takeEvents().states.last else { throw HelloError.notAHello }
    }

    @Test("a plain device: bare frames, nothing resent, nothing receipted, no heartbeat")
    func plain() throws {
        var configuration = SessionConfiguration(role: .controller)
        configuration.isPlain = true
        var core = SessionCore(configuration, session: SessionPair.session, seed: 1, now: .zero)
        core.start(now: .zero)
        let number = core.connection
        core.connected(number, now: .zero)
        let ticket = try core.send(bytes("x"), now: .zero)
        let output = core.withOutput { $0.withUnsafeBytes { [UInt8]($0) } }
        #expect(output == [0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0x78])
        core.wrote(output.count, on: number, now: .zero)
        let body = bytes("y")
        for _ in 0..<2 {
            _ = core.receive(FrameHeader(msgId: 7, version: 9, bodyLength: 1), body: body.span.bytes, on: number, now: .zero)
        }
        core.handedOver(through: 2, now: .zero)
        let events = core.takeEvents()
        #expect(events.bodies == ["y", "y"])
        #expect(events.outcomes.map(\.ticket) == [ticket])
        #expect(events.outcomes.map(\.result) == [.unknown])
        let waiting = core.outputByteCount
        #expect(waiting == 0)
        let reason = core.deadline.reason
        #expect(reason == .none)
    }

    @Test("a cancelled message that never left is cancelled, one that may have left is unknown")
    func cancelling() throws {
        var pair = SessionPair()
        let early = try pair.controller.send(bytes("early"), now: .zero)
        let cancelled = pair.controller.cancel(early, now: .zero)
        #expect(cancelled)
        pair.controller.start(now: .zero)
        pair.settle()
        pair.routerTakes = false
        let late = try pair.controller.send(bytes("late"), now: pair.now)
        pair.settle()
        pair.controller.cancel(late, now: pair.now)
        let again = pair.controller.cancel(late, now: pair.now)
        #expect(!again)
        pair.settle()
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.cancelled, .unknown])
        #expect(pair.routerEvents.bodies == ["late"])
    }

    @Test("a loss of memory is told again until the controller shows that it heard")
    func unconfirmedLoss() throws {
        var pair = open()
        _ = try pair.router.send(bytes("old"), now: pair.now)
        pair.settle()
        pair.rebootRouter(boot: "00000000000000b2")
        let hello = ControllerHello(session: SessionPair.session, versions: [1], received: 1, resume: true)
        for _ in 0..<3 {
            _ = pair.router.accept(hello, version: 1, now: pair.now)
            _ = try pair.router.send(bytes("new"), now: pair.now)
            let answer = pair.router.opening?.router
            #expect(answer?.resumed == false)
            let hellosOnly = pair.router.unsettledMessages
            #expect(hellosOnly == 0, "nothing goes before the controller has shown that it knows")
        }
        pair.run(for: .seconds(5))
        #expect(pair.controllerEvents.bodies == ["old", "new", "new", "new"])
    }
}
