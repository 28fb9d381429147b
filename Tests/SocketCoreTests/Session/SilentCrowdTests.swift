import FrameCodec
import Testing

@testable import SocketCore

/// Connections that say nothing, and sessions that are only kept, keep nobody out of a router.
@Suite(.timeLimit(.minutes(10)))
struct SilentCrowdTests {
    /// A quarter of it for one address, as of the real one.
    private static let door = DoorQuota(perSource: 8, total: 32, atShare: .displacesOldest)

    @Test(arguments: [1...1, 1...40])
    func `as many silent connections as there are places keep no honest controller out`(hosts: ClosedRange<UInt32>) async throws {
        var configuration = SessionConfiguration(role: .router)
        // The crowd would be gone by itself else before a slow machine has opened it.
        configuration.timing.hello = .seconds(600)
        let router = EchoRouter(configuration, echoes: false, quota: Self.door)
        let endpoint = try await router.open()
        var crowd: [RawConnection] = []
        for turn in 0..<2 * Self.door.total {
            crowd.append(try RawConnection(to: endpoint, from: hosts.lowerBound + UInt32(turn) % UInt32(hosts.count)))
        }
        for number in 0..<3 {
            let session = Session(to: endpoint)
            await session.start()
            #expect(try await session.send([UInt8(number)]).result == .delivered)
            await session.close()
        }
        let oldest = crowd[0]
        #expect(oldest.drain() != .silent)
        // The newest have only made room where all came from this address.
        crowd[crowd.count - 1].setPatience(0, microseconds: 1_000)
        #expect(crowd[crowd.count - 1].drain() == .silent)
        await router.listener.close()
    }

    @Test func `all sessions taken by one address are given back to another, and not to the same`() async throws {
        let router = EchoRouter(echoes: false, largestSessionCount: 16)
        let endpoint = try await router.open()
        var crowd: [RawConnection] = []
        for _ in 0..<16 {
            let member = try RawConnection(to: endpoint)
            _ = try member.hello(.random())
            crowd.append(member)
            #expect(await router.door.next() == "began")
        }
        let same = try RawConnection(to: endpoint)
        try same.write(Frame(msgId: 0, body: ControllerHello(session: .random(), versions: [1], received: 0, resume: false).encoded()))
        #expect(await router.door.next() == "refused: 16 sessions are kept already")
        _ = try RawConnection(to: endpoint, from: 2).hello(.random())
        #expect(await router.door.next() == "began")
        #expect(crowd[15].drain() != .silent)
        await router.listener.close()
    }
}
