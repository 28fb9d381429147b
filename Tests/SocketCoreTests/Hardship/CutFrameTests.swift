import FrameCodec
import SessionSimulation
import Testing

@testable import SocketCore

/// Frames that are cut anywhere: by writes that fall short, and by connections that end in the middle of them, both ways.
@Suite("Sessions whose frames are cut", .timeLimit(.minutes(10)))
struct CutFrameTests {
    private static let body = (0..<280).map { UInt8(truncatingIfNeeded: $0) }

    /// Where a reset cuts a frame: in its header, before, at and behind its end, in its body.
    private static let cuts = [1, 6, 9, 10, 11, 200]
    private static let large = [UInt8](repeating: 7, count: 1 << 20)

    @Test func `a router resets the connection in the middle of frames of both ways, again and again`() async throws {
        let peer = try RawPeer(receiveBuffer: 4_096)
        let session = Session(to: peer.endpoint, .hasty())
        let log = SessionLog(session)
        async let script = peer.run { peer in
            let theirs = try FrameEncoder().encode(Frame(msgId: 1, body: CutFrameTests.body))
            for cut in CutFrameTests.cuts {
                let connection = try peer.accept()
                try connection.greet()
                try connection.skip(cut)
                try connection.write(Array(theirs[..<cut]))
                connection.reset()
            }
            let last = try peer.accept()
            try last.greet()
            try last.write(theirs)
            return (try CutFrameTests.takeAll(last), last)
        }
        await session.start()
        for _ in 1...4 { _ = try await session.post(CutFrameTests.large) }
        #expect(await log.bodies(1) == [CutFrameTests.body])
        #expect(await log.outcomes(4).allSatisfy { $0.result == .delivered && $0.sends > 0 })
        #expect(try await script.0 == [1, 2, 3, 4])
        await session.close(.keepForLater)
    }

    @Test func `a controller resets the connection in the middle of frames of both ways, again and again`() async throws {
        let began = Happenings<Session>()
        let listener = SessionListener(SessionConfiguration(role: .router)) {
            if case .began(let session, _, _) = $0 { began.add(session) }
        }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        let identifier = SessionIdentifier.random()
        async let script = RawPeer().run { _ in
            let ours = try FrameEncoder().encode(Frame(msgId: 1, body: CutFrameTests.body))
            for (number, cut) in CutFrameTests.cuts.enumerated() {
                let connection = try RawConnection(to: endpoint)
                try connection.hello(identifier, resume: number > 0)
                try connection.skip(cut)
                try connection.write(Array(ours[..<cut]))
                connection.reset()
            }
            let last = try RawConnection(to: endpoint)
            try last.hello(identifier, resume: true)
            try last.write(ours)
            return (try CutFrameTests.takeAll(last), last)
        }
        let router = try #require(await began.next())
        let log = SessionLog(router)
        for _ in 1...4 { _ = try await router.post(CutFrameTests.large) }
        #expect(await log.bodies(1) == [CutFrameTests.body])
        #expect(await log.outcomes(4).allSatisfy { $0.result == .delivered })
        #expect(try await script.0 == [1, 2, 3, 4])
        await router.close(.keepForLater)
        await listener.close()
    }

    /// Reads four large messages, each whole, and receipts them.
    private static func takeAll(_ connection: RawConnection) throws -> [UInt32] {
        var ids: [UInt32] = []
        while ids.count < 4, let next = try connection.message() {
            if next.body == large { ids.append(next.msgId) }
            try connection.receipt(next.msgId)
        }
        return ids
    }

    @Test(arguments: [1, 2, 3, 7, 9, 10, 11, 13, 25, 27])
    func `writes of so many bytes at a time, both ways: nothing is lost, nothing comes twice, one outcome each`(size: Int) throws {
        var pair = SessionPair()
        pair.largestWrite = size
        pair.controller.start(now: .zero)
        for number in 0..<40 { _ = try pair.controller.send(text(number), now: .zero) }
        pair.settle()
        for number in 0..<40 { _ = try pair.router.send(text(100 + number), now: .zero) }
        for number in 40..<80 { _ = try pair.controller.send(text(number), now: .zero) }
        pair.settle()
        #expect(pair.routerEvents.bodies == (0..<80).map { "message \($0)" })
        #expect(pair.controllerEvents.bodies == (100..<140).map { "message \($0)" })
        #expect(pair.controllerEvents.outcomes.count == 80 && pair.routerEvents.outcomes.count == 40)
        #expect((pair.controllerEvents.outcomes + pair.routerEvents.outcomes).allSatisfy { $0.result == .delivered && $0.sends == 1 })
    }
}
