import WifiDiscovery

/// The scans of one run side by side, in one stream.
struct RunningDiscovery: Sendable {
    enum Event: Sendable {
        case native(ScanEvent)
        case foreign(DialectEvent)
        /// No foreign dialect can be spoken here, and why; the native scan goes on.
        case foreignFailed(DiscoveryError)
    }

    /// What they say; each tells its result last. For one reader. Fails with `DiscoveryError` when nothing can be scanned.
    let events: AsyncThrowingStream<Event, any Error>
    private let native: RunningScan?
    private let foreign: RunningDialectScan?

    init(_ native: RunningScan?, _ foreign: RunningDialectScan?) {
        (self.native, self.foreign) = (native, foreign)
        // As many as each of the scans keeps for a reader who falls behind.
        let (events, continuation) = AsyncThrowingStream.makeStream(
            of: Event.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(DiscoveryBounds.replies))
        let task = Task {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    if let native { group.addTask { for try await event in native.events { continuation.yield(.native(event)) } } }
                    if let foreign {
                        group.addTask { try await RunningDiscovery.relay(foreign, continuation, isAlone: native == nil) }
                    }
                    try await group.waitForAll()
                }
                continuation.finish()
            } catch { continuation.finish(throwing: error) }
        }
        continuation.onTermination = { _ in task.cancel() }
        self.events = events
    }

    private static func relay(
        _ foreign: RunningDialectScan, _ continuation: AsyncThrowingStream<Event, any Error>.Continuation, isAlone: Bool
    ) async throws {
        do {
            for try await event in foreign.events { continuation.yield(.foreign(event)) }
        } catch let error as DiscoveryError where !isAlone {
            continuation.yield(.foreignFailed(error))
        }
    }

    /// Ends them early; the results are told.
    func stop() {
        native?.stop()
        foreign?.stop()
    }
}
