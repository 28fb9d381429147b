import SocketCore

/// Whether a port that makes nothing of frames speaks TLS: it's asked in TLS.
enum TLSInquiry {
    /// Sends the first message of a handshake, and looks at how the answer begins.
    static func speaksTLS(_ target: Endpoint, within limit: Duration) -> Bool {
        // What fails here, ours or the peer's, shows no TLS.
        guard let context = try? TLSContext(TLSConfiguration(role: .client, roots: []) { _ in nil }), let engine = try? TLSEngine(context),
            (try? engine.start()) != nil
        else { return false }
        var greeting: [UInt8] = []
        engine.drain { bytes in
            greeting += bytes.withUnsafeBytes { Array($0) }
            return bytes.byteCount
        }
        do throws(StreamEnd) {
            let stream = try BlockingStream.connect(to: target, within: limit)
            try stream.write(greeting, within: limit)
            guard case .bytes(let answer) = try stream.read(within: limit) else { return false }
            return TLSSpeech.begins(answer)
        } catch { return false }
    }
}
