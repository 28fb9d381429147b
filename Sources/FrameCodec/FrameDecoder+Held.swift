extension FrameDecoder {
    /// A frame that lies whole in the decoder's buffer, and how much of the read is used up.
    @usableFromInline
    struct Completed {
        /// Points at the header in the buffer; nil when the read was too short.
        @usableFromInline var frame: UnsafeRawPointer?
        @usableFromInline var header: FrameHeader
        @usableFromInline var used: Int

        @inlinable
        init(frame: UnsafeRawPointer?, header: FrameHeader, used: Int) {
            self.frame = frame
            self.header = header
            self.used = used
        }
    }

    /// Makes the held frame whole when its header has been judged and the read, which begins at `bytes`, has all that it lacks: the way
    /// that most half frames take, and so short that it may stand beside the loop.
    @inlinable @inline(__always)
    mutating func completeJudged(_ bytes: UnsafeRawPointer) -> Completed {
        let missing = due &- held.count
        held.append(bytes, missing, rules)
        let frame = held.first
        let identity = layout.readIdentity(frame)
        let header = FrameHeader(msgId: identity.msgId, version: identity.version, bodyLength: due &- FrameHeader.byteCount)
        held.removeFirst(due)
        offset &+= UInt64(truncatingIfNeeded: due)
        due = 0
        return Completed(frame: frame, header: header, used: missing)
    }

    /// Makes the held frame whole, copying from `bytes` (the read, `used` bytes of which are gone) only what it lacks; then counts it
    /// as delivered.
    ///
    /// Not inlined and without the handler, so that its code exists once and takes no registers from the loop over whole frames.
    @usableFromInline @inline(never)
    mutating func completeHeld(_ bytes: UnsafeRawPointer?, _ byteCount: Int, _ used: Int) throws(FrameError) -> Completed {
        var result = Completed(frame: nil, header: FrameHeader(msgId: 0, version: 0, bodyLength: 0), used: used)
        if held.count < FrameHeader.byteCount {
            due = FrameHeader.byteCount
            guard topUp(bytes, byteCount, &result.used) else { return result }
        }
        guard let header = rules.header(at: held.first) else { throw fail(rules.complaint(about: held.first)) }
        due = header.frameByteCount
        if held.count < due {
            guard topUp(bytes, byteCount, &result.used) else { return result }
        }
        result.frame = held.first
        result.header = header
        held.removeFirst(due)
        offset &+= UInt64(truncatingIfNeeded: due)
        due = 0
        return result
    }

    /// Copies from the read until ``due`` bytes are held, which they aren't yet; false when the read is used up before.
    @inline(__always)
    private mutating func topUp(_ bytes: UnsafeRawPointer?, _ byteCount: Int, _ used: inout Int) -> Bool {
        let missing = due &- held.count
        let piece = min(missing, byteCount &- used)
        if let bytes, piece > 0 { held.append(bytes + used, piece, rules) }
        used &+= piece
        return piece == missing
    }

    /// Ends the stream.
    @usableFromInline @inline(never)
    mutating func fail(_ error: FrameError) -> FrameError {
        ended = error
        held.release()
        return error
    }
}

/// Ties a value made from pointers to the exclusive access that it was made under.
@_unsafeNonescapableResult @_alwaysEmitIntoClient @_transparent @_lifetime(&source)
func _overrideLifetime<T: ~Copyable & ~Escapable, U: ~Copyable & ~Escapable>(_ value: consuming T, mutating source: inout U) -> T {
    value
}
