import FrameCodec

/// What the fuzzer asks of a frame decoder: both faces, and the counts by which its memory and its work are judged.
///
/// A protocol of its own, so that decoders that are broken on purpose can stand in the tests where ``FrameDecoder`` stands here.
protocol DecoderUnderTest: ~Copyable {
    var frameOffset: UInt64 { get }
    var failure: FrameError? { get }
    var heldByteCount: Int { get }
    var capacity: Int { get }
    var copiedByteCount: UInt64 { get }

    /// The in-place face: see ``FrameDecoder/decode(_:_:)``.
    mutating func decode(_ input: RawSpan, _ take: (FrameHeader, RawSpan) -> FrameDecoder.Flow) throws(FrameError) -> Int
    /// The pull face's first half.
    mutating func append(_ input: RawSpan) throws(FrameError)
    /// The pull face's second half: lends the next frame to `take`, or answers false when there is none yet.
    mutating func pull(_ take: (FrameHeader, RawSpan) -> Void) throws(FrameError) -> Bool
    mutating func finish() throws(FrameError)
    mutating func shrink()
}

extension FrameDecoder: DecoderUnderTest {
    mutating func pull(_ take: (FrameHeader, RawSpan) -> Void) throws(FrameError) -> Bool {
        guard let frame = try next() else { return false }
        take(frame.header, frame.body)
        return true
    }
}
