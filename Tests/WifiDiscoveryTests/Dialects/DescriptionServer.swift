@testable import SocketCore
@testable import WifiDiscovery

/// A server on loopback that says one thing to whoever connects, and a client that fetches a description from it.
actor DescriptionServer: ListenerOwner {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let saying: [UInt8]
    private let hangsUp: Bool
    private var listener: StreamListener?
    private var streams: [Stream] = []
    private var exchange: LoopExchange?

    init(saying: [UInt8], hangsUp: Bool) throws {
        loop = try EventLoop(name: "test-loop")
        self.saying = saying
        self.hangsUp = hangsUp
    }

    deinit { loop.stop() }

    /// Fetches with the given time; `isListening` false leaves the port unused.
    func fetch(within limit: Duration, isListening: Bool = true) async throws -> Result<UPnPDescription, DescriptionError> {
        let listener = try StreamListener(on: loop, bind: Endpoint(.loopback, port: 0), owner: self)
        self.listener = listener
        guard let location = HTTPLocation("http://\(listener.local)/description.xml", from: .loopback) else {
            return .failure(.exchange(.timedOut))
        }
        if !isListening { listener.close() }
        let (outcomes, continuation) = AsyncStream.makeStream(of: Result<UPnPDescription, DescriptionError>.self)
        exchange = try LoopExchange(location, on: loop, within: limit) { continuation.yield($0) }
        for await outcome in outcomes { return outcome }
        return .failure(.exchange(.timedOut))
    }

    nonisolated func listener(_ listener: StreamListener, accepted stream: Stream) {
        let bound = LoopBound(stream, on: loop)
        assumeIsolated { server in
            server.streams.append(bound.value)
            let saying = server.saying
            _ = bound.value.write(saying.span.bytes)
            if server.hangsUp { bound.value.finishWriting() }
        }
    }

    nonisolated func listener(_ listener: StreamListener, failed error: SystemError) {}
}
