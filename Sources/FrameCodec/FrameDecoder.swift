/// Cuts a byte stream into frames, however the stream arrives: many frames in one read, one frame in many.
///
/// Two faces over one state; a stream may use both:
/// - **in place**, ``decode(_:_:)``: hand over each read; frames that lie whole in it are lent from it and never
///   copied; only an unfinished tail is kept.
/// - **pull**, ``append(_:)`` then ``next()`` until it gives nil: the bytes are copied once.
///
/// The first bad header ends the stream: from then on every call throws that same error and keeps nothing.
/// Memory grows with the bytes received, never with a length that was only declared, and stays within the largest
/// body plus one read. Time is linear in the bytes however they're cut. (protocol.md, section 1)
public struct FrameDecoder: ~Copyable {
    /// What the in-place handler answers.
    public enum Flow: Sendable {
        /// Go on with the next frame.
        case more
        /// Leave the rest of the input to the caller.
        case stop
    }

    /// How headers are read.
    public let layout: FrameLayout
    /// What is accepted.
    public let limits: FrameLimits
    /// Where the frame under way begins, in bytes from the start of the stream; after an error, where the bad header begins.
    public var frameOffset: UInt64 { offset }
    /// The error that ended the stream, if one did.
    public var failure: FrameError? { ended }

    @usableFromInline var offset: UInt64 = 0
    @usableFromInline var ended: FrameError?
    @usableFromInline var held = HeldBytes()
    @usableFromInline let rules: HeaderRules
    /// How many bytes the frame under way takes as far as is known (ten before its header is whole), so that a piece from its
    /// middle needs no second look at the header. 0 where that's unknown: after ``append(_:)``.
    @usableFromInline var due = 0

    /// A decoder at the start of a stream.
    public init(layout: FrameLayout = .standard, limits: FrameLimits = FrameLimits()) {
        self.layout = layout
        self.limits = limits
        rules = HeaderRules(layout: layout, limits: limits)
    }

    /// Bytes received and not yet delivered.
    public var heldByteCount: Int { held.count }
    /// Bytes of memory that the decoder has allocated.
    public var capacity: Int { held.capacity }
    /// Bytes ever copied into or within the decoder's buffer: the cost of half packets, for those who count.
    public var copiedByteCount: UInt64 { held.copied }

    /// Decodes what is held and then `input`, lending each frame to `take`.
    ///
    /// The decoder can't be touched from within `take`; the compiler sees to that. To close, or to hand the rest to another reader, it answers
    /// ``Flow/stop``.
    ///
    /// - Returns: how many bytes of `input` were used up: all of them unless `take` answered ``Flow/stop``; then the caller
    ///   keeps the rest, or hands it to ``append(_:)`` and goes on later with an empty input.
    /// - Throws: the ``FrameError`` that ended the stream, now or earlier; frames before it have been lent.
    @inlinable
    @discardableResult
    public mutating func decode(_ input: RawSpan, _ take: (FrameHeader, RawSpan) -> Flow) throws(FrameError) -> Int {
        if let ended { throw ended }
        let bytes = input.withUnsafeBytes { $0.baseAddress }
        let total = input.byteCount
        var used = 0
        if due &- held.count > total, let bytes {
            held.append(bytes, total, rules)
            return total
        }
        while held.count > 0 {
            let completed: Completed
            if due > FrameHeader.byteCount, let bytes {
                completed = completeJudged(bytes)
            } else {
                completed = try completeHeld(bytes, total, used)
            }
            used = completed.used
            guard let frame = completed.frame else { return used }
            let body = RawSpan(_unsafeStart: frame + FrameHeader.byteCount, byteCount: completed.header.bodyLength)
            if take(completed.header, body) == .stop { return used }
        }
        guard let bytes else { return used }
        let rules = rules
        let first = used
        var next = FrameHeader.byteCount
        while total &- used >= FrameHeader.byteCount {
            guard let header = rules.header(at: bytes + used) else {
                offset &+= UInt64(truncatingIfNeeded: used &- first)
                throw fail(rules.complaint(about: bytes + used))
            }
            let bodyStart = used &+ FrameHeader.byteCount
            guard header.bodyLength <= total &- bodyStart else {
                next = header.frameByteCount
                break
            }
            let bodyEnd = bodyStart &+ header.bodyLength
            let flow = take(header, input.extracting(unchecked: Range(uncheckedBounds: (bodyStart, bodyEnd))))
            used = bodyEnd
            if flow == .stop {
                offset &+= UInt64(truncatingIfNeeded: used &- first)
                return used
            }
        }
        offset &+= UInt64(truncatingIfNeeded: used &- first)
        if used < total {
            held.append(bytes + used, total &- used, rules)
            due = next
        }
        return total
    }

    /// Adds bytes for ``next()``.
    ///
    /// - Throws: the error that ended the stream earlier; the bytes are dropped then.
    @inlinable
    public mutating func append(_ input: RawSpan) throws(FrameError) {
        if let ended { throw ended }
        guard let bytes = input.withUnsafeBytes({ $0.baseAddress }), input.byteCount > 0 else { return }
        held.append(bytes, input.byteCount, rules)
        due = 0
    }

    /// The next whole frame, lent until the decoder is next touched; nil means: append more.
    ///
    /// - Throws: the ``FrameError`` that ended the stream, now or earlier.
    @inlinable @_lifetime(&self)
    public mutating func next() throws(FrameError) -> FrameView? {
        if let ended { throw ended }
        let have = held.count
        guard have >= FrameHeader.byteCount else { return nil }
        let frame = held.first
        guard let header = rules.header(at: frame) else { throw fail(rules.complaint(about: frame)) }
        guard header.bodyLength <= have &- FrameHeader.byteCount else { return nil }
        held.removeFirst(header.frameByteCount)
        offset &+= UInt64(truncatingIfNeeded: header.frameByteCount)
        let body = RawSpan(_unsafeStart: frame + FrameHeader.byteCount, byteCount: header.bodyLength)
        return _overrideLifetime(FrameView(header: header, body: body), mutating: &self)
    }

    /// Says that the stream has ended. To be called once everything has been taken: ``decode(_:_:)`` has answered without
    /// stopping, or ``next()`` has given nil.
    ///
    /// - Throws: ``FrameError/truncated(have:need:)`` inside a frame, or the error that ended the stream earlier. On a frame
    ///   boundary it returns: a clean end. Whole frames that were never taken are passed over; the answer is about what follows them.
    public mutating func finish() throws(FrameError) {
        if let ended { throw ended }
        while held.count > 0 {
            guard held.count >= FrameHeader.byteCount else {
                throw fail(.truncated(have: held.count, need: FrameHeader.byteCount))
            }
            guard let header = rules.header(at: held.first) else { throw fail(rules.complaint(about: held.first)) }
            guard held.count >= header.frameByteCount else {
                throw fail(.truncated(have: held.count, need: header.frameByteCount))
            }
            held.removeFirst(header.frameByteCount)
            offset &+= UInt64(header.frameByteCount)
        }
    }

    /// Gives memory back that idle connections don't need; what is held stays.
    public mutating func shrink() { held.shrink() }
}
