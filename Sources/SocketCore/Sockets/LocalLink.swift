import FrameCodec
import Glibc
import Synchronization

/// Frames between two processes of one user on one machine, over a socket with a path (unix(7)).
///
/// Both may post at any time and from any thread. What isn't taken by the other side is kept, and whoever can wait does so
/// with ``room()``; whoever can't is cut off at ``largestBacklog``.
public actor LocalLink: StreamOwner {
    /// Bytes that may wait for the other side before ``post(_:_:)`` gives the link up.
    public static let largestBacklog = 16 << 20
    /// Bytes beyond which ``room()`` waits.
    static let highMark = 256 << 10
    /// Bytes of one frame; longer bodies go in pieces.
    public static let largestPiece = 64 << 10

    /// The loop that it runs on.
    public nonisolated let loop: EventLoop
    /// It runs on its loop's thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private struct Backlog {
        var bytes: [UInt8] = []
        /// Bytes at its start that were written already.
        var written = 0
        var isFlushing = false
        /// Nothing is taken any more.
        var isEnded = false
        /// The other side didn't take enough: the whole link ends.
        var isOverfull = false

        var count: Int { bytes.count - written }
    }

    private nonisolated let backlog = Mutex(Backlog())
    private var stream: Stream?
    private var decoder = FrameDecoder()
    private var waiters: [CheckedContinuation<Void, Never>] = []
    /// What arrived and wasn't asked for yet; beyond ``highMark`` nothing more is read.
    private var arrived: [Frame] = []
    private var arrivedBytes = 0
    private var reader: CheckedContinuation<Void, Never>?

    private init(_ loop: EventLoop) { self.loop = loop }

    /// Over a connection that a listener accepted; on the loop's thread.
    init(over stream: LoopBound<Stream>, on loop: EventLoop) {
        self.loop = loop
        stream.value.readsToTheEnd = true
        self.stream = stream.value
        self.stream?.owner = self
    }

    /// Connects to the process that listens at `path`.
    ///
    /// - Throws: ``SystemError`` about the path: `ENOENT` or `ECONNREFUSED` where nobody listens.
    public static func connect(to path: String, on loop: EventLoop = .shared) async throws(SystemError) -> LocalLink {
        let descriptor = try SystemCalls.connectLocal(path)
        let link = LocalLink(loop)
        try await link.attach(descriptor)
        return link
    }

    private func attach(_ descriptor: consuming FileDescriptor) throws(SystemError) {
        let stream = try Stream.local(descriptor, on: loop)
        stream.owner = self
        stream.readsToTheEnd = true
        self.stream = stream
    }

    /// The frames that arrived since the last call, at least one; nil once the link has ended and all were given.
    ///
    /// One task at a time may wait here.
    public func next() async -> [Frame]? {
        while arrived.isEmpty, stream != nil { await withCheckedContinuation { reader = $0 } }
        guard !arrived.isEmpty else { return nil }
        defer {
            arrived = []
            arrivedBytes = 0
            stream?.isReading = true
        }
        return arrived
    }

    /// Sends a body of any length, in frames of at most ``largestPiece``; an empty one is a frame too.
    ///
    /// - Returns: false once the link has ended, also when the other side didn't take ``largestBacklog`` bytes.
    @discardableResult
    public nonisolated func post(_ kind: UInt32, _ body: [UInt8] = []) -> Bool {
        let (isTaken, starts) = backlog.withLock { backlog -> (Bool, Bool) in
            guard !backlog.isEnded else { return (false, false) }
            let encoder = FrameEncoder()
            var rest = body[...]
            repeat {
                let piece = Array(rest.prefix(LocalLink.largestPiece))
                rest = rest.dropFirst(piece.count)
                do { backlog.bytes += try encoder.encode(Frame(msgId: kind, body: piece)) } catch {
                    preconditionFailure("a piece is within the limits of a frame: \(error)")
                }
            } while !rest.isEmpty
            if backlog.count > LocalLink.largestBacklog { (backlog.isEnded, backlog.isOverfull) = (true, true) }
            defer { backlog.isFlushing = true }
            return (!backlog.isEnded, !backlog.isFlushing)
        }
        if starts { Task(executorPreference: loop) { await self.flush() } }
        return isTaken
    }

    /// Returns once the other side has taken most of what was posted, or the link has ended.
    public func room() async {
        guard stream != nil, backlog.withLock({ $0.count }) > LocalLink.highMark else { return }
        await withCheckedContinuation { waiters.append($0) }
    }

    /// Ends the link once everything posted is written, or at once when the other side is gone.
    public func close() async {
        while stream != nil, backlog.withLock({ !$0.isEnded && $0.count > 0 }) {
            await withCheckedContinuation { waiters.append($0) }
        }
        end()
    }

    private func flush() {
        let (isOverfull, isEmpty, hasRoom) = backlog.withLock { backlog -> (Bool, Bool, Bool) in
            backlog.isFlushing = false
            guard !backlog.isEnded, let stream else { return (backlog.isOverfull, true, true) }
            backlog.written += stream.write(backlog.bytes.span.bytes.extracting(droppingFirst: backlog.written))
            if backlog.count == 0 {
                backlog.bytes.removeAll(keepingCapacity: backlog.bytes.capacity <= LocalLink.highMark)
                backlog.written = 0
            } else if backlog.written > LocalLink.highMark {
                backlog.bytes.removeFirst(backlog.written)
                backlog.written = 0
            }
            return (false, backlog.count == 0, backlog.count <= LocalLink.highMark)
        }
        if isOverfull { return end() }
        if isEmpty || hasRoom { wake() }
    }

    private func wake() {
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    private func end() {
        endOutput()
        stream?.close()
        stream = nil
        wakeReader()
    }

    private func endOutput() {
        backlog.withLock {
            $0.isEnded = true
            $0.bytes = []
            $0.written = 0
        }
        wake()
    }

    // MARK: Called by the loop

    nonisolated func streamOpened(_ stream: Stream) {}

    nonisolated func stream(_ stream: Stream, received bytes: RawSpan) { assumeIsolated { $0.receive(bytes) } }

    nonisolated func streamIsWritable(_ stream: Stream) { assumeIsolated { $0.flush() } }

    nonisolated func streamEnded(_ stream: Stream, _ end: StreamEnd) { assumeIsolated { $0.end() } }

    nonisolated func streamTakesNothingMore(_ stream: Stream) { assumeIsolated { $0.endOutput() } }

    private func receive(_ bytes: RawSpan) {
        do throws(FrameError) {
            _ = try decoder.decode(bytes) { header, body in
                arrived.append(Frame(header, body))
                arrivedBytes += FrameHeader.byteCount + body.byteCount
                return .more
            }
        } catch {
            // Another protocol, or another version of ours: nothing that follows can be understood.
            return end()
        }
        if arrivedBytes > LocalLink.highMark { stream?.isReading = false }
        if !arrived.isEmpty { wakeReader() }
    }

    private func wakeReader() {
        reader?.resume()
        reader = nil
    }
}
