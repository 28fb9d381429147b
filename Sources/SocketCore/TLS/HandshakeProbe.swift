/// One TLS handshake with a peer, for the sake of what it tells: nothing is said over the connection, which ends in order at once.
///
/// The configuration's judge hears the evidence; this tells how the connection went. Confined to the loop's thread.
public final class HandshakeProbe: StreamOwner, TimerHandler {
    /// How it went.
    public enum Outcome: Equatable, Sendable {
        /// The peer was admitted.
        case opened
        /// The handshake failed, the judge's refusal included.
        case failed(TLSError)
        /// The time was over; whether there was a connection at all by then.
        case timedOut(isConnected: Bool)
        /// There was no connection.
        case unreachable(String)
    }

    /// How long the peer is waited for after our goodbye, so that it reads that and no broken connection.
    private static let farewell = Duration.seconds(1)

    private let loop: EventLoop
    private var finish: ((Outcome) -> Void)?
    private var stream: Stream?
    private var timer: TimerToken?

    /// Begins; on the loop's thread.
    ///
    /// - Parameters:
    ///   - endpoint: whom to ask.
    ///   - configuration: our side, with the judge that hears the evidence.
    ///   - loop: where it runs.
    ///   - limit: the time for all of it, connecting included.
    ///   - finish: called once, never from within this call.
    /// - Throws: ``TLSError`` about the configuration, ``SystemError`` when no connection can be begun.
    public init(
        with endpoint: Endpoint, _ configuration: TLSConfiguration, on loop: EventLoop, within limit: Duration,
        finish: @escaping (Outcome) -> Void
    ) throws {
        self.loop = loop
        self.finish = finish
        let engine = try TLSEngine(TLSContext(configuration))
        stream = try Stream.connect(to: endpoint, on: loop, tls: engine, owner: self)
        timer = loop.addTimer(self)
        if let timer { loop.setTimer(timer, to: loop.now + limit) }
    }

    func streamOpened(_ stream: Stream) {
        tell(.opened)
        stream.finishWriting()
        if let timer { loop.setTimer(timer, to: loop.now + HandshakeProbe.farewell) }
    }

    func streamIsWritable(_ stream: Stream) {}

    func stream(_ stream: Stream, received bytes: RawSpan) {}

    func streamEnded(_ stream: Stream, _ end: StreamEnd) {
        switch end {
        case .connectFailed(let error): tell(.unreachable(error.reason))
        case .insecure(let error): tell(.failed(error))
        case .broken, .peerFinished: tell(.failed(.connectionLost(.handshake)))
        }
        cancel()
    }

    func timerFired(at now: Instant) {
        tell(.timedOut(isConnected: stream?.isConnected ?? false))
        cancel()
    }

    private func tell(_ outcome: Outcome) {
        let told = finish
        finish = nil
        told?(outcome)
    }

    private func cancel() {
        if let timer { loop.removeTimer(timer) }
        timer = nil
        stream?.close()
        stream = nil
    }
}
