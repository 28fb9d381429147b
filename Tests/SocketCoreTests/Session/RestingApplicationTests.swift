import FrameCodec
import SessionSimulation
import Testing

@testable import SocketCore

/// An application that doesn't take: the bound on what is kept for it is exact, whatever the connection does meanwhile.
@Suite("An application that rests")
struct RestingApplicationTests {
    private static let bound = SessionLimits.inboundMessages

    /// A controller that stands, with as many messages as its application may leave lying.
    private func full() -> SessionCore {
        var core = SessionCore(SessionConfiguration(role: .controller), session: SessionPair.session, seed: 1, now: .zero)
        core.start(now: .zero)
        _ = core.takeActions()
        core.connected(core.connection, now: .zero)
        _ = greet(&core, resumed: false, .zero)
        for _ in 0..<RestingApplicationTests.bound { _ = message(&core, .zero) }
        return core
    }

    private func greet(_ core: inout SessionCore, resumed: Bool, _ now: Instant) -> FrameDecoder.Flow {
        let body = RouterHello(session: core.session, identity: SessionPair.identity, version: 1, received: 0, resumed: resumed).encoded()
        return core.receive(
            FrameHeader(msgId: 0, version: 1, bodyLength: body.count), body: body.span.bytes, on: core.connection, now: now)
    }

    private func message(_ core: inout SessionCore, _ now: Instant) -> FrameDecoder.Flow {
        let body: [UInt8] = [1]
        return core.receive(FrameHeader(msgId: 0, version: 1, bodyLength: 1), body: body.span.bytes, on: core.connection, now: now)
    }

    @Test func `through a reconnect the hello is read, and not one message more`() {
        var core = full()
        var (reads, kept) = (core.wantsToRead, core.unhandedMessages)
        #expect(!reads && kept == RestingApplicationTests.bound)
        core.disconnected(core.connection, .transport("cut"), now: .zero)
        let later = core.deadline.at
        core.advance(to: later)
        core.connected(core.connection, now: later)
        reads = core.wantsToRead
        #expect(reads, "a hello that isn't read would end the connection, again and again, for as long as the application rests")
        let flow = greet(&core, resumed: true, later)
        let isOpen = core.isOpen
        (reads, kept) = (core.wantsToRead, core.unhandedMessages)
        #expect(isOpen && flow == .stop && !reads && kept == RestingApplicationTests.bound)
        let last = core.takeEvents().reversed().lazy.compactMap { event -> UInt64? in
            if case .message(let message) = event { message.sequence } else { nil }
        }.first
        core.handedOver(through: last ?? 0, now: later)
        reads = core.wantsToRead
        #expect(reads)
    }

    @Test(.timeLimit(.minutes(10))) func `reads of one tick that come after the bound was met add nothing to it, and lose nothing`()
        async throws
    {
        let scene = try await RestingScene()
        let block = RestingScene.block(frames: 2_000)
        let kept = await scene.deliver([block, block, block])
        #expect(kept == RestingApplicationTests.bound)
        let log = SessionLog(scene.session)
        let bodies = await log.bodies(6_000)
        #expect(bodies.enumerated().allSatisfy { $1 == RestingScene.body($0 % 2_000) })
        await scene.close()
    }

    @Test(.timeLimit(.minutes(10))) func `bytes that come behind a controller's hello wait as well`() async throws {
        let scene = try await RestingScene()
        _ = await scene.deliver([RestingScene.block(frames: 2_000)])
        // Another connection takes over while the application rests, with messages in the very read that its hello came in.
        let second = try await RawPeer().run { [endpoint = scene.endpoint, identifier = scene.session.identifier] _ in
            let connection = try RawConnection(to: endpoint)
            let hello = ControllerHello(session: identifier, versions: [1], received: 0, resume: true).encoded()
            try connection.write(try FrameEncoder().encode(Frame(msgId: 0, body: hello)) + RestingScene.block(frames: 100))
            _ = try connection.frame()
            return connection
        }
        #expect(await scene.session.keptMessages == RestingApplicationTests.bound)
        let log = SessionLog(scene.session)
        // What lay unread of the first connection went with it.
        let bodies = await log.bodies(RestingApplicationTests.bound + 100)
        #expect(Array(bodies.suffix(100)) == (0..<100).map(RestingScene.body))
        await scene.close()
        _ = second
    }

    @Test(.timeLimit(.minutes(10))) func `an end of the stream doesn't overtake what its reader takes at once`() async throws {
        let scene = try await RestingScene()
        let attendant = CountingAttendant()
        await scene.session.attend(by: attendant)
        await scene.deliverAndFinish(RestingScene.block(frames: 4_096), readsOn: true)
        #expect(await attendant.lost.next() == .peerClosed)
        #expect(attendant.messages == 4_096)
        await scene.close()
    }

    @Test(.timeLimit(.minutes(10))) func `nor does it overtake what waits for a reader`() async throws {
        let scene = try await RestingScene()
        await scene.deliverAndFinish(RestingScene.block(frames: 2_000), readsOn: false)
        let log = SessionLog(scene.session)
        #expect(await log.bodies(2_000) == (0..<2_000).map(RestingScene.body))
        await log.state { $0 == .lost(.peerClosed) }
        await scene.close()
    }
}
