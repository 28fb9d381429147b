import FrameCodec
import SocketCore

/// What a decoder made of a stream.
public struct StreamAnswer: Equatable, Sendable {
    /// The frames it delivered, in order.
    public var frames: [Frame] = []
    /// The error that ended the stream, if one did.
    public var error: FrameError?
    /// Where the frame after the last delivered one begins.
    public var frameOffset: UInt64 = 0

    /// An answer of the given parts.
    public init(frames: [Frame] = [], error: FrameError? = nil, frameOffset: UInt64 = 0) {
        self.frames = frames
        self.error = error
        self.frameOffset = frameOffset
    }
}

/// Feeds one stream to a decoder whole, byte by byte, cut at every place and cut at random, through every face: the answer must be the
/// same each time.
public struct SplitVerifier {
    /// The ways of handing bytes over and getting frames back.
    public enum Face: CaseIterable, Sendable {
        /// Each read decoded in place.
        case inPlace
        /// Each read in place, the handler stopping after every frame; the rest is handed in again.
        case inPlaceStopping
        /// As ``inPlaceStopping``, but the rest is appended and the decoder goes on with empty input.
        case inPlaceAppendingTheRest
        /// Each read appended, then pulled until there's nothing more.
        case pull
        /// All reads appended before the first pull.
        case pullAtTheEnd
        /// The faces in turn, a read each.
        case mixed
    }

    /// A way of feeding that gave another answer.
    public struct Mismatch: Equatable, Sendable, CustomStringConvertible {
        /// How the bytes were handed over.
        public let face: Face
        /// Where the reads ended.
        public let cuts: [Int]
        /// What came out.
        public let found: StreamAnswer
        /// What should have.
        public let expected: StreamAnswer

        /// Both answers in short.
        public var description: String {
            "\(face), cuts \(cuts): \(found.frames.count) frames, error \(String(describing: found.error)), offset \(found.frameOffset); "
                + "expected \(expected.frames.count) frames, error \(String(describing: expected.error)), offset \(expected.frameOffset)"
        }
    }

    let layout: FrameLayout
    let limits: FrameLimits

    /// A verifier for decoders of one configuration.
    public init(layout: FrameLayout = .standard, limits: FrameLimits = FrameLimits()) {
        self.layout = layout
        self.limits = limits
    }

    /// The first way of feeding `stream` that doesn't give `expected`; nil when all do.
    ///
    /// - Parameters:
    ///   - ended: whether the stream is over after these bytes.
    ///   - randomCuts: how many sets of random cuts to try, drawn from `generator`.
    public func firstMismatch(
        _ stream: [UInt8], ended: Bool = true, expected: StreamAnswer, randomCuts: Int = 40,
        using generator: inout some RandomNumberGenerator
    ) -> Mismatch? {
        for cuts in waysOfCutting(stream.count, randomCuts, &generator) {
            for face in Face.allCases {
                let found = answer(stream, cuts: cuts, face: face, ended: ended)
                if found != expected { return Mismatch(face: face, cuts: cuts, found: found, expected: expected) }
            }
        }
        return nil
    }

    /// What a decoder makes of `stream` when its reads end at `cuts`.
    public func answer(_ stream: [UInt8], cuts: [Int], face: Face, ended: Bool = true) -> StreamAnswer {
        var decoder = FrameDecoder(layout: layout, limits: limits)
        var answer = StreamAnswer()
        do throws(FrameError) {
            var from = 0
            for (index, cut) in (cuts + [stream.count]).enumerated() {
                let read = Array(stream[from..<cut])
                try feed(read, face, turn: index, &decoder, &answer)
                from = cut
            }
            if face == .pullAtTheEnd || face == .mixed { try pull(&decoder, &answer) }
            if ended { try decoder.finish() }
        } catch {
            answer.error = error
        }
        answer.frameOffset = decoder.frameOffset
        return answer
    }

    private func waysOfCutting(_ count: Int, _ randomCuts: Int, _ generator: inout some RandomNumberGenerator) -> [[Int]] {
        guard count > 1 else { return [[]] }
        var ways = [[], Array(1..<count)]
        // Every place of a long stream would take minutes; its ends are where the frames of the fixtures are.
        let places = Array(1..<count)
        let tried = count > 600 ? Array(places.prefix(200) + places.suffix(200)) : places
        ways += tried.map { [$0] }
        for _ in 0..<randomCuts {
            let density = Double.random(in: 0...0.5, using: &generator)
            ways.append(places.filter { _ in Double.random(in: 0..<1, using: &generator) < density })
        }
        return ways
    }

    private func feed(
        _ read: [UInt8], _ face: Face, turn: Int, _ decoder: inout FrameDecoder, _ answer: inout StreamAnswer
    ) throws(FrameError) {
        switch face {
        case .inPlace: try decodeAll(read, &decoder, &answer)
        case .inPlaceStopping: try decodeStopping(read, &decoder, &answer)
        case .inPlaceAppendingTheRest: try decodeAppendingTheRest(read, &decoder, &answer)
        case .pull:
            try decoder.append(read.span.bytes)
            try pull(&decoder, &answer)
        case .pullAtTheEnd: try decoder.append(read.span.bytes)
        case .mixed:
            let faces: [Face] = [.inPlace, .pullAtTheEnd, .inPlaceStopping, .pull, .inPlaceAppendingTheRest, .pullAtTheEnd]
            try feed(read, faces[turn % faces.count], turn: turn, &decoder, &answer)
        }
    }

    private func decodeAll(_ read: [UInt8], _ decoder: inout FrameDecoder, _ answer: inout StreamAnswer) throws(FrameError) {
        var frames: [Frame] = []
        defer { answer.frames += frames }
        try decoder.decode(read.span.bytes) { header, body in
            frames.append(Frame(header, body))
            return .more
        }
    }

    /// Decodes at most one frame; gives how many bytes were used and whether the handler was called.
    private func decodeOne(
        _ read: RawSpan, _ decoder: inout FrameDecoder, _ answer: inout StreamAnswer
    ) throws(FrameError) -> (used: Int, called: Bool) {
        var frames: [Frame] = []
        defer { answer.frames += frames }
        let used = try decoder.decode(read) { header, body in
            frames.append(Frame(header, body))
            return .stop
        }
        return (used, !frames.isEmpty)
    }

    private func decodeStopping(_ read: [UInt8], _ decoder: inout FrameDecoder, _ answer: inout StreamAnswer) throws(FrameError) {
        var at = 0
        while true {
            let step = try decodeOne(read.span.bytes.extracting(at..<read.count), &decoder, &answer)
            at += step.used
            if !step.called { return }
        }
    }

    private func decodeAppendingTheRest(
        _ read: [UInt8], _ decoder: inout FrameDecoder, _ answer: inout StreamAnswer
    ) throws(FrameError) {
        let first = try decodeOne(read.span.bytes, &decoder, &answer)
        guard first.called else { return }
        try decoder.append(read.span.bytes.extracting(first.used..<read.count))
        while try decodeOne(RawSpan(), &decoder, &answer).called {}
    }

    private func pull(_ decoder: inout FrameDecoder, _ answer: inout StreamAnswer) throws(FrameError) {
        while let view = try decoder.next() { answer.frames.append(view.copy()) }
    }
}
