import FrameCodec
import Synchronization
import Testing

@testable import SocketCore

/// A router of a few lines: receipts everything, and sends every body back.
final class EchoRouter: Sendable {
    let listener: SessionListener
    let received = Happenings<[UInt8]>()
    let door = Happenings<String>()

    init(
        _ configuration: SessionConfiguration? = nil, faults: LinkFaults.Options = .init(), tls: TLSConfiguration? = nil,
        echoes: Bool = true,
        largestSessionCount: Int = SessionListener.largestSessionCount, quota: DoorQuota? = nil
    ) {
        let (received, door) = (received, door)
        var settled = configuration ?? SessionConfiguration(role: .router)
        settled.identity = RouterIdentity(boot: "00000000000000aa", mac: "02:00:5e:00:53:01", name: "Echo")
        listener = SessionListener(settled, faults: faults, tls: tls, largestSessionCount: largestSessionCount, door: quota) { event in
            switch event {
            case .began(let session, _, _), .plain(let session):
                door.add("began")
                Task(executorPreference: session.loop) {
                    for await batch in session.events {
                        for case .message(let message) in batch {
                            received.add(message.body)
                            if echoes { _ = try? await session.post(message.body) }
                        }
                    }
                }
            case .returned: door.add("returned")
            case .refused(_, let reason): door.add("refused: \(reason)")
            case .failed(let error): door.add("failed: \(error)")
            }
        }
    }

    func open(_ address: IPAddress = .loopback) async throws -> Endpoint { try await listener.open(Endpoint(address, port: 0)) }
}

@Suite("Sessions over real sockets", .timeLimit(.minutes(10)))
struct SessionTests {
    @Test("a message is delivered, and its answer comes", arguments: ["127.0.0.1", "::1"])
    func roundTrip(address: String) async throws {
        let router = EchoRouter()
        let session = Session(to: try await router.open(#require(IPAddress(address))))
        await session.start()
        let outcome = try await session.send(Array("hello".utf8))
        #expect(outcome.result == .delivered && outcome.sends == 1)
        #expect(await router.received.next() == Array("hello".utf8))
        var bodies: [[UInt8]] = []
        reading: for await batch in session.events {
            for case .message(let message) in batch {
                bodies.append(message.body)
                break reading
            }
        }
        #expect(bodies == [Array("hello".utf8)])
        await session.close()
        await router.listener.close()
    }

    @Test("a thousand messages over a link that loses half of the receipts and is cut on the way: all delivered, none twice, in order")
    func lossy() async throws {
        var faults = LinkFaults.Options()
        faults.lostReceipts = 0.5
        faults.seed = 42
        var configuration = SessionConfiguration(role: .controller)
        configuration.timing.resend.base = .milliseconds(40)
        configuration.timing.reconnect.base = .milliseconds(5)
        let router = EchoRouter(faults: faults, echoes: false)
        let session = Session(to: try await router.open(), configuration)
        await session.start()
        let bodies = (0..<1_000).map { Array("message \($0)".utf8) }
        let outcomes = Mutex<[MessageResult: Int]>([:])
        let counted = Task {
            var left = bodies.count
            for await batch in session.events {
                for case .outcome(let outcome) in batch {
                    outcomes.withLock { $0[outcome.result, default: 0] += 1 }
                    left -= 1
                }
                if left == 0 { return }
            }
        }
        for (index, body) in bodies.enumerated() {
            _ = try await session.post(body)
            if index % 250 == 100 { await session.dropConnection() }
        }
        await counted.value
        #expect(outcomes.withLock { $0 } == [.delivered: 1_000])
        var received: [[UInt8]] = []
        _ = await router.received.until { body in
            received.append(body)
            return received.count == bodies.count
        }
        #expect(received == bodies)
        #expect(await session.counters.resends > 0)
        await session.close()
        await router.listener.close()
    }

    @Test("the last message before a close arrives")
    func close() async throws {
        let router = EchoRouter(echoes: false)
        let session = Session(to: try await router.open())
        await session.start()
        // Closed before it stood, it would end its messages as not sent.
        #expect(try await session.send([0]).result == .delivered)
        for index in 1..<100 { _ = try await session.post([UInt8(index)]) }
        await session.close()
        for index in 0..<100 { #expect(await router.received.next() == [UInt8(index)]) }
        await router.listener.close()
    }

    @Test(
        "strangers at the door are turned away with a reason, and the others go on",
        arguments: [
            (
                "GET / HTTP/1.1\r\n\r\n",
                "refused: the peer's bytes are no frames: a body of 1213486160 bytes is declared, the limit is 4096"
            ),
            ("\0\0\0\u{1}\0\u{1}\0\0\0\u{1}x", "refused: the peer's first frame is no valid hello: it's another kind of frame"),
            ("\0\0\0\0\0\u{1}\0\0\0\u{2}{}", "refused: the peer's first frame is no valid hello: \"hello\" is missing or ill-typed"),
        ])
    func strangers(bytes: String, expected: String) async throws {
        let router = EchoRouter(echoes: false)
        let endpoint = try await router.open()
        let honest = Session(to: endpoint)
        await honest.start()
        _ = try await honest.send([1])
        #expect(await router.door.next() == "began")
        let stranger = RecordingOwner()
        let harness = try StreamHarness(server: stranger, client: stranger)
        try await harness.connect(to: endpoint)
        #expect(await stranger.events.next() == .opened)
        await harness.write(Array(bytes.utf8))
        #expect(await router.door.next() == expected)
        #expect(try await honest.send([2]).result == .delivered)
        await honest.close()
        await router.listener.close()
    }

    @Test("a session without a router ends its messages when it's closed")
    func unreachable() async throws {
        let harness = try StreamHarness(server: RecordingOwner(), client: RecordingOwner())
        let endpoint = try await harness.listen(.loopback)
        await harness.stopListening()
        let session = Session(to: endpoint)
        await session.start()
        async let outcome = session.send([1])
        var failed = false
        for await batch in session.events where batch.contains(where: { if case .state(.reconnecting) = $0 { true } else { false } }) {
            failed = true
            break
        }
        #expect(failed)
        await session.close()
        #expect(try await outcome.result == .notSent)
    }

    @Test("a plain device gets bare frames and sends them")
    func plain() async throws {
        var routerSide = SessionConfiguration(role: .router)
        routerSide.isPlain = true
        let router = EchoRouter(routerSide)
        var configuration = SessionConfiguration(role: .controller)
        configuration.isPlain = true
        let session = Session(to: try await router.open(), configuration)
        await session.start()
        #expect(try await session.send([7, 8], wantsReceipt: false).result == .unknown)
        #expect(await router.received.next() == [7, 8])
        await session.close()
        await router.listener.close()
    }
}

extension SessionTests {
    @Test("when all places are taken, sessions without a connection make room, the longest gone first; those that are connected stay")
    func crowded() async throws {
        let router = EchoRouter(echoes: false, largestSessionCount: 16)
        let endpoint = try await router.open()
        let faithful = Session(to: endpoint)
        await faithful.start()
        #expect(try await faithful.send([0]).result == .delivered)
        for number: UInt8 in 1...100 {
            let visitor = Session(to: endpoint)
            await visitor.start()
            #expect(try await visitor.send([number]).result == .delivered)
            await visitor.close(.keepForLater)
        }
        #expect(await router.listener.sessionCount <= 16)
        #expect(try await faithful.send([200]).result == .delivered)
        #expect(await faithful.counters.openings == 1)
        await faithful.close()
        await router.listener.close()
    }
}

@Suite("a session's inbox")
struct SessionInboxTests {
    @Test func `the late end of one wait doesn't end another's`() async {
        var inbox = SessionInbox()
        let (first, second) = (inbox.nextWaiter(), inbox.nextWaiter())
        let given = await withCheckedContinuation { continuation in
            inbox.wait(continuation)
            let isSpared = inbox.takeWaiter(first) == nil
            inbox.takeWaiter(second)?.resume(returning: isSpared ? [.writable] : nil)
        }
        #expect(given == [.writable])
    }
}
