import SocketCore
import Synchronization

/// What a session told, collected by its one reader.
final class SessionLog: Sendable {
    let messages = Happenings<InboundMessage>()
    let outcomes = Happenings<MessageOutcome>()
    let states = Happenings<SessionState>()
    private let reader = Mutex<Task<Void, Never>?>(nil)

    /// Begins to read; `loop` is the session's.
    init(_ session: Session) {
        let (messages, outcomes, states) = (messages, outcomes, states)
        reader.withLock {
            $0 = Task(executorPreference: session.loop) {
                for await batch in session.events {
                    for event in batch {
                        switch event {
                        case .message(let message): messages.add(message)
                        case .outcome(let outcome): outcomes.add(outcome)
                        case .state(let state): states.add(state)
                        default: break
                        }
                    }
                }
            }
        }
    }

    /// The next `count` outcomes.
    func outcomes(_ count: Int) async -> [MessageOutcome] {
        var left = count
        return count == 0
            ? []
            : await outcomes.until { _ in
                left -= 1
                return left == 0
            }
    }

    /// The bodies of the next `count` messages.
    func bodies(_ count: Int) async -> [[UInt8]] {
        var left = count
        let found = await messages.until { _ in
            left -= 1
            return left == 0
        }
        return found.map(\.body)
    }

    /// Waits for a state.
    func state(_ matches: (SessionState) -> Bool) async { _ = await states.until(matches) }
}

/// One session over loopback, with both of its ends, and what each is told.
struct BothEnds {
    let listener: SessionListener
    let session: Session
    let router: Session
    let log: SessionLog
    let theirLog: SessionLog

    /// Opens it.
    init() async throws {
        let began = Happenings<Session>()
        listener = SessionListener(SessionConfiguration(role: .router)) { if case .began(let session, _, _) = $0 { began.add(session) } }
        session = Session(to: try await listener.open(Endpoint(.loopback, port: 0)), .hasty())
        log = SessionLog(session)
        await session.start()
        guard let other = await began.next() else { throw CancellationError() }
        router = other
        theirLog = SessionLog(router)
    }
}

extension SessionConfiguration {
    /// A controller that dials again at once; `adjust` may hurry more.
    static func hasty(_ adjust: (inout SessionConfiguration) -> Void = { _ in }) -> SessionConfiguration {
        var configuration = SessionConfiguration(role: .controller)
        configuration.timing.reconnect.base = .milliseconds(5)
        configuration.timing.reconnect.ceiling = .milliseconds(50)
        adjust(&configuration)
        return configuration
    }
}

func text(_ number: Int) -> [UInt8] { Array("message \(number)".utf8) }
