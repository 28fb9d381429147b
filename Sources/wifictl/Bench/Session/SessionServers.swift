import Glibc
import SocketCore

/// A router's side on its own thread: takes every message and does next to nothing with it, so that the session's cost shows.
actor RouterServer: SessionAttendant {
    private nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private var listener: SessionListener?
    private var sessions: [Session] = []
    private var sum: UInt64 = 0

    init(on thread: LoopThread) { loop = thread.loop }

    func open(_ configuration: SessionConfiguration) async throws -> Endpoint {
        let listener = SessionListener(configuration, loop: loop) { [weak self] event in
            if case .began(let session, _, _) = event { self?.assumeIsolated { $0.serve(session) } }
        }
        self.listener = listener
        return try await listener.open(Endpoint(.loopback, port: 0))
    }

    private func serve(_ session: Session) {
        sessions.append(session)
        session.assumeIsolated { $0.attend(by: self) }
    }

    nonisolated func session(_ session: Session, happened events: [SessionEvent]) {
        for case .message(let message) in events { assumeIsolated { $0.sum &+= RouterServer.work(message.msgId, message.body.span.bytes) } }
    }

    nonisolated func session(_ session: Session, received messages: SessionMessages) {
        var sum: UInt64 = 0
        messages.forEach { sum &+= RouterServer.work($0, $1) }
        assumeIsolated { [sum] in $0.sum &+= sum }
    }

    nonisolated func sessionEnded(_ session: Session) {}

    /// The same as in session.c: enough that no compiler leaves it out.
    @inline(__always)
    private static func work(_ msgId: UInt32, _ body: RawSpan) -> UInt64 {
        UInt64(msgId) &+ UInt64(truncatingIfNeeded: body.byteCount) &+ UInt64(body.isEmpty ? 0 : body.unsafeLoad(as: UInt8.self))
    }

    /// By all its sessions so far.
    func heartbeatsSent() -> UInt64 {
        sessions.reduce(0) { sum, session in sum + session.assumeIsolated { $0.counters.heartbeatsSent } }
    }

    func close() async { await listener?.close() }
}

/// The server in C on its own thread.
final class ReferenceServer: Sendable {
    let port: UInt16
    private let stopping: Int32
    private let serving: Task<Void, Never>

    init(_ reference: SessionReference, on thread: LoopThread, hello: String) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SessionBench.Failure(description: "no pipe to stop the reference by") }
        let (listener, port) = try reference.makeListener()
        self.port = port
        stopping = ends[1]
        let stop = ends[0]
        serving = Task { await thread.run { reference.serve(listener, until: stop, hello: hello) } }
    }

    func close() async {
        Glibc.close(stopping)
        await serving.value
    }
}
