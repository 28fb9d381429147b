import FrameCodec

/// One experiment: a stream, how it is cut into reads, and how the decoder is configured.
struct FuzzCase: Equatable, Sendable {
    var layout = FrameLayout.standard
    var limits = FrameLimits()
    /// The whole stream.
    var bytes: [UInt8] = []
    /// Where one read ends and the next begins: ascending offsets in 0...bytes.count; a repeated one is an empty read.
    var cuts: [Int] = []

    /// The reads' bounds, in order; they cover the stream.
    func forEachPiece(_ body: (Range<Int>) -> Bool) {
        var start = 0
        for cut in cuts {
            guard body(start..<cut) else { return }
            start = cut
        }
        _ = body(start..<bytes.count)
    }

    /// The largest read, in bytes.
    var largestPiece: Int {
        var largest = 0
        forEachPiece {
            largest = max(largest, $0.count)
            return true
        }
        return largest
    }
}

/// The ways in which one case is driven through a decoder.
enum Drive: String, CaseIterable, Sendable {
    /// In place, the stream in one read.
    case whole
    /// In place, read by read.
    case inPlace
    /// Append a read, pull all frames, next read.
    case pull
    /// Append all reads, then pull.
    case pullLate
    /// In place; the handler stops at every frame, and what is left is handed back in one of two ways.
    case stopping
    /// Both faces by turns, memory given back between.
    case mixed
}

/// What a decoder did wrong.
struct Disagreement: Equatable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        /// Fewer, more or other frames than the reference.
        case frames
        /// Another error than the reference, or one where there is none.
        case error
        /// The answer depends on how the stream was cut.
        case split
        /// The pull face answers otherwise than the in-place face.
        case face
        /// Something was delivered, kept or forgiven after the error that ended the stream.
        case afterError
        /// The frame's place in the stream, or the number of bytes held or used, is wrong.
        case accounting
        /// More memory than what was received or than the limit allows.
        case memory
        /// More copying than a constant a byte.
        case copying
        /// The process died in the decoder.
        case crash
        /// The decoder didn't come back.
        case hang
    }

    var kind: Kind
    var drive: Drive
    /// A sentence with the numbers.
    var detail: String
}
