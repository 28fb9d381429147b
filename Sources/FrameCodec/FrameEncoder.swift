/// Writes frames. Refuses, with nothing written, what a decoder with the same layout and limits would refuse.
public struct FrameEncoder: Equatable, Sendable {
    /// How headers are written.
    public let layout: FrameLayout
    /// What may be written.
    public let limits: FrameLimits

    @usableFromInline let rules: HeaderRules

    /// An encoder for one layout.
    public init(layout: FrameLayout = .standard, limits: FrameLimits = FrameLimits()) {
        self.layout = layout
        self.limits = limits
        rules = HeaderRules(layout: layout, limits: limits)
    }

    /// The bytes that a frame with a body of `bodyLength` bytes takes.
    ///
    /// - Precondition: `bodyLength` isn't negative.
    /// - Throws: ``FrameError/unsupportedVersion(version:)`` or ``FrameError/bodyTooLarge(declared:limit:)``: what the receiver would say.
    @inlinable @inline(__always)
    public func check(version: UInt16, bodyLength: Int) throws(FrameError) -> Int {
        precondition(bodyLength >= 0, "a body has no negative length")
        guard version >= rules.lowestVersion, version <= rules.highestVersion else { throw .unsupportedVersion(version: version) }
        guard bodyLength <= rules.bodyLimit else { throw .bodyTooLarge(declared: bodyLength, limit: Int(rules.bodyLimit)) }
        return FrameHeader.byteCount &+ bodyLength
    }

    /// Appends one frame to `output`.
    ///
    /// - Throws: what ``check(version:bodyLength:)`` throws, and ``FrameError/outputTooSmall(have:need:)``; nothing is written then.
    @inlinable
    public func encode(msgId: UInt32, version: UInt16 = 1, body: RawSpan, into output: inout OutputRawSpan) throws(FrameError) {
        let need = try check(version: version, bodyLength: body.byteCount)
        guard output.freeCapacity >= need else { throw .outputTooSmall(have: output.freeCapacity, need: need) }
        let header = FrameHeader(msgId: msgId, version: version, bodyLength: body.byteCount)
        output.withUnsafeMutableBytes { buffer, initialized in
            // The free capacity was checked and a frame isn't empty, so there is a base address.
            writeInline(header, body, to: buffer.baseAddress.unsafelyUnwrapped + initialized)
            initialized &+= need
        }
    }

    /// Appends one frame to a growing array.
    ///
    /// - Throws: what ``check(version:bodyLength:)`` throws; nothing is written then.
    @inlinable
    public func encode(msgId: UInt32, version: UInt16 = 1, body: RawSpan, into output: inout [UInt8]) throws(FrameError) {
        let need = try check(version: version, bodyLength: body.byteCount)
        let header = FrameHeader(msgId: msgId, version: version, bodyLength: body.byteCount)
        output.append(addingCapacity: need) { free in
            free.withUnsafeMutableBufferPointer { buffer, initialized in
                // The array has just made this room, so there is a base address.
                write(header, body, to: UnsafeMutableRawPointer(buffer.baseAddress.unsafelyUnwrapped + initialized))
                initialized &+= need
            }
        }
    }

    /// One frame as an array of its own.
    ///
    /// - Throws: what ``check(version:bodyLength:)`` throws.
    public func encode(_ frame: Frame) throws(FrameError) -> [UInt8] {
        var output: [UInt8] = []
        try encode(msgId: frame.msgId, version: frame.version, body: frame.body.span.bytes, into: &output)
        return output
    }

    /// Writes a frame that was checked to memory that has room for it.
    @inlinable @inline(__always)
    func write(_ header: FrameHeader, _ body: RawSpan, to target: UnsafeMutableRawPointer) {
        layout.write(header, to: target)
        body.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            (target + FrameHeader.byteCount).copyMemory(from: base, byteCount: bytes.count)
        }
    }

    /// ``write(_:_:to:)`` for a loop of its own: a short body, as most commands have, is moved by two words that overlap, which
    /// spares the call. (In the array's path it would only keep the compiler from inlining what matters more.)
    @inlinable @inline(__always)
    func writeInline(_ header: FrameHeader, _ body: RawSpan, to target: UnsafeMutableRawPointer) {
        layout.write(header, to: target)
        body.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            let place = target + FrameHeader.byteCount
            if bytes.count <= 16, bytes.count >= 8 {
                let last = bytes.count &- 8
                place.storeBytes(of: base.loadUnaligned(as: UInt64.self), as: UInt64.self)
                place.storeBytes(of: base.loadUnaligned(fromByteOffset: last, as: UInt64.self), toByteOffset: last, as: UInt64.self)
            } else {
                place.copyMemory(from: base, byteCount: bytes.count)
            }
        }
    }
}
