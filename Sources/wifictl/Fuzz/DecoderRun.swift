import FrameCodec

/// One decoder on its way through one stream, watched after every read.
struct DecoderRun<Decoder: DecoderUnderTest & ~Copyable>: ~Copyable {
    var decoder: Decoder
    let drive: Drive
    let bodyLimit: Int
    var follower: FrameFollower
    /// Bytes handed over so far.
    var received = 0
    var pieces = 0
    var largestPiece = 0
    /// Copies that the run itself asked for by giving memory back: one then, one when the buffer grows again.
    var shrinkAllowance: UInt64 = 0
    /// What the decoder threw; nothing is fed after that.
    var thrown: FrameError?
    /// The first thing that was wrong.
    var found: Disagreement?

    init(decoder: consuming Decoder, drive: Drive, expected: ReferenceDecoder.Answer, limits: FrameLimits, layout: FrameLayout) {
        self.decoder = decoder
        self.drive = drive
        bodyLimit = min(limits.maximumBodyLength, layout.maximumExpressibleLength)
        follower = FrameFollower(expected)
    }

    /// Hands over the next read; false when the run is over.
    @discardableResult
    mutating func feed(_ piece: RawSpan) -> Bool {
        guard found == nil, thrown == nil else { return false }
        received += piece.byteCount
        largestPiece = max(largestPiece, piece.byteCount)
        do throws(FrameError) {
            switch drive {
            case .whole, .inPlace: try feedInPlace(piece)
            case .pull:
                try decoder.append(piece)
                try drain()
            case .pullLate: try decoder.append(piece)
            case .stopping: try feedStopping(piece)
            case .mixed: try feedMixed(piece)
            }
        } catch {
            thrown = error
        }
        pieces += 1
        checkAfterRead()
        return found == nil && thrown == nil
    }

    /// Ends the stream and gives the first thing that was wrong.
    mutating func end() -> Disagreement? {
        if drive == .pullLate || drive == .mixed, found == nil, thrown == nil {
            do throws(FrameError) { try drain() } catch { thrown = error }
            checkAfterRead()
        }
        if found == nil { checkAnswer() }
        if found == nil, thrown != nil { checkAfterError() }
        if found == nil { checkFinish() }
        return found
    }

    // MARK: Ways of feeding

    private mutating func feedInPlace(_ piece: RawSpan) throws(FrameError) {
        let used = try Self.decode(piece, &decoder, &follower, stopping: false)
        if used != piece.byteCount, follower.complaint == nil {
            note(.accounting, "decode used \(used) of \(piece.byteCount) bytes though nobody stopped it")
        }
    }

    /// Decoder and follower come as two arguments so that each is accessed on its own.
    @inline(__always)
    private static func decode(
        _ piece: RawSpan, _ decoder: inout Decoder, _ follower: inout FrameFollower, stopping: Bool
    ) throws(FrameError) -> Int {
        try decoder.decode(piece) { header, body in
            let flow = follower.saw(header, body)
            return stopping ? .stop : flow
        }
    }

    private mutating func drain() throws(FrameError) { try Self.drain(&decoder, &follower) }

    @inline(__always)
    private static func drain(_ decoder: inout Decoder, _ follower: inout FrameFollower) throws(FrameError) {
        while follower.complaint == nil {
            guard try decoder.pull({ _ = follower.saw($0, $1) }) else { return }
        }
    }

    /// Stops at each frame; then by turns offers the rest again and appends it.
    private mutating func feedStopping(_ piece: RawSpan) throws(FrameError) {
        var rest = piece
        var appends = pieces % 2 == 1
        while found == nil {
            let before = follower.count
            let used = try Self.decode(rest, &decoder, &follower, stopping: true)
            guard used >= 0, used <= rest.byteCount else {
                return note(.accounting, "decode says that it used \(used) of \(rest.byteCount) bytes")
            }
            rest = rest.extracting(droppingFirst: used)
            guard follower.complaint == nil else { return }
            if follower.count == before {
                if rest.byteCount > 0 { note(.accounting, "decode left \(rest.byteCount) bytes though nobody stopped it") }
                return
            }
            if follower.count > before + 1 { return note(.accounting, "decode went on with the next frame after it was told to stop") }
            if appends, rest.byteCount > 0 {
                try decoder.append(rest)
                rest = rest.extracting(first: 0)
            }
            appends.toggle()
        }
    }

    private mutating func feedMixed(_ piece: RawSpan) throws(FrameError) {
        switch pieces % 4 {
        case 0, 2: try feedInPlace(piece)
        case 1:
            try decoder.append(piece)
            try drain()
        default:
            shrinkAllowance += 2 * UInt64(truncatingIfNeeded: decoder.heldByteCount)
            decoder.shrink()
            // What stays appended here is delivered by the in-place face at the next read.
            try decoder.append(piece)
            if pieces % 8 == 3 { try drain() }
        }
    }
}
