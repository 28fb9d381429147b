import Synchronization

@testable import SocketCore

/// Runs a test's code on a loop's thread, where sockets may be touched.
actor OnLoop {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) { self.loop = loop }

    func run<T: Sendable>(_ body: @Sendable (EventLoop) throws -> T) rethrows -> T { try body(loop) }
}

/// What happened, in order, for a test to wait for.
final class Happenings<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func add(_ element: Element) { continuation.yield(element) }

    /// The elements up to the first that satisfies `isLast`, that one included. The test's time limit is the deadline.
    func until(_ isLast: (Element) -> Bool) async -> [Element] {
        var found: [Element] = []
        for await element in stream {
            found.append(element)
            if isLast(element) { break }
        }
        return found
    }

    func next() async -> Element? { await until { _ in true }.first }
}

/// A stream's owner that writes down what it's told.
final class RecordingOwner: StreamOwner, Sendable {
    enum Event: Sendable, Equatable {
        case opened
        case received([UInt8])
        case writable
        case ended(StreamEnd)
    }

    let events = Happenings<Event>()
    private let echoes: Bool

    init(echoes: Bool = false) { self.echoes = echoes }

    func streamOpened(_ stream: Stream) { events.add(.opened) }
    func stream(_ stream: Stream, received bytes: RawSpan) {
        if echoes { _ = stream.write(bytes) }
        events.add(.received(bytes.withUnsafeBytes { [UInt8]($0) }))
    }
    func streamIsWritable(_ stream: Stream) { events.add(.writable) }
    func streamEnded(_ stream: Stream, _ end: StreamEnd) {
        if echoes { stream.close() }
        events.add(.ended(end))
    }
}

/// A listener with its connections and one client's connection, all on one loop.
actor StreamHarness: ListenerOwner {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let serverOwner: RecordingOwner
    private let clientOwner: RecordingOwner
    private let acceptedReads: Bool
    private var listener: StreamListener?
    private var accepted: [Stream] = []
    private var client: Stream?

    init(server: RecordingOwner, client: RecordingOwner, acceptedReads: Bool = true) throws {
        loop = try EventLoop(name: "test-loop")
        serverOwner = server
        clientOwner = client
        self.acceptedReads = acceptedReads
    }

    deinit { loop.stop() }

    func listen(_ address: IPAddress) throws -> Endpoint {
        let listener = try StreamListener(on: loop, bind: Endpoint(address, port: 0), owner: self)
        self.listener = listener
        return listener.local
    }

    func stopListening() { listener?.close() }

    func connect(to endpoint: Endpoint) throws { client = try Stream.connect(to: endpoint, on: loop, owner: clientOwner) }

    @discardableResult
    func write(_ bytes: [UInt8]) -> Int { client?.write(bytes.span.bytes) ?? 0 }

    func finishWriting() { client?.finishWriting() }

    func setAcceptedReading(_ reading: Bool) { for stream in accepted { stream.isReading = reading } }

    func closeAccepted() { for stream in accepted { stream.close() } }

    nonisolated func listener(_ listener: StreamListener, accepted stream: Stream) {
        let bound = LoopBound(stream, on: loop)
        assumeIsolated { harness in
            let stream = bound.value
            stream.owner = harness.serverOwner
            stream.isReading = harness.acceptedReads
            harness.accepted.append(stream)
        }
    }

    nonisolated func listener(_ listener: StreamListener, failed error: SystemError) {}
}
