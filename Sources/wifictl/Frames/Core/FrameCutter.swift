import FrameCodec

/// Cuts one byte stream into frames and knows where in the stream each begins.
///
/// Inputs ``feed(_:_:)`` and ``finish()``, in this order; after an error both only repeat it.
struct FrameCutter: ~Copyable {
    private var decoder: FrameDecoder
    /// Where the next frame handed over begins, in bytes from the start of the stream.
    private var frameOffset: UInt64 = 0
    /// Whole frames handed over so far.
    private(set) var frameCount = 0

    init(layout: FrameLayout, limits: FrameLimits) {
        decoder = FrameDecoder(layout: layout, limits: limits)
    }

    /// Where the frame under way begins; after an error, where the frame that caused it begins.
    var offset: UInt64 { decoder.frameOffset }
    /// Bytes kept of the frame under way.
    var heldByteCount: Int { decoder.heldByteCount }

    /// Hands every frame that `bytes` completes to `take`, with the offset at which it begins.
    ///
    /// - Throws: what is wrong with the frame at ``offset``; the frames before it have been handed over.
    mutating func feed(_ bytes: RawSpan, _ take: (_ offset: UInt64, FrameHeader, RawSpan) -> Void) throws(FrameError) {
        var start = frameOffset
        var count = frameCount
        defer {
            frameOffset = start
            frameCount = count
        }
        try decoder.decode(bytes) { header, body in
            take(start, header, body)
            start += UInt64(header.frameByteCount)
            count += 1
            return .more
        }
    }

    /// Says that the stream is over.
    ///
    /// - Throws: `truncated` inside a frame, or the earlier error.
    mutating func finish() throws(FrameError) { try decoder.finish() }
}
