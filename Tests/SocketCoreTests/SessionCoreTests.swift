import FrameCodec
import SessionSimulation
import SocketCore
import Testing

@Suite("session core, both ends joined by a pipe")
struct SessionCoreTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("messages go both ways, each with one receipt and one outcome")
    func bothWays() throws {
        var pair = SessionPair()
        pair.controller.start(now: .zero)
        let first = try pair.controller.send(bytes("one"), now: .zero)
        pair.settle()
        try #expect(pair.router.send(bytes("answer"), now: pair.now).msgId == 1)
        _ = try pair.controller.send(bytes("two"), now: pair.now)
        pair.settle()
        #expect(pair.routerEvents.bodies == ["one", "two"])
        #expect(pair.controllerEvents.bodies == ["answer"])
        #expect(first.msgId == 1)
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.delivered, .delivered])
        #expect(pair.controllerEvents.outcomes.map(\.sends) == [1, 1])
        #expect(pair.routerEvents.outcomes.map(\.result) == [.delivered])
        #expect(pair.controller.pendingMessages == 0)
    }

    @Test("unsettled messages go again after a reconnect, in order, and are delivered once")
    func reconnect() throws {
        var pair = SessionPair()
        pair.controller.start(now: .zero)
        pair.settle()
        pair.routerTakes = false
        for number in 1...40 { _ = try pair.controller.send(bytes("\(number)"), now: pair.now) }
        pair.settle()
        #expect(pair.controller.unsettledMessages == 32)
        pair.cut()
        pair.routerTakes = true
        pair.router.handedOver(through: 32, now: pair.now)
        pair.run(for: .seconds(3))
        #expect(pair.routerEvents.bodies == (1...40).map(String.init))
        #expect(pair.controllerEvents.outcomes.map(\.result) == Array(repeating: .delivered, count: 40))
        #expect(pair.controllerEvents.states.contains { if case .resumed = $0 { true } else { false } })
    }

    @Test("fire and forget ends as unknown once it's written")
    func withoutReceipt() throws {
        var pair = SessionPair()
        let ticket = try pair.controller.send(bytes("x"), wantsReceipt: false, now: .zero)
        pair.controller.start(now: .zero)
        pair.settle()
        #expect(ticket.msgId == 0)
        #expect(pair.controllerEvents.outcomes.map(\.ticket) == [ticket])
        #expect(pair.controllerEvents.outcomes.map(\.result) == [.unknown])
        #expect(pair.toController.isEmpty)
    }

    @Test("an empty body is no message")
    func emptyBody() {
        var pair = SessionPair()
        var refusal: SessionError?
        do throws(SessionError) { _ = try pair.controller.send([], now: .zero) } catch { refusal = error }
        #expect(refusal == .emptyBody)
    }
}
