import FrameCodec

/// The frame rules of protocol.md, section 1, written down a second time: slow, obvious, on a whole array, in the page's own order.
///
/// It is what the fuzzer and the tests hold ``FrameDecoder`` against, so it must not share a line of logic with it: only the
/// plain values ``Frame``, ``FrameError`` and ``FrameLayout`` are borrowed, to make the two answers comparable.
struct ReferenceDecoder {
    /// Everything there is to say about a stream.
    struct Answer: Equatable, Sendable {
        /// The whole frames before the error or the end, in order.
        var frames: [Frame] = []
        /// Why the stream can't go on; nil after a clean end, or while a frame is unfinished and the stream isn't over.
        var error: FrameError?
        /// Where the frame after the last whole one begins, in bytes from the start of the stream.
        var frameOffset = 0
    }

    /// How numbers are written.
    var layout: FrameLayout
    /// The largest body that is accepted, in bytes, whatever the layout could express.
    var limit = 1_048_576
    /// The versions that are understood.
    var versions: ClosedRange<Int> = 1...65_535

    /// Cuts `stream` into frames.
    ///
    /// - Parameter ended: whether the stream is over after these bytes; if so an unfinished frame is an error.
    func answer(to stream: [UInt8], ended: Bool) -> Answer {
        var answer = Answer()
        while answer.frameOffset < stream.count {
            let rest = stream[answer.frameOffset...]
            if rest.count < 10 {
                if ended { answer.error = .truncated(have: rest.count, need: 10) }
                return answer
            }
            let id = number(rest.prefix(4))
            let version = number(rest.dropFirst(4).prefix(2))
            let field = rest.dropFirst(6).prefix(4)
            let body = rest.dropFirst(10)
            if !versions.contains(version) {
                answer.error = .unsupportedVersion(version: UInt16(version))
                return answer
            }
            guard let length = layout == .asciiLength ? decimal(field) : number(field) else {
                answer.error = .malformedLength(field: field.reduce(0) { $0 * 256 + UInt32($1) })
                return answer
            }
            if length > largest {
                answer.error = .bodyTooLarge(declared: length, limit: largest)
                return answer
            }
            if body.count < length {
                if ended { answer.error = .truncated(have: rest.count, need: 10 + length) }
                return answer
            }
            answer.frames.append(Frame(msgId: UInt32(id), version: UInt16(version), body: Array(body.prefix(length))))
            answer.frameOffset += 10 + length
        }
        return answer
    }

    /// The limit that holds: four digits can't say more than 9,999.
    private var largest: Int { layout == .asciiLength ? min(limit, 9_999) : limit }

    /// An unsigned number in the layout's byte order.
    private func number(_ bytes: ArraySlice<UInt8>) -> Int {
        var value = 0
        if layout == .littleEndian {
            for byte in bytes.reversed() { value = value * 256 + Int(byte) }
        } else {
            for byte in bytes { value = value * 256 + Int(byte) }
        }
        return value
    }

    /// Spaces, at least one digit, then spaces or NULs; nil for everything else.
    private func decimal(_ field: ArraySlice<UInt8>) -> Int? {
        let unpadded = field.drop { $0 == 0x20 }
        let digits = unpadded.prefix { (0x30...0x39).contains($0) }
        let padding = unpadded.dropFirst(digits.count)
        guard !digits.isEmpty, padding.allSatisfy({ $0 == 0x20 || $0 == 0 }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
}
