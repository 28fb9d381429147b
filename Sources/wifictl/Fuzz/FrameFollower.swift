import FrameCodec

/// Compares the frames that a decoder delivers, one by one, with those that the reference found.
struct FrameFollower {
    let expected: ReferenceDecoder.Answer
    /// Frames delivered so far.
    private(set) var count = 0
    /// The first frame that isn't as it should be, in words.
    private(set) var complaint: String?

    init(_ expected: ReferenceDecoder.Answer) { self.expected = expected }

    /// Notes one frame; after a complaint the run is over and `stop` is the answer.
    @inline(__always)
    mutating func saw(_ header: FrameHeader, _ body: RawSpan) -> FrameDecoder.Flow {
        guard complaint == nil else { return .stop }
        guard count < expected.frames.count else {
            complaint = "frame \(count) (msgId \(header.msgId), version \(header.version), \(header.bodyLength) bytes) shouldn't be there"
            return .stop
        }
        let isRight = expected.frames[count].isSame(header, body)
        if !isRight { complain(header, body) }
        count += 1
        return isRight ? .more : .stop
    }

    @inline(never)
    private mutating func complain(_ header: FrameHeader, _ body: RawSpan) {
        let want = expected.frames[count]
        complaint =
            want.msgId == header.msgId && want.version == header.version && want.body.count == body.byteCount
            ? "frame \(count) has other body bytes than were sent"
            : "frame \(count) is (msgId \(header.msgId), version \(header.version), \(header.bodyLength) declared, \(body.byteCount) lent), "
                + "expected (msgId \(want.msgId), version \(want.version), \(want.body.count))"
    }
}

extension Frame {
    /// Whether a lent frame is this one.
    @inline(__always)
    fileprivate func isSame(_ header: FrameHeader, _ lent: RawSpan) -> Bool {
        guard header.msgId == msgId, header.version == version, header.bodyLength == body.count, lent.byteCount == body.count else {
            return false
        }
        return lent.withUnsafeBytes { lent in
            body.withUnsafeBytes { own in
                for index in own.indices where own[index] != lent[index] { return false }
                return true
            }
        }
    }
}
