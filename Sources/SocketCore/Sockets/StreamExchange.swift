/// One request and its answer over TCP, for protocols whose server speaks once and closes. Confined to the loop's thread.
public final class StreamExchange: StreamOwner, TimerHandler {
    /// How it ended.
    public enum Ending: Error, Equatable, Sendable, CustomStringConvertible {
        /// `take` had enough.
        case satisfied
        /// The connection ended.
        case stream(StreamEnd)
        /// The time was over.
        case timedOut

        /// A clause for people.
        public var description: String {
            switch self {
            case .satisfied: "enough has come"
            case .stream(let end): "\(end)"
            case .timedOut: "it took too long"
            }
        }
    }

    private let loop: EventLoop
    private let take: (RawSpan) -> Bool
    private let finish: (Ending) -> Void
    private var unsent: [UInt8]
    private var stream: Stream?
    private var timer: TimerToken?

    /// Connects and sends; on the loop's thread.
    ///
    /// - Parameters:
    ///   - endpoint: the server.
    ///   - loop: where it runs.
    ///   - request: all that is sent.
    ///   - limit: the time for all of it, connecting included.
    ///   - take: gets what comes, and answers false when it has enough.
    ///   - finish: called once, unless the exchange is cancelled; never from within this call.
    /// - Throws: ``SystemError`` when no connection can be begun.
    public init(
        with endpoint: Endpoint, on loop: EventLoop, request: [UInt8], within limit: Duration, take: @escaping (RawSpan) -> Bool,
        finish: @escaping (Ending) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.take = take
        self.finish = finish
        unsent = request
        stream = try Stream.connect(to: endpoint, on: loop, owner: self)
        timer = loop.addTimer(self)
        if let timer { loop.setTimer(timer, to: loop.now + limit) }
    }

    /// Ends it without a word.
    public func cancel() {
        if let timer { loop.removeTimer(timer) }
        timer = nil
        stream?.close()
        stream = nil
    }

    func streamOpened(_ stream: Stream) { streamIsWritable(stream) }

    func streamIsWritable(_ stream: Stream) {
        guard !unsent.isEmpty else { return }
        unsent.removeFirst(stream.write(unsent.span.bytes))
    }

    func stream(_ stream: Stream, received bytes: RawSpan) { if !take(bytes) { end(.satisfied) } }

    func streamEnded(_ stream: Stream, _ reason: StreamEnd) { end(.stream(reason)) }

    func timerFired(at now: Instant) { end(.timedOut) }

    private func end(_ ending: Ending) {
        guard stream != nil else { return }
        cancel()
        finish(ending)
    }
}
