import SocketCore

/// One connection to a router under test, in the clear or over TLS. Every call has its deadline.
final class ConformConnection {
    private let stream: BlockingStream
    private let engine: TLSEngine?

    /// Connects, and with a context does the handshake.
    ///
    /// - Throws: ``StreamEnd``.
    init(to peer: Endpoint, _ context: TLSContext?, within limit: Duration) throws(StreamEnd) {
        stream = try BlockingStream.connect(to: peer, within: limit)
        do throws(TLSError) {
            guard let context else {
                engine = nil
                return
            }
            engine = try TLSEngine(context)
        } catch { throw .insecure(error) }
        try shakeHands(within: limit)
    }

    private func shakeHands(within limit: Duration) throws(StreamEnd) {
        guard let engine else { return }
        let deadline = SystemCalls.monotonicNow() + limit
        do throws(TLSError) { try engine.start() } catch { throw .insecure(error) }
        try flush(engine, deadline)
        while engine.state == .handshaking {
            let left = deadline - SystemCalls.monotonicNow()
            guard left > .zero else { throw .insecure(.connectionLost(.handshake)) }
            guard case .bytes(let bytes) = try stream.read(within: left) else { throw .insecure(.connectionLost(.handshake)) }
            do throws(TLSError) { try engine.feed(bytes.span.bytes) { _ in } } catch {
                // The alert that says why should still reach the peer; when it can't, the first error stands.
                try? flush(engine, deadline)
                throw .insecure(error)
            }
            try flush(engine, deadline)
        }
    }

    private func flush(_ engine: TLSEngine, _ deadline: Instant) throws(StreamEnd) {
        while engine.pendingCount > 0 {
            var ciphertext: [UInt8] = []
            engine.drain { bytes in
                ciphertext += bytes.withUnsafeBytes { Array($0) }
                return bytes.byteCount
            }
            try stream.write(ciphertext, within: deadline - SystemCalls.monotonicNow())
        }
    }

    /// Writes all of `bytes`.
    func write(_ bytes: [UInt8], within limit: Duration) throws(StreamEnd) {
        guard let engine else { return try stream.write(bytes, within: limit) }
        do throws(TLSError) { try engine.write(bytes.span.bytes) } catch { throw .insecure(error) }
        try flush(engine, SystemCalls.monotonicNow() + limit)
    }

    /// Waits for bytes; see ``BlockingStream/read(within:)``.
    func read(within limit: Duration) throws(StreamEnd) -> BlockingStream.Input {
        let input = try stream.read(within: limit)
        guard let engine, case .bytes(let ciphertext) = input else { return input }
        var plaintext: [UInt8] = []
        do throws(TLSError) {
            try engine.feed(ciphertext.span.bytes) { bytes in plaintext += bytes.withUnsafeBytes { Array($0) } }
        } catch { throw .insecure(error) }
        try flush(engine, SystemCalls.monotonicNow() + limit + .seconds(1))
        if plaintext.isEmpty { return engine.state == .peerFinished || engine.state == .ended ? .end : .nothing }
        return .bytes(plaintext)
    }

    /// Says that nothing more will be written.
    func finishWriting() {
        if let engine {
            engine.finishWriting()
            // Fails only on a connection that has broken, which reading reports.
            try? flush(engine, SystemCalls.monotonicNow() + .seconds(1))
        }
        stream.finishWriting()
    }
}
