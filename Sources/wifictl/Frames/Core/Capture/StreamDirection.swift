import FrameCodec

/// One direction of a connection that is cut into frames.
///
/// A class, because a decoder can't be copied and a table's values must be.
final class StreamDirection {
    typealias Emit = (CaptureEvent) -> Void

    /// Acknowledgements of bytes that were never seen, after which they count as lost by the capture. More than one, because
    /// captures of several queues may show an acknowledgement before what it acknowledges.
    static let patience = 32
    /// A TLS record begins with its type (20 to 24), 3, and a minor version up to 4.
    private static let tlsPrefixLength = 3

    let place: StreamPlace
    private(set) var assembler = SegmentAssembler()
    private var cutter: FrameCutter
    /// The first bytes, until there are enough to tell TLS from frames; nil from then on.
    private var opening: [UInt8]? = []
    private var end = DirectionEnd.open
    /// Acknowledgements so far that cover the hole being waited for.
    private var acknowledgedHoles = 0
    /// Whether a first header that can't be right means another protocol rather than a fault.
    private let isGuess: Bool

    init(_ place: StreamPlace, layout: FrameLayout, limits: FrameLimits, isGuess: Bool) {
        self.place = place
        self.isGuess = isGuess
        cutter = FrameCutter(layout: layout, limits: limits)
    }

    var isOpen: Bool { end == .open }

    var summary: DirectionSummary {
        DirectionSummary(
            frames: cutter.frameCount, byteCount: assembler.position, repeatedByteCount: assembler.repeatedByteCount,
            earlySegmentCount: assembler.earlySegmentCount, conflictingByteCount: assembler.conflictingByteCount,
            heldByteCount: end == .open ? cutter.heldByteCount + (opening?.count ?? 0) : 0, end: end)
    }

    /// Says that the direction's first byte has this sequence number.
    func begin(at sequence: UInt32) {
        if !assembler.isAnchored { assembler.anchor(at: sequence) }
    }

    func take(_ segment: TCPSegment, _ time: CaptureTime?, _ emit: Emit) {
        guard isOpen else { return }
        let sequence = segment.isSyn ? segment.sequence &+ 1 : segment.sequence
        if !assembler.isAnchored, segment.length > 0 || segment.isFin {
            assembler.anchor(at: sequence)
            if segment.length > 0 { emit(.lateStart(place, time)) }
        }
        for bytes in assembler.insert(sequence, segment.payload, length: segment.length) { feed(bytes, time, emit) }
        if segment.isFin { assembler.noteEnd(at: sequence &+ UInt32(truncatingIfNeeded: segment.length)) }
        if assembler.isComplete {
            finish(.finished, time, emit)
        } else if assembler.isOverfull {
            loseHole(time, emit)
        }
    }

    /// The other side has acknowledged everything before this sequence number. Whoever watches a live stream would else
    /// learn of a lost segment only when the connection ends.
    func noteAcknowledgement(_ sequence: UInt32, _ time: CaptureTime?, _ emit: Emit) {
        guard isOpen, let hole = assembler.hole, let reached = assembler.position(of: sequence),
            reached >= assembler.position + hole
        else {
            acknowledgedHoles = 0
            return
        }
        acknowledgedHoles += 1
        if acknowledgedHoles >= Self.patience { loseHole(time, emit) }
    }

    /// The connection was reset, by whichever side.
    func reset(_ time: CaptureTime?, _ emit: Emit) { finish(.reset, time, emit) }

    /// Gives up waiting for missing bytes, if any are missing.
    func loseHole(_ time: CaptureTime?, _ emit: Emit) {
        guard isOpen, let missing = assembler.hole else { return }
        flushOpening(time, emit)
        guard isOpen else { return }
        lose(.missing(byteCount: missing, isCut: assembler.cutByteCount > 0), time, emit)
    }

    /// Ends the direction without a word about its frames.
    func abandon(_ time: CaptureTime?, _ emit: Emit) {
        if isOpen { lose(.tooMany, time, emit) }
    }

    /// The capture is over: what waits is lost; an unfinished frame is nobody's fault.
    func endOfCapture(_ time: CaptureTime?, _ emit: Emit) {
        loseHole(time, emit)
        if isOpen { flushOpening(time, emit) }
    }

    private func finish(_ end: DirectionEnd, _ time: CaptureTime?, _ emit: Emit) {
        guard isOpen else { return }
        loseHole(time, emit)
        flushOpening(time, emit)
        guard isOpen else { return }
        do throws(FrameError) {
            try cutter.finish()
            self.end = end
        } catch {
            fail(error, time, emit)
        }
    }

    private func feed(_ bytes: ArraySlice<UInt8>, _ time: CaptureTime?, _ emit: Emit) {
        guard isOpen else { return }
        guard let opening else { return cut(bytes, time, emit) }
        let start = opening + bytes
        guard start.count >= Self.tlsPrefixLength else {
            self.opening = start
            return
        }
        self.opening = nil
        if (20...24).contains(start[0]), start[1] == 3, start[2] <= 4 { return lose(.encrypted, time, emit) }
        cut(start[...], time, emit)
    }

    private func flushOpening(_ time: CaptureTime?, _ emit: Emit) {
        guard let bytes = opening else { return }
        opening = nil
        if isOpen { cut(bytes[...], time, emit) }
    }

    private func cut(_ bytes: ArraySlice<UInt8>, _ time: CaptureTime?, _ emit: Emit) {
        let place = place
        do throws(FrameError) {
            try cutter.feed(bytes.span.bytes) { offset, header, body in
                emit(.frame(place, time, offset: offset, Frame(header, body)))
            }
        } catch {
            fail(error, time, emit)
        }
    }

    private func fail(_ error: FrameError, _ time: CaptureTime?, _ emit: Emit) {
        assembler.giveUp()
        if isGuess, cutter.frameCount == 0 {
            end = .foreign
            return
        }
        end = .failed
        emit(.error(place, time, FrameErrorReport(offset: cutter.offset, error: error)))
    }

    private func lose(_ loss: StreamLoss, _ time: CaptureTime?, _ emit: Emit) {
        let offset = UInt64(assembler.position)
        assembler.giveUp()
        if isGuess, cutter.frameCount == 0 {
            end = .foreign
            return
        }
        end = loss == .encrypted ? .encrypted : .failed
        emit(.loss(place, time, offset: loss == .encrypted ? 0 : offset, loss))
    }
}
