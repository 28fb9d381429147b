import FrameCodec

/// Named constants of the checks, each with its reason.
enum FuzzBounds {
    /// Memory beyond what the rules allow: an allocator may round a small buffer up to a page.
    static let capacitySlack = 4_096
    /// A buffer that doubles holds at most twice what is in it.
    static let capacityFactor = 2
    /// Each byte is copied in once; doubling copies it twice more at worst, closing up gaps once, and growth that stops at
    /// the end of a frame adds a copy there and a copy behind it.
    static let copyFactor: UInt64 = 6
    /// The first small buffers.
    static let copySlack: UInt64 = 256
    /// Fed after the error that ended a stream: two frames without a body, one as digits say it and one as numbers do.
    static let lateBytes: [UInt8] = [0, 0, 0, 1, 1, 1, 0x30, 0x30, 0x30, 0x30, 0, 0, 0, 2, 1, 1, 0, 0, 0, 0]
}

/// What must hold after every read and at the end.
extension DecoderRun where Decoder: ~Copyable {
    mutating func note(_ kind: Disagreement.Kind, _ detail: String) {
        if found == nil { found = Disagreement(kind: kind, drive: drive, detail: detail) }
    }

    mutating func checkAfterRead() {
        guard follower.complaint == nil else { return note(.frames, follower.complaint ?? "") }
        checkMemory()
        guard decoder.failure == thrown else {
            return note(.accounting, "failure says \(text(decoder.failure)), thrown was \(text(thrown))")
        }
        guard thrown == nil else { return }
        let held = decoder.heldByteCount
        // What is appended and not yet pulled is held as well, so that this balances whatever the face.
        if UInt64(received) != decoder.frameOffset &+ UInt64(truncatingIfNeeded: held) {
            note(
                .accounting, "after \(received) bytes the frame under way is said to begin at \(decoder.frameOffset) and \(held) to be held"
            )
        }
    }

    private mutating func checkMemory() {
        let capacity = decoder.capacity
        let received = FuzzBounds.capacityFactor * received + FuzzBounds.capacitySlack
        if capacity > received {
            return note(.memory, "\(capacity) bytes allocated after \(self.received) were received; \(received) would be allowed")
        }
        // A caller who appends without pulling has asked for more than a frame and a read.
        let most = FrameHeader.byteCount + bodyLimit + largestPiece + FuzzBounds.capacitySlack
        if drive != .pullLate, drive != .mixed, capacity > most {
            return note(.memory, "\(capacity) bytes allocated; largest frame plus largest read are \(most - FuzzBounds.capacitySlack)")
        }
        let copied = decoder.copiedByteCount
        if copied > FuzzBounds.copyFactor * UInt64(self.received) + FuzzBounds.copySlack + shrinkAllowance {
            note(.copying, "\(copied) bytes copied for \(self.received) received in \(pieces) reads")
        }
    }

    mutating func checkAnswer() {
        let expected = follower.expected
        let failure: FrameError? = if case .truncated = expected.error { nil } else { expected.error }
        if thrown != failure { return note(.error, "threw \(text(thrown)), expected \(text(failure))") }
        if follower.count < expected.frames.count {
            return note(.frames, "delivered \(follower.count) of \(expected.frames.count) frames")
        }
        if decoder.frameOffset != UInt64(expected.frameOffset) {
            note(.accounting, "the last frame offset is \(decoder.frameOffset), expected \(expected.frameOffset)")
        }
    }

    mutating func checkAfterError() {
        var delivered = 0
        var answer: FrameError?
        do throws(FrameError) {
            _ = try decoder.decode(FuzzBounds.lateBytes.span.bytes) { _, _ in
                delivered += 1
                return .more
            }
        } catch { answer = error }
        checkRefusal("decode", answer)
        answer = nil
        do throws(FrameError) { try decoder.append(FuzzBounds.lateBytes.span.bytes) } catch { answer = error }
        checkRefusal("append", answer)
        answer = nil
        do throws(FrameError) { _ = try decoder.pull { _, _ in delivered += 1 } } catch { answer = error }
        checkRefusal("next", answer)
        if delivered > 0 { note(.afterError, "\(delivered) frames delivered after \(text(thrown))") }
        if decoder.heldByteCount > 0 { note(.afterError, "\(decoder.heldByteCount) bytes held after \(text(thrown))") }
    }

    private mutating func checkRefusal(_ call: String, _ answer: FrameError?) {
        if answer != thrown { note(.afterError, "after \(text(thrown)) \(call) answered \(text(answer))") }
    }

    mutating func checkFinish() {
        var end: FrameError?
        do throws(FrameError) { try decoder.finish() } catch { end = error }
        let expected = follower.expected.error
        if end != expected { return note(.error, "at the end of the stream \(text(end)), expected \(text(expected))") }
        if decoder.failure != expected { note(.accounting, "after the end failure says \(text(decoder.failure))") }
    }

    private func text(_ error: FrameError?) -> String {
        error.map { String(describing: $0) } ?? "no error"
    }
}
