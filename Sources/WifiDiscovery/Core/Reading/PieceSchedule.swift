import SocketCore

/// Why a stream couldn't be read to its end.
public enum ReadError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The stream shrank while it was read: it's another one now.
    case streamChanged(was: Int, is: Int)
    /// A piece begins elsewhere than asked for. The device's fault.
    case wrongPlace(asked: Int, got: Int)
    /// An empty piece before the end. The device's fault.
    case incomplete(have: Int, total: Int)
    /// A piece was asked for again and again for that long, and no answer came.
    case noProgress(after: Duration, offset: Int)

    /// A sentence for people, with what to try.
    public var description: String {
        switch self {
        case .streamChanged(let was, let now): "the stream had \(was) bytes and now has \(now): it's another one; read it again"
        case .wrongPlace(let asked, let got): "the router sent a piece from \(got) where \(asked) was asked for (its firmware's fault)"
        case .incomplete(let have, let total): "\(total - have) of \(total) bytes are missing at the end (its firmware's fault)"
        case .noProgress(let time, let offset):
            "no answer within \(time) at byte \(offset): the router is away or the link is bad; what came is kept, read again to go on"
        }
    }
}

/// How far a stream is read.
public struct ReadProgress: Equatable, Sendable {
    /// Bytes that are there, from the beginning.
    public var offset: Int
    /// Bytes in all; nil before the first answer.
    public var total: Int?
    /// Bytes that the next piece is asked for with.
    public var pieceSize: Int
}

/// Reads a stream in pieces, the next after the last: how large, how soon, and when it's whole.
///
/// Ask for ``next(now:)``; tell ``received(_:now:)`` or ``unanswered(now:)`` of each request; go on until it says `.done`.
public struct PieceSchedule: Equatable, Sendable {
    /// Sizes and spans.
    public struct Settings: Equatable, Sendable {
        /// Bytes of the first piece.
        public var first = 1_024
        /// No piece is asked for with fewer.
        public var smallest = 256
        /// Nor with more: half of what a sample device gives at most, and far below a frame's limit.
        public var largest = 32 << 10
        /// An answer within this is a fast one: the next piece is twice as large.
        public var fast = Duration.milliseconds(50)
        /// An answer after this is a slow one: the next piece is half as large.
        public var slow = Duration.milliseconds(200)
        /// A device that isn't fast rests after each piece for as long as the piece took, but no longer than this.
        public var longestPause = Duration.milliseconds(500)
        /// How long one piece is waited for, over all requests for it, before the reading ends.
        public var patience = Duration.seconds(50)

        /// The usual ones.
        public init() {}
    }

    /// What to do next.
    public enum Step: Equatable, Sendable {
        /// Ask for this piece.
        case ask(offset: Int, count: Int)
        /// Wait until then.
        case pause(until: Instant)
        /// Everything is there: so many bytes.
        case done(total: Int)
    }

    private let settings: Settings
    private var size: Int
    /// The device gave less than asked for before the end: it gives no more than that.
    private var deviceLimit: Int
    private var notBefore = Instant.zero
    private var askedAt = Instant.zero
    /// Since when the present piece is asked for; nil while none is.
    private var waitingSince: Instant?
    /// Bytes that are there, from the beginning.
    public private(set) var offset: Int
    /// Bytes in all, as the first answer said; what a stream grows by later isn't read.
    public private(set) var total: Int?

    /// Reads from `offset` on; `total` when an earlier part of the same reading has learned it.
    public init(from offset: Int = 0, total: Int? = nil, settings: Settings = Settings()) {
        self.settings = settings
        self.offset = offset
        self.total = total
        size = settings.first
        deviceLimit = settings.largest
    }

    /// How far it is.
    public var progress: ReadProgress { ReadProgress(offset: offset, total: total, pieceSize: pieceSize) }

    /// When the present piece has been waited for long enough: no request for it needs to last longer.
    public var deadline: Instant { waitingSince.map { $0 + settings.patience } ?? .distantFuture }

    private var pieceSize: Int { min(size, deviceLimit) }

    /// What to do now.
    public mutating func next(now: Instant) -> Step {
        if let total, offset >= total { return .done(total: total) }
        if now < notBefore { return .pause(until: notBefore) }
        askedAt = now
        waitingSince = waitingSince ?? now
        return .ask(offset: offset, count: min(pieceSize, total.map { $0 - offset } ?? .max))
    }

    /// The piece that was asked for.
    ///
    /// - Returns: its bytes that are wanted: a stream that has grown may give more.
    /// - Throws: ``ReadError``; nothing of the piece is to be used then.
    public mutating func received(_ piece: StreamPiece, now: Instant) throws(ReadError) -> ArraySlice<UInt8> {
        if let total, piece.total < total { throw .streamChanged(was: total, is: piece.total) }
        guard piece.offset == offset else { throw .wrongPlace(asked: offset, got: piece.offset) }
        let end = total ?? piece.total
        total = end
        let wanted = piece.data.prefix(max(0, end - offset))
        guard !wanted.isEmpty || offset >= end else { throw .incomplete(have: offset, total: end) }
        let asked = min(pieceSize, end - offset)
        offset += wanted.count
        if wanted.count < asked, offset < end { deviceLimit = wanted.count }
        pace(now - askedAt, now)
        waitingSince = nil
        return wanted
    }

    /// The request got no answer.
    ///
    /// - Throws: ``ReadError/noProgress(after:offset:)`` when the piece has been waited for long enough.
    public mutating func unanswered(now: Instant) throws(ReadError) {
        size = settings.smallest
        guard now < deadline else { throw .noProgress(after: settings.patience, offset: offset) }
    }

    private mutating func pace(_ took: Duration, _ now: Instant) {
        if took <= settings.fast {
            size = min(size * 2, settings.largest)
        } else {
            if took > settings.slow { size = max(size / 2, settings.smallest) }
            notBefore = now + min(took, settings.longestPause)
        }
    }
}
