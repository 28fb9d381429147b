import FrameCodec
import SocketCore

/// Does cases to a device and says what came of them.
protocol TargetLink {
    /// Does one case over a connection of its own.
    mutating func perform(_ targetCase: TargetCase) -> TargetOutcome
    /// Lets time pass.
    mutating func pause(_ span: Duration)
    /// Monotonic.
    var now: Instant { get }
}

/// The link over TCP. Every step has its deadline, so that no device can hold the tool up.
struct TCPTargetLink: TargetLink {
    /// Spans, each with its reason.
    struct Patience {
        /// A device on the same LAN connects and answers a hello within milliseconds; this long is no answer.
        var answer = Duration.seconds(3)
        /// How long to listen for receipts that may not come; a receipt is due within 100 ms (protocol.md, section 2).
        var receipts = Duration.milliseconds(1_000)
        /// How long to listen where nothing need come: enough to see the connection close or a wrong receipt.
        var quiet = Duration.milliseconds(40)
    }

    let target: Endpoint
    let layout: FrameLayout
    let isPlain: Bool
    var patience = Patience()
    /// Draws the sessions' names: each connection opens a session of its own.
    private var dice: SeededGenerator

    init(target: Endpoint, layout: FrameLayout, isPlain: Bool, seed: UInt64) {
        self.target = target
        self.layout = layout
        self.isPlain = isPlain
        dice = SeededGenerator(seed: seed ^ UInt64(bitPattern: SystemCalls.monotonicNow().nanoseconds))
    }

    var now: Instant { SystemCalls.monotonicNow() }

    mutating func pause(_ span: Duration) {
        guard span > .zero else { return }
        SystemCalls.sleep(span)
    }

    mutating func perform(_ targetCase: TargetCase) -> TargetOutcome {
        var outcome = TargetOutcome()
        do throws(StreamEnd) {
            let stream = try BlockingStream.connect(to: target, within: patience.answer)
            do throws(StreamEnd) {
                let isOpen = try open(stream, targetCase, &outcome)
                if isOpen {
                    try withCompanions(targetCase.companions, targetCase) { (link: inout TCPTargetLink) throws(StreamEnd) in
                        try link.talk(stream, targetCase, &outcome)
                    }
                }
            } catch {
                outcome.ending = .broken("\(error)")
            }
            if targetCase.closing == .reset { stream.resetWhenClosed() }
        } catch {
            outcome.connectFailure = "\(error)"
        }
        return outcome
    }

    /// Says hello if the case begins so; false when nothing more is to be done.
    private mutating func open(_ stream: borrowing BlockingStream, _ targetCase: TargetCase, _ outcome: inout TargetOutcome)
        throws(StreamEnd) -> Bool
    {
        guard targetCase.opening == .hello, !isPlain else { return true }
        let session = SessionIdentifier(high: dice.next(), low: dice.next())
        let hello = ControllerHello(session: session, versions: [1], received: 0, resume: false, client: "wifictl fuzz")
        let asked = now
        // A connection that breaks before its hello is answered shows a device that can't be talked to.
        outcome.helloMissing = true
        try stream.write(encoded(hello.encoded()), within: patience.answer)
        let deadline = asked + patience.answer
        var received: [UInt8] = []
        while now < deadline {
            switch try stream.read(within: deadline - now) {
            case .bytes(let bytes):
                received += bytes
                if TLSSpeech.begins(received) {
                    outcome.speaksTLS = true
                    return false
                }
            case .nothing: return false
            case .end:
                outcome.ending = .closed
                return false
            }
            guard let (frame, rest) = firstFrame(received) else { continue }
            outcome.helloMissing = false
            outcome.helloTime = now - asked
            outcome.boot = (try? RouterHello(frame.body.span.bytes))?.identity.boot
            outcome.received = rest
            return true
        }
        return false
    }

    private func encoded(_ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        HeaderWriter.append(msgId: 0, version: 1, lengthField: HostileValues.lengthField(body.count, layout), layout, to: &bytes)
        return bytes + body
    }

    private func firstFrame(_ bytes: [UInt8]) -> (Frame, [UInt8])? {
        let answer = ReferenceDecoder(layout: layout).answer(to: bytes, ended: false)
        guard let frame = answer.frames.first else { return nil }
        return (frame, Array(bytes.dropFirst(FrameHeader.byteCount + frame.body.count)))
    }

    private mutating func talk(_ stream: borrowing BlockingStream, _ targetCase: TargetCase, _ outcome: inout TargetOutcome)
        throws(StreamEnd)
    {
        for (index, piece) in targetCase.writes.enumerated() {
            if index > 0 { pause(targetCase.pause) }
            try stream.write(piece, within: patience.answer)
        }
        if targetCase.closing == .halfClose { stream.finishWriting() }
        try listen(stream, targetCase, &outcome)
    }

    /// Reads until everything due has come, the device closes, or it's time.
    private mutating func listen(_ stream: borrowing BlockingStream, _ targetCase: TargetCase, _ outcome: inout TargetOutcome)
        throws(StreamEnd)
    {
        var due: Set<UInt32> = []
        if case .receipts(let ids) = targetCase.expectation, !isPlain { due = Set(ids) }
        let deadline = now + (due.isEmpty ? patience.quiet : patience.receipts)
        while now < deadline {
            let answer = ReferenceDecoder(layout: layout).answer(to: outcome.received, ended: false)
            let receipts = answer.frames.filter { $0.msgId != 0 && $0.body.isEmpty }.map(\.msgId)
            if !due.isEmpty, due.isSubset(of: receipts) { return }
            switch try stream.read(within: deadline - now) {
            case .bytes(let bytes): outcome.received += bytes
            case .nothing: return
            case .end:
                outcome.ending = .closed
                return
            }
        }
    }

    /// Opens further connections that send the case's bytes, and keeps them while `body` runs.
    private mutating func withCompanions(
        _ count: Int, _ targetCase: TargetCase, _ body: (inout TCPTargetLink) throws(StreamEnd) -> Void
    ) throws(StreamEnd) {
        guard count > 0 else { return try body(&self) }
        let companion = try BlockingStream.connect(to: target, within: patience.answer)
        for piece in targetCase.writes { try companion.write(piece, within: patience.answer) }
        try withCompanions(count - 1, targetCase, body)
    }
}
