import Testing

@testable import SocketCore

/// Answers each message with its body, from within the call that brings it.
private final class EchoAttendant: SessionAttendant {
    let received = Happenings<[UInt8]>()
    let ended = Happenings<SessionIdentifier>()

    func session(_ session: Session, happened events: [SessionEvent]) {
        for case .message(let message) in events {
            received.add(message.body)
            session.assumeIsolated { session in
                do throws(SessionError) { try session.offer(message.body) } catch { Issue.record("not accepted: \(error)") }
            }
        }
    }

    func sessionEnded(_ session: Session) { ended.add(session.identifier) }
}

/// Takes bodies where they lie.
private final class LendingAttendant: SessionAttendant {
    let received = Happenings<[UInt8]>()

    func session(_ session: Session, happened events: [SessionEvent]) {
        for case .message(let message) in events { received.add(message.withBody { $0.withUnsafeBytes { [UInt8]($0) } }) }
    }

    func session(_ session: Session, received messages: SessionMessages) {
        messages.forEach { _, body in received.add(body.withUnsafeBytes { [UInt8]($0) }) }
    }

    func sessionEnded(_ session: Session) {}
}

@Suite("Attendants: events without a task a session", .timeLimit(.minutes(10)))
struct SessionAttendantTests {
    private func listen(_ attendant: any SessionAttendant) async throws -> (listener: SessionListener, endpoint: Endpoint) {
        var configuration = SessionConfiguration(role: .router)
        configuration.identity = RouterIdentity(boot: "00000000000000aa", mac: "02:00:5e:00:53:01")
        let listener = SessionListener(configuration) { event in
            if case .began(let session, _, _) = event { session.assumeIsolated { $0.attend(by: attendant) } }
        }
        return (listener, try await listener.open(Endpoint(.loopback, port: 0)))
    }

    @Test func `messages are receipted, and answered from within the call`() async throws {
        let attendant = EchoAttendant()
        let (listener, endpoint) = try await listen(attendant)
        let session = Session(to: endpoint)
        await session.start()
        var answers: [[UInt8]] = []
        for number in 0..<100 as Range<UInt8> { #expect(try await session.send([number]).result == .delivered) }
        reading: for await batch in session.events {
            for case .message(let message) in batch {
                answers.append(message.body)
                if answers.count == 100 { break reading }
            }
        }
        #expect(answers == (0..<100).map { [$0] })
        await session.close()
        await listener.close()
        #expect(await attendant.ended.next() == session.identifier)
    }

    @Test func `lent bodies of a batch are each message's own, in order`() async throws {
        let attendant = LendingAttendant()
        let (listener, endpoint) = try await listen(attendant)
        let session = Session(to: endpoint)
        await session.start()
        let bodies = (1...200).map { [UInt8](repeating: UInt8($0 & 0xFF), count: $0) }
        for body in bodies { _ = try await session.post(body) }
        var received: [[UInt8]] = []
        while received.count < bodies.count, let next = await attendant.received.next() { received.append(next) }
        #expect(received == bodies)
        await session.settled()
        await session.close()
        await listener.close()
    }

    @Test func `closing a listener with more sessions than a tick runs jobs ends them all`() async throws {
        SystemCalls.raiseDescriptorLimit()
        let attendant = LendingAttendant()
        let (listener, endpoint) = try await listen(attendant)
        let sessions = (0..<1_100).map { _ in Session(to: endpoint) }
        for session in sessions {
            await session.start()
            #expect(try await session.send([1]).result == .delivered)
        }
        #expect(await listener.sessionCount == sessions.count)
        await listener.close()
        for session in sessions { await session.close() }
    }
}
