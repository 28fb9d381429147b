import Glibc

/// Listens at a path for other processes of the same user.
///
/// A lock beside the path tells whether somebody listens: what a killed process left there is taken over.
public actor LocalListener: ListenerOwner {
    /// The loop that it runs on.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// Those who connected; ends with ``close()``.
    public nonisolated let links: AsyncStream<LocalLink>

    /// Connections that may wait to be looked at; more are turned away.
    private static let largestWaiting = 64

    private let path: String
    private let onFailure: @Sendable (SystemError) -> Void
    private let arrivals: AsyncStream<LocalLink>.Continuation
    private var listener: StreamListener?
    private var lock: FileLock?

    private init(_ path: String, _ loop: EventLoop, _ onFailure: @escaping @Sendable (SystemError) -> Void) {
        self.path = path
        self.loop = loop
        self.onFailure = onFailure
        (links, arrivals) = AsyncStream<LocalLink>.makeStream(bufferingPolicy: .bufferingOldest(LocalListener.largestWaiting))
    }

    /// Listens at `path`, readable and writable for its owner alone; its directory must exist.
    ///
    /// - Parameters:
    ///   - path: at most 107 bytes; nothing may be there yet.
    ///   - loop: where it runs.
    ///   - onFailure: accepting failed; it goes on by itself. Called on the loop's thread.
    /// - Throws: ``SystemError`` about the path: `EADDRINUSE` where another process listens, `ENAMETOOLONG` beyond 107 bytes.
    public static func open(
        _ path: String, on loop: EventLoop = .shared, onFailure: @escaping @Sendable (SystemError) -> Void
    ) async throws(SystemError) -> LocalListener {
        let listener = LocalListener(path, loop, onFailure)
        try await listener.listen()
        return listener
    }

    private func listen() throws(SystemError) {
        guard let lock = try FileLock.take(path + ".lock") else {
            throw SystemError(function: "bind", code: EADDRINUSE, subject: path)
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemError(function: "unlink", code: errno, subject: path) }
        listener = try StreamListener(on: loop, path: path, owner: self)
        self.lock = consume lock
    }

    /// Stops listening and takes the path away; links go on.
    public func close() {
        guard let listener else { return }
        listener.close()
        self.listener = nil
        unlink(path)
        lock = nil
        arrivals.finish()
    }

    nonisolated func listener(_ listener: StreamListener, accepted stream: Stream) {
        let bound = LoopBound(stream, on: loop)
        assumeIsolated { $0.accepted(bound) }
    }

    nonisolated func listener(_ listener: StreamListener, failed error: SystemError) { onFailure(error) }

    private func accepted(_ stream: LoopBound<Stream>) {
        if case .dropped = arrivals.yield(LocalLink(over: stream, on: loop)) { stream.value.close() }
    }
}
