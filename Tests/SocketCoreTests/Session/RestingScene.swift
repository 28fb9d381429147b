import FrameCodec
import Synchronization
import Testing

@testable import SocketCore

/// A router's session over a real connection, on a loop of its own, whose reads a test makes itself: as many in one tick as it wants.
struct RestingScene {
    let endpoint: Endpoint
    let session: Session
    private let listener: SessionListener
    private let loop: EventLoop
    private let connection: RawConnection

    init() async throws {
        let loop = try EventLoop(name: "resting")
        let began = Happenings<Session>()
        listener = SessionListener(SessionConfiguration(role: .router), loop: loop) {
            if case .began(let session, _, _) = $0 { began.add(session) }
        }
        let endpoint = try await listener.open(Endpoint(.loopback, port: 0))
        connection = try await RawPeer().run { _ in
            let connection = try RawConnection(to: endpoint)
            try connection.hello(.random())
            return connection
        }
        session = try #require(await began.next())
        self.endpoint = endpoint
        self.loop = loop
    }

    static func body(_ number: Int) -> [UInt8] { [6, 5, 4, 3, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)] }

    /// Frames of 16 bytes, without receipt.
    static func block(frames count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for number in 0..<count {
            do { bytes += try FrameEncoder().encode(Frame(msgId: 0, body: body(number))) } catch { Issue.record("\(error)") }
        }
        return bytes
    }

    /// As a stream does that finds its buffer full each time.
    ///
    /// - Returns: how many messages the session keeps then.
    func deliver(_ reads: [[UInt8]]) async -> Int {
        await OnLoop(loop).run { [session] _ in
            session.assumeIsolated { session in
                for bytes in reads {
                    guard let stream = session.stream else { continue }
                    session.stream(stream, received: bytes.span.bytes)
                }
                return session.keptMessages
            }
        }
    }

    /// A read, and the end of the stream in the same tick, as TLS may tell it.
    func deliverAndFinish(_ bytes: [UInt8], readsOn: Bool) async {
        await OnLoop(loop).run { [session] _ in
            session.assumeIsolated { session in
                guard let stream = session.stream else { return }
                session.stream(stream, received: bytes.span.bytes)
                #expect(stream.isReading == readsOn)
                session.streamEnded(stream, .peerFinished)
            }
        }
    }

    func close() async {
        await listener.close()
        loop.stop()
    }
}

/// Takes all that comes, and counts.
final class CountingAttendant: SessionAttendant {
    let lost = Happenings<LossReason>()
    private let count = Mutex(0)
    var messages: Int { count.withLock { $0 } }

    func session(_ session: Session, happened events: [SessionEvent]) {
        for event in events {
            if case .message = event { count.withLock { $0 += 1 } }
            if case .state(.lost(let reason)) = event { lost.add(reason) }
        }
    }

    func sessionEnded(_ session: Session) {}
}
