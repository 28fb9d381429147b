/// Writes frames. Refuses, with nothing written, what a decoder with the same layout and limits would refuse.
public struct FrameEncoder: Equatable, Sendable {
    /// How headers are written.
    public let layout: FrameLayout
    /// What may be written.
    public let limits: FrameLimits

    /// An encoder for one layout.
    public init(layout: FrameLayout = .standard, limits: FrameLimits = FrameLimits()) {
        self.layout = layout
        self.limits = limits
    }

    /// The bytes that a frame with a body of `bodyLength` bytes takes.
    ///
    /// - Throws: ``FrameError/unsupportedVersion(version:)`` or ``FrameError/bodyTooLarge(declared:limit:)``: what the receiver would say.
    @inlinable @inline(__always)
    public func check(version: UInt16, bodyLength: Int) throws(FrameError) -> Int {
        guard limits.versions.contains(version) else { throw .unsupportedVersion(version: version) }
        let limit = min(limits.maximumBodyLength, layout.maximumExpressibleLength)
        guard bodyLength <= limit else { throw .bodyTooLarge(declared: bodyLength, limit: limit) }
        return FrameHeader.byteCount + bodyLength
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
            // The free capacity was checked, so there is a base address.
            let target = buffer.baseAddress! + initialized
            layout.write(header, to: target)
            body.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress {
                    (target + FrameHeader.byteCount).copyMemory(from: base, byteCount: bytes.count)
                }
            }
            initialized += need
        }
    }

    /// Appends one frame to a growing array.
    ///
    /// - Throws: what ``check(version:bodyLength:)`` throws; nothing is written then.
    @inlinable
    public func encode(msgId: UInt32, version: UInt16 = 1, body: RawSpan, into output: inout [UInt8]) throws(FrameError) {
        _ = try check(version: version, bodyLength: body.byteCount)
        let header = FrameHeader(msgId: msgId, version: version, bodyLength: body.byteCount)
        withUnsafeTemporaryAllocation(byteCount: FrameHeader.byteCount, alignment: 1) { scratch in
            layout.write(header, to: scratch.baseAddress!)
            output.append(contentsOf: scratch)
        }
        body.withUnsafeBytes { output.append(contentsOf: $0) }
    }

    /// One frame as an array of its own.
    ///
    /// - Throws: what ``check(version:bodyLength:)`` throws.
    public func encode(_ frame: Frame) throws(FrameError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(frame.header.frameByteCount)
        try encode(msgId: frame.msgId, version: frame.version, body: frame.body.span.bytes, into: &output)
        return output
    }
}
