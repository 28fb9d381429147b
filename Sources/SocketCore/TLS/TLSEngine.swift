import COpenSSL

/// One TLS 1.3 connection over memory: ciphertext in and out, plaintext out and in, no sockets and no waiting.
///
/// Inputs are ``start()``, ``feed(_:deliver:)``, ``write(_:)``, ``close()`` and ``endOfInput()``; after each of them, take what
/// is to be sent with ``drain(_:)`` until ``pendingCount`` is 0. After an error, what is pending (an alert) should still be sent;
/// then the connection is over.
///
/// The order: `start()` once, then feed what comes. When ``state`` is ``State/open`` the peer has been judged and admitted, and
/// ``evidence`` says who it is. A client is open before the server has judged it: that the server sends anything at all is the
/// proof that it was admitted (protocol.md, section 6). Confined to its context's thread.
public final class TLSEngine {
    /// Bytes taken of a peer whose handshake isn't done: two chains of the longest kind. What an unfinished handshake can hold in memory
    /// is bounded by it.
    public static let longestHandshake = 65_536

    /// Where a connection stands.
    public enum State: Equatable, Sendable {
        /// The peer isn't known yet; nothing can be written.
        case handshaking
        /// The peer was admitted; both sides can write.
        case open
        /// The peer has said goodbye; this side can still write.
        case peerFinished
        /// Over, by ``close()`` or by an error.
        case ended
    }

    /// Where the connection stands.
    public private(set) var state = State.handshaking
    /// Who the peer is, once it has proven to have its certificate's key; nil before that, and for a client that needs no certificate.
    public var evidence: PeerEvidence? { isProven ? shown : nil }
    /// What the peer has shown, proven or not: anybody can show anybody's certificate. For logs.
    public internal(set) var shown: PeerEvidence?
    /// The peer has signed the handshake with its certificate's key, or taken up a session in which it had.
    var isProven = false
    /// The newest session that can be taken up again; on a client, after the server's tickets have come.
    public internal(set) var session: TLSSession?
    /// Why the peer isn't admitted, set in the middle of the handshake.
    var refusal: TLSError?
    /// The client's judgement has been made, before our certificate was shown.
    var isJudged = false

    let context: TLSContext
    private let connection: OpaquePointer
    private let wire = TLSWire()
    private var opening = TLSOpening()
    private var handshakeBytes = 0

    /// A connection at its beginning. `session` is one that an earlier connection to the same peer left.
    ///
    /// - Throws: ``TLSError/libraryFailure(_:)``.
    public init(_ context: TLSContext, resuming session: TLSSession? = nil) throws(TLSError) {
        LibraryErrors.clear()
        guard let connection = SSL_new(context.handle) else { throw .libraryFailure(LibraryErrors.words()) }
        self.context = context
        self.connection = connection
        let bio = try wire.makeBIO()
        SSL_set_bio(connection, bio, bio)
        SSL_set_ex_data(connection, 0, Unmanaged.passUnretained(self).toOpaque())
        if context.configuration.role.isClient {
            SSL_set_connect_state(connection)
            // A session that doesn't fit is no harm: a full handshake is made.
            if let session, SSL_set_session(connection, session.handle) != 1 { LibraryErrors.clear() }
        } else {
            SSL_set_accept_state(connection)
        }
    }

    deinit {
        // Without this, OpenSSL forbids to resume a session whose connection just broke off, which is when it's wanted most.
        SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        SSL_free(connection)
    }

    /// Bytes waiting to be sent.
    public var pendingCount: Int { wire.pendingCount }

    /// Offers everything that waits to be sent; `send` says how many bytes it took, from the start.
    public func drain(_ send: (RawSpan) -> Int) { wire.drain(send) }

    /// Lets a client speak first. On a server there's nothing to do yet.
    ///
    /// - Throws: ``TLSError``.
    public func start() throws(TLSError) { try pump { _ in } }

    /// Takes ciphertext from the network and lends the plaintext that it holds, a record at a time.
    ///
    /// All of `ciphertext` is consumed. `deliver` may call ``write(_:)`` and ``close()``, but not this again; what it's lent is overwritten
    /// after it returns.
    /// - Throws: ``TLSError``; the plaintext before the error has been delivered.
    public func feed(_ ciphertext: RawSpan, deliver: (RawSpan) -> Void) throws(TLSError) {
        guard state != .ended else { throw .alreadyOver }
        // After its goodbye, a peer has nothing to say.
        guard state != .peerFinished, ciphertext.byteCount > 0 else { return }
        if state == .handshaking { try inspect(ciphertext) }
        try ciphertext.withUnsafeBytes { (bytes) throws(TLSError) in
            try wire.lending(bytes) { () throws(TLSError) in try pump(deliver) }
        }
    }

    /// Encrypts `plaintext`; the ciphertext waits to be taken with ``drain(_:)``. To bound memory, write on when
    /// ``pendingCount`` is small again.
    ///
    /// - Throws: ``TLSError/alreadyOver`` before the handshake is done and after the end.
    public func write(_ plaintext: RawSpan) throws(TLSError) {
        guard state == .open || state == .peerFinished else { throw .alreadyOver }
        guard plaintext.byteCount > 0 else { return }
        LibraryErrors.clear()
        var written = 0
        let result = plaintext.withUnsafeBytes { SSL_write_ex(connection, $0.baseAddress, $0.count, &written) }
        guard result == 1 else { throw fail(named(result)) }
    }

    /// Says goodbye; nothing can be written or read afterwards. During the handshake it ends the connection without a word.
    public func close() {
        guard state != .ended else { return }
        if state != .handshaking {
            LibraryErrors.clear()
            _ = SSL_shutdown(connection)
            LibraryErrors.clear()
        }
        state = .ended
    }

    /// Says goodbye but goes on reading: TLS 1.3 closes one direction at a time (RFC 8446, section 6.1).
    public func finishWriting() {
        guard state == .open || state == .peerFinished else { return }
        LibraryErrors.clear()
        _ = SSL_shutdown(connection)
        LibraryErrors.clear()
    }

    /// The network's input has ended.
    ///
    /// - Throws: ``TLSError/connectionLost(_:)`` when the peer hadn't said goodbye: what came last may have been cut off.
    public func endOfInput() throws(TLSError) {
        switch state {
        case .handshaking, .open: throw fail(.connectionLost(phase))
        case .peerFinished, .ended: return
        }
    }

    /// `TLS_AES_128_GCM_SHA256` and the like, for people; nil before the handshake is done.
    public var cipherName: String? { SSL_get_current_cipher(connection).flatMap { SSL_CIPHER_get_name($0) }.map { String(cString: $0) } }
    /// Whether the session was taken up again by a ticket.
    public var isResumed: Bool { SSL_session_reused(connection) == 1 }
}

extension TLSEngine {
    private var phase: TLSPhase { state != .handshaking ? .established : handshakeBytes == 0 ? .silence : .handshake }

    /// Looks at what a stranger says before the library does.
    private func inspect(_ ciphertext: RawSpan) throws(TLSError) {
        handshakeBytes += ciphertext.byteCount
        guard handshakeBytes <= TLSEngine.longestHandshake else {
            throw fail(.handshakeTooLarge(bytes: handshakeBytes, limit: TLSEngine.longestHandshake))
        }
        switch opening.look(at: ciphertext) {
        case .undecided, .tls: return
        case .notTLS(let speech): throw fail(.notTLS(speech))
        case .helloTooLong(let bytes): throw fail(.handshakeTooLarge(bytes: bytes, limit: TLSOpening.longestHello))
        }
    }

    private func pump(_ deliver: (RawSpan) -> Void) throws(TLSError) {
        guard state != .ended else { throw .alreadyOver }
        while state != .ended {
            LibraryErrors.clear()
            let result: Int32
            if state == .handshaking {
                result = SSL_do_handshake(connection)
                if result == 1 {
                    try finishHandshake()
                    continue
                }
            } else {
                var count = 0
                let room = context.plaintext.bytes
                result = SSL_read_ex(connection, room.baseAddress, room.count, &count)
                if result == 1 {
                    deliver(UnsafeRawBufferPointer(rebasing: room[..<count]).bytes)
                    continue
                }
            }
            switch SSL_get_error(connection, result) {
            case SSL_ERROR_WANT_READ: return
            case SSL_ERROR_ZERO_RETURN:
                // A goodbye before the handshake is done leaves nobody to write to.
                guard state != .handshaking else { throw fail(.connectionLost(phase)) }
                state = .peerFinished
                return
            default: throw fail(named(result))
            }
        }
    }

    private func finishHandshake() throws(TLSError) {
        if isResumed { takeUpEvidence() }
        isProven = true
        let role = context.configuration.role
        if role.isClient, !isJudged || isResumed, let shown { refusal = context.configuration.judge(shown) }
        if refusal == nil, shown == nil, role.requiresPeer { refusal = .noCertificate }
        state = .open
        guard let refusal else { return }
        close()
        throw refusal
    }

    /// A resumed session shows no certificates: they're taken from the session and judged as if they had just come. (A server has
    /// done so when the ticket came.)
    private func takeUpEvidence() {
        guard context.configuration.role.isClient, let leaf = SSL_get0_peer_certificate(connection) else { return }
        shown = context.verifier.evidence(for: leaf, others: SSL_get_peer_cert_chain(connection), isResumed: true)
    }

    private func named(_ result: Int32) -> TLSError {
        let kind = SSL_get_error(connection, result)
        let entries = LibraryErrors.take()
        // A refusal of ours is the cause of whatever the library then says of it.
        if let refusal { return refusal }
        if kind == SSL_ERROR_SYSCALL, entries.isEmpty { return .connectionLost(phase) }
        return TLSError.named(entries, phase: phase)
    }

    private func fail(_ error: TLSError) -> TLSError {
        state = .ended
        return error
    }
}
