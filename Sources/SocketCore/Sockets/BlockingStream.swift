import Glibc

/// One TCP connection for tools that do one thing after another: every call blocks its thread until it's done or its time is
/// over. Sessions run on the event loop instead.
public struct BlockingStream: ~Copyable {
    /// What a read came to.
    public enum Input: Equatable, Sendable {
        /// At least one byte.
        case bytes([UInt8])
        /// Nothing came in time; the connection still stands.
        case nothing
        /// The peer has finished sending.
        case end
    }

    /// What one read takes at most, in bytes.
    private static let readSize = 64 * 1024

    /// The other side.
    public let peer: Endpoint
    private let descriptor: FileDescriptor

    private init(peer: Endpoint, descriptor: consuming FileDescriptor) {
        self.peer = peer
        self.descriptor = descriptor
    }

    /// Connects.
    ///
    /// - Throws: ``StreamEnd/connectFailed(_:)``, with `ETIMEDOUT` when the time was over.
    public static func connect(to peer: Endpoint, within limit: Duration) throws(StreamEnd) -> BlockingStream {
        do throws(SystemError) {
            let descriptor = try TCPSocket.connect(to: peer)
            let isReady = SystemCalls.waitUntilReady(descriptor.number, .writable, within: limit)
            let code = isReady ? try SystemCalls.pendingError(descriptor.number) : ETIMEDOUT
            guard code == 0 else { throw SystemError(function: "connect", code: code) }
            return BlockingStream(peer: peer, descriptor: descriptor)
        } catch {
            throw .connectFailed(error.about(peer.description))
        }
    }

    /// Writes all of `bytes`.
    ///
    /// - Throws: ``StreamEnd/broken(_:)``, with `ETIMEDOUT` when the peer didn't take them in time.
    public func write(_ bytes: [UInt8], within limit: Duration) throws(StreamEnd) {
        let deadline = SystemCalls.monotonicNow() + limit
        var written = 0
        do throws(SystemError) {
            while written < bytes.count {
                if case .moved(let count) = try SystemCalls.send(descriptor.number, bytes.span.bytes.extracting(droppingFirst: written)) {
                    written += count
                } else if !SystemCalls.waitUntilReady(descriptor.number, .writable, within: deadline - SystemCalls.monotonicNow()) {
                    throw SystemError(function: "send", code: ETIMEDOUT)
                }
            }
        } catch {
            throw .broken(error.about(peer.description))
        }
    }

    /// Waits for bytes.
    ///
    /// - Throws: ``StreamEnd/broken(_:)``.
    public func read(within limit: Duration) throws(StreamEnd) -> Input {
        var failure: SystemError?
        var outcome = IOOutcome.wouldBlock
        _ = SystemCalls.waitUntilReady(descriptor.number, .readable, within: limit)
        let bytes = [UInt8](unsafeUninitializedCapacity: BlockingStream.readSize) { buffer, count in
            do throws(SystemError) {
                outcome = try SystemCalls.receive(descriptor.number, into: UnsafeMutableRawBufferPointer(buffer))
                if case .moved(let moved) = outcome { count = moved }
            } catch { failure = error }
        }
        if let failure { throw .broken(failure.about(peer.description)) }
        switch outcome {
        case .moved: return .bytes(bytes)
        case .wouldBlock: return .nothing
        case .endOfStream: return .end
        }
    }

    /// Says that nothing more will be written; reading goes on.
    public func finishWriting() {
        // Fails only on a connection that has broken, which reading reports.
        try? SystemCalls.shutdownWriting(descriptor.number)
    }

    /// Makes the end of this value a reset of the connection instead of an orderly close.
    public func resetWhenClosed() {
        // A connection that has broken is closed in any case.
        try? SystemCalls.setOption(descriptor.number, SOL_SOCKET, SO_LINGER, structure: linger(l_onoff: 1, l_linger: 0))
    }
}
