import FrameCodec

/// A stream of equal frames and the reads in which it arrives: what the codec is measured on.
struct FrameStream {
    /// How the stream is cut into reads.
    enum Input: String, CaseIterable {
        /// Reads of 64 KiB: many small frames in each.
        case sticky
        /// Reads of 1 to 1,500 bytes, at random: nearly each one ends inside a frame.
        case half
    }

    /// Long enough that the cuts vary, short enough to stay in a cache as a socket's read buffer does.
    static let shortestByteCount = 512 * 1024
    /// Enough frames that large ones meet several different cuts.
    static let fewestFrames = 16
    static let stickyReadByteCount = 65_536
    static let halfReadByteCounts = 1...1_500

    let bytes: [UInt8]
    /// Where each read ends; the last one at the stream's end.
    let cuts: [Int]
    let frameCount: Int

    /// - Parameter generator: for the bodies and the cuts, so that a seed gives the same stream again.
    init(bodyLength: Int, input: Input, using generator: inout some RandomNumberGenerator) throws(FrameError) {
        let frameByteCount = FrameHeader.byteCount + bodyLength
        frameCount = max(FrameStream.fewestFrames, FrameStream.shortestByteCount / frameByteCount)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frameCount * frameByteCount)
        let encoder = FrameEncoder()
        for index in 1...frameCount {
            let body = (0..<bodyLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            try encoder.encode(msgId: UInt32(index), body: body.span.bytes, into: &bytes)
        }
        var cuts: [Int] = []
        var from = 0
        while from < bytes.count {
            let step =
                input == .sticky ? FrameStream.stickyReadByteCount : Int.random(in: FrameStream.halfReadByteCounts, using: &generator)
            from = min(from + step, bytes.count)
            cuts.append(from)
        }
        self.bytes = bytes
        self.cuts = cuts
    }
}
