extension FrameDecoder {
    /// Reads and checks the header at the start of `bytes`, which holds at least ten: version, then form of the length, then its limit.
    @inlinable @inline(__always)
    func parse(_ bytes: RawSpan) throws(FrameError) -> FrameHeader {
        let (identity, length) = bytes.withUnsafeBytes { raw in
            (layout.readIdentity(raw.baseAddress!), layout.readLength(raw.baseAddress!))
        }
        guard limits.versions.contains(identity.version) else { throw .unsupportedVersion(version: identity.version) }
        guard let length else { throw .malformedLength(field: layout.lengthField(bytes)) }
        guard length <= bodyLimit else { throw .bodyTooLarge(declared: Int(length), limit: bodyLimit) }
        return FrameHeader(msgId: identity.msgId, version: identity.version, bodyLength: Int(truncatingIfNeeded: length))
    }

    /// ``parse(_:)`` for the read that was handed in; a bad header ends the stream.
    @inlinable @inline(__always)
    mutating func inputHeader(_ bytes: RawSpan) throws(FrameError) -> FrameHeader {
        do { return try parse(bytes) } catch { throw fail(error) }
    }

    /// ``parse(_:)`` for what is held; a bad header ends the stream.
    @inlinable @inline(__always)
    mutating func heldHeader() throws(FrameError) -> FrameHeader {
        do { return try parse(held.bytes) } catch { throw fail(error) }
    }

    /// Completes and lends what is held, copying from `input` only what the frame under way lacks.
    ///
    /// - Returns: false when there's nothing more to do with this input now.
    @inlinable
    mutating func finishHeld(_ input: RawSpan, _ used: inout Int, _ take: (FrameHeader, RawSpan) -> Flow) throws(FrameError) -> Bool {
        while held.count > 0 {
            guard topUp(to: FrameHeader.byteCount, from: input, &used) else { return false }
            let header = try heldHeader()
            guard topUp(to: header.frameByteCount, from: input, &used) else { return false }
            let start = held.removeFirst(header.frameByteCount)
            offset += UInt64(truncatingIfNeeded: header.frameByteCount)
            if take(header, RawSpan(_unsafeStart: start + FrameHeader.byteCount, byteCount: header.bodyLength)) == .stop { return false }
        }
        return true
    }

    /// Copies from `input` until `need` bytes are held; false when the input is used up before.
    @inlinable
    mutating func topUp(to need: Int, from input: RawSpan, _ used: inout Int) -> Bool {
        let missing = need - held.count
        guard missing > 0 else { return true }
        let piece = min(missing, input.byteCount - used)
        held.append(input.extracting(used..<used + piece), frameByteCount: need)
        used += piece
        return piece == missing
    }

    /// Keeps bytes that no whole frame could be made of yet.
    @inlinable
    mutating func keep(_ bytes: RawSpan) {
        held.append(bytes, frameByteCount: declaredFrame(bytes))
    }

    /// The size of the frame under way if its header is there and passes; only a hint for how far to grow.
    @usableFromInline
    func declaredFrame(_ bytes: RawSpan) -> Int {
        let first = held.count > 0 ? held.bytes : bytes
        guard first.byteCount >= FrameHeader.byteCount else { return FrameHeader.byteCount }
        let length = first.withUnsafeBytes { layout.readLength($0.baseAddress!) } ?? 0
        return FrameHeader.byteCount + min(Int(clamping: length), bodyLimit)
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
