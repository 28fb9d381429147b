import Glibc

/// One TCP connection on the loop, in the clear or in TLS: bytes in, bytes out, no idea what they mean.
///
/// Confined to the loop's thread. Reads into the loop's shared buffer and lends what came to its owner; writes what the
/// owner offers and says how much the kernel took: what's left stays with the owner.
final class Stream: ReadinessHandler {
    /// Reads of one connection in one tick: a peer that sends without end mustn't keep the others waiting.
    private static let readsPerTick = 4

    let loop: EventLoop
    /// The other side.
    let peer: Endpoint
    /// Set to nil when the owner lets go; handed from the greeter to the session on a router.
    var owner: (any StreamOwner)?

    /// Plaintext is taken while less ciphertext than this waits: a kernel buffer's worth.
    private static let ciphertextMark = 64 << 10

    private var descriptor: FileDescriptor?
    private var token: PollToken?
    private var isConnecting: Bool
    private var wantsWriting = false
    private var inputEnded = false
    private var tls: TLSEngine?
    /// The owner knows that the stream is open.
    private var isAnnounced = false
    private var finishesWhenWritten = false
    /// False stops reading, and so, in time, the peer.
    var isReading = true {
        didSet {
            guard isReading != oldValue else { return }
            if isReading, isOutOfSight { watchAgain() } else { updateInterest() }
        }
    }
    /// What a peer has sent before it went comes to the owner however long reading is paused, for owners to whom nobody sends it again. Others
    /// hear of the end at once, and of no bytes before it.
    var readsToTheEnd = false
    /// The peer has gone, reading is paused, and bytes wait: epoll would tell of that without end.
    private var isOutOfSight = false

    /// Whether the last write took everything.
    var isWritable: Bool { token != nil && !isConnecting && !wantsWriting }
    /// Whether the peer took the connection, TLS aside.
    var isConnected: Bool { token != nil && !isConnecting }
    /// True until ``close()``.
    var isOpen: Bool { descriptor != nil }

    /// A connection on its way; the owner hears of its end or its opening later, never from within this call.
    static func connect(
        to endpoint: Endpoint, on loop: EventLoop, tls: TLSEngine? = nil, owner: any StreamOwner
    ) throws(SystemError) -> Stream {
        let descriptor = try TCPSocket.connect(to: endpoint)
        let stream = Stream(loop: loop, peer: endpoint, isConnecting: true)
        stream.owner = owner
        stream.tls = tls
        try stream.attach(descriptor, interest: .writable)
        return stream
    }

    /// A connection that a listener accepted. It reads once it has an owner: see ``begin(_:)``.
    static func accepted(_ descriptor: consuming FileDescriptor, from peer: Endpoint, on loop: EventLoop) throws(SystemError) -> Stream {
        try TCPSocket.disableCoalescing(descriptor)
        return try connected(descriptor, to: peer, on: loop)
    }

    /// A connection with a process of this machine. It reads once it has an owner.
    static func local(_ descriptor: consuming FileDescriptor, on loop: EventLoop) throws(SystemError) -> Stream {
        try connected(descriptor, to: Endpoint(.any, port: 0), on: loop)
    }

    private static func connected(_ descriptor: consuming FileDescriptor, to peer: Endpoint, on loop: EventLoop) throws(SystemError)
        -> Stream
    {
        let stream = Stream(loop: loop, peer: peer, isConnecting: false)
        stream.isAnnounced = true
        try stream.attach(descriptor, interest: .readable)
        return stream
    }

    private init(loop: EventLoop, peer: Endpoint, isConnecting: Bool) {
        self.loop = loop
        self.peer = peer
        self.isConnecting = isConnecting
    }

    private func attach(_ descriptor: consuming FileDescriptor, interest: Readiness) throws(SystemError) {
        token = try loop.add(descriptor.number, interest: interest, handler: self)
        self.descriptor = consume descriptor
    }

    /// By which way a connection that was accepted came; nil when it's over.
    var arrival: StreamArrival? {
        guard let number = descriptor?.number, let local = try? SystemCalls.localEndpoint(number) else { return nil }
        return StreamArrival(peer: peer, local: local.address, interface: SystemCalls.arrivalInterface(number))
    }

    /// Speaks TLS from the first byte on, as the server; before it has an owner.
    func secure(_ engine: TLSEngine) {
        tls = engine
        isAnnounced = false
    }

    /// Who the peer is, by its certificate; nil in the clear.
    var peerEvidence: PeerEvidence? { tls?.evidence }

    /// Writes what the kernel takes now.
    ///
    /// - Returns: how many of the bytes were taken; fewer than all means: wait for ``StreamOwner/streamIsWritable(_:)``.
    ///   A connection that broke takes none and tells its owner in the next tick, by reading.
    func write(_ bytes: RawSpan) -> Int {
        guard token != nil, !isConnecting else { return 0 }
        let taken = tls == nil ? sendAll(bytes) : encrypt(bytes)
        wantsWriting = taken < bytes.byteCount || tls?.pendingCount ?? 0 > 0
        updateInterest()
        return taken
    }

    private func sendAll(_ bytes: RawSpan) -> Int {
        var taken = 0
        while taken < bytes.byteCount {
            let outcome = send(bytes.extracting(droppingFirst: taken))
            guard case .moved(let count) = outcome, count > 0 else { break }
            taken += count
        }
        return taken
    }

    private func encrypt(_ bytes: RawSpan) -> Int {
        guard let tls, isAnnounced else { return 0 }
        var taken = 0
        while taken < bytes.byteCount, tls.pendingCount < Stream.ciphertextMark {
            let piece = bytes.extracting(taken..<min(bytes.byteCount, taken + Stream.ciphertextMark))
            do throws(TLSError) { try tls.write(piece) } catch {
                // The connection has ended on the reading side, which is where its owner is told.
                return taken
            }
            taken += piece.byteCount
            flushCiphertext()
        }
        return taken
    }

    private func flushCiphertext() {
        guard let tls else { return }
        while tls.pendingCount > 0 {
            let before = tls.pendingCount
            tls.drain { sendAll($0) }
            if tls.pendingCount == before { break }
        }
        wantsWriting = tls.pendingCount > 0
        if !wantsWriting, finishesWhenWritten { shutWriting() }
    }

    private func send(_ bytes: RawSpan) -> IOOutcome {
        guard let number = descriptor?.number else { return .wouldBlock }
        do { return try SystemCalls.send(number, bytes) } catch {
            // EPIPE or ECONNRESET: readiness will say so, and then the owner learns of it in one place.
            return .wouldBlock
        }
    }

    /// Says to the peer that nothing more will come; reading goes on.
    func finishWriting() {
        guard tls != nil else { return shutWriting() }
        finishesWhenWritten = true
        tls?.finishWriting()
        flushCiphertext()
        updateInterest()
    }

    private func shutWriting() {
        guard let number = descriptor?.number else { return }
        finishesWhenWritten = false
        // Fails only when the connection has broken, which reading reports.
        try? SystemCalls.shutdownWriting(number)
    }

    /// Ends the connection at once; the owner isn't called any more.
    ///
    /// - Parameter reset: what is under way is thrown away: a kernel would otherwise offer it to a dead peer for minutes.
    func close(reset: Bool = false) {
        if reset, let number = descriptor?.number {
            // Without it the connection ends all the same, only later.
            try? SystemCalls.setOption(number, SOL_SOCKET, SO_LINGER, structure: linger(l_onoff: 1, l_linger: 0))
        }
        if let token { loop.remove(token) }
        token = nil
        owner = nil
        descriptor = nil
    }

    func ready(_ readiness: Readiness) {
        if isConnecting { return connectEnded() }
        if !readiness.isDisjoint(with: [.readable, .failed]) { readAvailable() }
        // What can't be read (reading is paused, or the input has ended) can't report a broken connection either, and
        // epoll reports it without end. Bytes lost here were never receipted: the peer sends them again.
        if readiness.contains(.failed), token != nil, !isReading || inputEnded { return failedUnread() }
        if readiness.contains(.writable), token != nil {
            wantsWriting = false
            flushCiphertext()
            if !wantsWriting, isAnnounced { owner?.streamIsWritable(self) }
            updateInterest()
        }
    }

    private func failedUnread() {
        guard readsToTheEnd, !inputEnded, let token, let number = descriptor?.number, SystemCalls.hasUnread(number) else {
            return end(.broken(pendingError()))
        }
        loop.remove(token)
        self.token = nil
        isOutOfSight = true
        owner?.streamTakesNothingMore(self)
    }

    private func watchAgain() {
        guard let number = descriptor?.number else { return }
        isOutOfSight = false
        do throws(SystemError) { token = try loop.add(number, interest: .readable, handler: self) } catch { end(.broken(error)) }
    }

    private func connectEnded() {
        guard let number = descriptor?.number else { return }
        do throws(SystemError) {
            let code = try SystemCalls.pendingError(number)
            guard code == 0 else { throw SystemError(function: "connect", code: code) }
            isConnecting = false
            if tls == nil { announce() } else { startHandshake() }
            updateInterest()
        } catch {
            end(.connectFailed(SystemError(function: error.function, code: error.code, subject: peer.description)))
        }
    }

    private func readAvailable() {
        for _ in 0..<Stream.readsPerTick {
            guard let number = descriptor?.number, isReading, !inputEnded else { return }
            do throws(SystemError) {
                switch try SystemCalls.receive(number, into: loop.readBuffer) {
                case .moved(let count):
                    let bytes = UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]).bytes
                    if tls == nil { owner?.stream(self, received: bytes) } else { decrypt(bytes) }
                    // A short read has emptied the socket: asking once more would only cost a system call.
                    if count < loop.readBuffer.count { return }
                case .endOfStream: return inputFinished(cutOff: true)
                case .wouldBlock: return
                }
            } catch { return end(.broken(error)) }
        }
    }

    private func pendingError() -> SystemError {
        guard let number = descriptor?.number, let code = try? SystemCalls.pendingError(number), code != 0 else {
            return SystemError(function: "recv", code: ECONNRESET)
        }
        return SystemError(function: "recv", code: code)
    }

    /// `cutOff`: by the end of the connection, where TLS would have said goodbye first.
    private func inputFinished(cutOff: Bool) {
        guard !inputEnded else { return }
        if cutOff, let tls {
            do throws(TLSError) { try tls.endOfInput() } catch { return end(.insecure(error)) }
        }
        inputEnded = true
        updateInterest()
        owner?.streamEnded(self, .peerFinished)
    }

    // MARK: TLS

    private func announce() {
        isAnnounced = true
        owner?.streamOpened(self)
    }

    private func startHandshake() {
        do throws(TLSError) { try tls?.start() } catch { return endInsecure(error) }
        flushCiphertext()
    }

    /// Plaintext to the owner. What its answer needs to be sent leaves with the handshake's.
    private func decrypt(_ bytes: RawSpan) {
        guard let tls else { return }
        do throws(TLSError) {
            try tls.feed(bytes) { plaintext in
                announceOnce(tls)
                owner?.stream(self, received: plaintext)
            }
        } catch { return endInsecure(error) }
        guard token != nil else { return }
        announceOnce(tls)
        flushCiphertext()
        updateInterest()
        if tls.state == .peerFinished { inputFinished(cutOff: false) }
    }

    private func announceOnce(_ tls: TLSEngine) {
        if !isAnnounced, tls.state == .open || tls.state == .peerFinished { announce() }
    }

    /// The peer is told why, if it still listens.
    private func endInsecure(_ error: TLSError) {
        flushCiphertext()
        end(.insecure(error))
    }

    private func end(_ reason: StreamEnd) {
        let last = owner
        close()
        last?.streamEnded(self, reason)
    }

    private func updateInterest() {
        guard let token else { return }
        var interest: Readiness = []
        if isConnecting || wantsWriting { interest.insert(.writable) }
        if !isConnecting, isReading, !inputEnded { interest.insert(.readable) }
        do throws(SystemError) { try loop.update(token, interest: interest) } catch { end(.broken(error)) }
    }
}
