import FrameCodec
import TestSupport

/// What one decoder makes of bytes that come in one read, in place, with the stream still open.
func decoded(_ bytes: [UInt8], layout: FrameLayout = .standard, limits: FrameLimits = FrameLimits(), ended: Bool = false) -> StreamAnswer {
    SplitVerifier(layout: layout, limits: limits).answer(bytes, cuts: [], face: .inPlace, ended: ended)
}

/// The error that ten header bytes alone lead to, before anything of a body is there.
func headerError(_ header: [UInt8], layout: FrameLayout = .standard, limits: FrameLimits = FrameLimits()) -> FrameError? {
    decoded(header, layout: layout, limits: limits).error
}

/// Hands one read to a decoder in place and gives the frames.
func take(_ bytes: [UInt8], _ decoder: inout FrameDecoder) throws(FrameError) -> [Frame] {
    var frames: [Frame] = []
    try decoder.decode(bytes.span.bytes) { header, body in
        frames.append(Frame(header, body))
        return .more
    }
    return frames
}

/// Pulls all whole frames.
func pullAll(_ decoder: inout FrameDecoder) throws(FrameError) -> [Frame] {
    var frames: [Frame] = []
    while let view = try decoder.next() { frames.append(view.copy()) }
    return frames
}

/// The error that a piece of work ends in.
func caught(_ work: () throws(FrameError) -> Void) -> FrameError? {
    do {
        try work()
        return nil
    } catch {
        return error
    }
}
