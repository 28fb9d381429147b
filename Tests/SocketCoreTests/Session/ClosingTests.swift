import SessionSimulation
import Testing

@testable import SocketCore

/// A close that finds no connection, or loses it, tries on within its time as long as a message of ours has no outcome.
@Suite("Closing a session that doesn't stand")
struct ClosingTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
    private func results(_ pair: borrowing SessionPair) -> [MessageResult] { pair.controllerEvents.outcomes.map(\.result) }

    @Test func `closed while it dials: it goes on, and the message arrives`() throws {
        var pair = SessionPair()
        _ = try pair.controller.send(bytes("x"), now: .zero)
        pair.controller.start(now: .zero)
        pair.controller.close(now: .zero)
        pair.run(for: .seconds(5))
        #expect(pair.routerEvents.bodies == ["x"])
        #expect(results(pair) == [.delivered])
        #expect(pair.controllerEvents.states.last == .closed(.closed))
    }

    @Test func `closed between two tries: the next one is made, and a hundred messages arrive in their order`() throws {
        var pair = SessionPair()
        pair.accepts = false
        for number in 1...100 { _ = try pair.controller.send(bytes("\(number)"), now: .zero) }
        pair.controller.start(now: .zero)
        pair.settle()
        pair.controller.close(now: pair.now)
        pair.accepts = true
        pair.run(for: .seconds(5))
        #expect(pair.dials == 2)
        #expect(pair.routerEvents.bodies == (1...100).map(String.init))
        #expect(results(pair) == Array(repeating: .delivered, count: 100))
        #expect(pair.controllerEvents.states.last == .closed(.closed))
    }

    @Test func `the connection breaks during the close: what isn't settled goes again`() throws {
        var pair = SessionPair()
        pair.controller.start(now: .zero)
        pair.settle()
        pair.routerTakes = false
        for number in 1...3 { _ = try pair.controller.send(bytes("\(number)"), now: pair.now) }
        pair.controller.close(now: pair.now)
        pair.settle()
        pair.cut()
        pair.routerTakes = true
        pair.router.handedOver(through: 2, now: pair.now)
        pair.run(for: .seconds(2))
        pair.router.handedOver(through: 3, now: pair.now)
        pair.run(for: .seconds(3))
        #expect(pair.dials == 2)
        #expect(pair.routerEvents.bodies == ["1", "2", "3"])
        #expect(results(pair) == [.delivered, .delivered, .delivered])
    }

    @Test func `nobody answers: after 5 s, and not later, it says what wasn't sent`() throws {
        var pair = SessionPair()
        pair.accepts = false
        _ = try pair.controller.send(bytes("x"), now: .zero)
        pair.controller.start(now: .zero)
        pair.settle()
        pair.controller.close(now: pair.now)
        pair.run(for: .milliseconds(4_999))
        var isClosed = pair.controller.isClosed
        #expect(!isClosed && results(pair).isEmpty)
        pair.run(for: .milliseconds(1))
        isClosed = pair.controller.isClosed
        #expect(isClosed && results(pair) == [.notSent])
        let deadline = pair.controller.deadline.at
        #expect(deadline == .distantFuture)
    }

    @Test func `the last message is taken back: there's nothing left to dial for`() throws {
        var pair = SessionPair()
        pair.accepts = false
        let ticket = try pair.controller.send(bytes("x"), now: .zero)
        pair.controller.start(now: .zero)
        pair.settle()
        pair.controller.close(now: pair.now)
        pair.controller.cancel(ticket, now: pair.now)
        pair.settle()
        let isClosed = pair.controller.isClosed
        #expect(isClosed && results(pair) == [.cancelled])
    }

    @Test(arguments: [ClosePolicy.endSession, .keepForLater])
    func `nothing to send, or a journal that keeps it: it ends at once`(policy: ClosePolicy) throws {
        var pair = SessionPair { $0.keepsJournal = policy == .keepForLater }
        pair.accepts = false
        if policy == .keepForLater { _ = try pair.controller.send(bytes("x"), now: .zero) }
        pair.controller.start(now: .zero)
        pair.settle()
        pair.controller.close(policy, now: pair.now)
        pair.settle()
        let isClosed = pair.controller.isClosed
        #expect(isClosed && results(pair).isEmpty && pair.dials == 1)
    }

    @Test func `not started, or suspended, it ends at once as well`() throws {
        var pair = SessionPair()
        _ = try pair.controller.send(bytes("x"), now: .zero)
        pair.controller.close(now: .zero)
        pair.settle()
        #expect(results(pair) == [.notSent] && pair.dials == 0)
        var other = SessionPair()
        other.controller.start(now: .zero)
        other.settle()
        other.controller.suspend(now: .zero)
        _ = try other.controller.send(bytes("x"), now: .zero)
        other.controller.close(now: .zero)
        other.settle()
        #expect(results(other) == [.notSent] && other.dials == 1)
    }
}
