/// Puts one direction of a TCP connection back into order (RFC 9293, section 3.4).
///
/// ``anchor(at:)`` once, then ``insert(_:_:length:)`` and ``noteEnd(at:)`` as segments come. Bytes that came before are passed
/// over, bytes that came early wait until what lies before them has come; of bytes that came twice the first count.
/// Positions count bytes of the stream from the anchor; the sequence numbers' wrap at 2^32 doesn't show.
struct SegmentAssembler: Sendable {
    /// Bytes that may wait for a hole to be filled: four times what a fast LAN has under way. Beyond it the hole is lost.
    static let maximumPendingBytes = 4 << 20
    /// Pieces that may wait, so that a stream of one-byte segments can't cost more memory or time than it carries.
    static let maximumPendingPieces = 8_192
    /// The largest window that TCP has (RFC 7323): a segment further ahead belongs to another connection.
    private static let largestWindow = 1 << 30

    private struct Piece: Sendable {
        var start: Int
        var bytes: [UInt8]
        var end: Int { start + bytes.count }
    }

    /// Bytes handed over so far: where the next one lies in the stream.
    private(set) var position = 0
    /// Bytes that wait behind a hole.
    private(set) var pendingByteCount = 0
    /// Bytes that came again after they had been handed over or while they waited.
    private(set) var repeatedByteCount = 0
    /// Segments that came before one that precedes them.
    private(set) var earlySegmentCount = 0
    /// Bytes that came twice with different values.
    private(set) var conflictingByteCount = 0
    /// Bytes of segments that the capture kept only the start of.
    private(set) var cutByteCount = 0
    private var pending: [Piece] = []
    private var expected: UInt32?
    private var end: Int?

    /// Whether it is known which sequence number the stream begins with.
    var isAnchored: Bool { expected != nil }
    /// Whether everything up to the stream's end has been handed over.
    var isComplete: Bool { end == position }
    /// Bytes missing before the first that wait, or before the end; nil when none are known to be.
    var hole: Int? {
        if let first = pending.first { return first.start - position }
        return end.flatMap { $0 > position ? $0 - position : nil }
    }
    /// Whether so much waits that the hole has to be given up.
    var isOverfull: Bool { pendingByteCount > Self.maximumPendingBytes || pending.count > Self.maximumPendingPieces }

    /// Says that the stream's first byte has this sequence number.
    mutating func anchor(at sequence: UInt32) { expected = sequence }

    /// The position of a sequence number, which may lie before the next byte; nil for one that no window reaches.
    func position(of sequence: UInt32) -> Int? {
        guard let expected else { return nil }
        let ahead = Int(Int32(bitPattern: sequence &- expected))
        return ahead <= Self.largestWindow ? position + ahead : nil
    }

    /// Takes the captured bytes of a segment that has `length` of them, and gives what is in order now.
    mutating func insert(_ sequence: UInt32, _ payload: ArraySlice<UInt8>, length: Int) -> [ArraySlice<UInt8>] {
        guard let start = position(of: sequence) else { return [] }
        if start + length > position { cutByteCount += length - payload.count }
        let old = min(payload.count, max(0, position - start))
        repeatedByteCount += old
        let fresh = payload.dropFirst(old)
        guard !fresh.isEmpty else { return [] }
        if start > position { earlySegmentCount += 1 }
        if pending.isEmpty, start <= position {
            advance(fresh.count)
            return [fresh]
        }
        store(fresh, at: start + old)
        return drain()
    }

    /// Says that the stream ends before this sequence number.
    mutating func noteEnd(at sequence: UInt32) {
        if end == nil, let position = position(of: sequence), position >= self.position { end = position }
    }

    /// Forgets what waits, for a stream that is given up.
    mutating func giveUp() {
        pending = []
        pendingByteCount = 0
    }

    private mutating func advance(_ length: Int) {
        position += length
        expected = expected.map { $0 &+ UInt32(truncatingIfNeeded: length) }
    }

    private mutating func drain() -> [ArraySlice<UInt8>] {
        var ready: [ArraySlice<UInt8>] = []
        while ready.count < pending.count, pending[ready.count].start == position {
            let bytes = pending[ready.count].bytes
            pendingByteCount -= bytes.count
            advance(bytes.count)
            ready.append(bytes[...])
        }
        pending.removeFirst(ready.count)
        return ready
    }

    /// Keeps those of the bytes that no waiting piece holds.
    private mutating func store(_ bytes: ArraySlice<UInt8>, at start: Int) {
        var index = firstPiece(endingAfter: start)
        var cursor = start
        let end = start + bytes.count
        let byte = { (position: Int) in bytes.startIndex + position - start }
        while cursor < end {
            if index < pending.count, pending[index].start <= cursor {
                let piece = pending[index]
                let overlapEnd = min(end, piece.end)
                for position in cursor..<overlapEnd where piece.bytes[position - piece.start] != bytes[byte(position)] {
                    conflictingByteCount += 1
                }
                repeatedByteCount += overlapEnd - cursor
                cursor = overlapEnd
            } else {
                let pieceEnd = index < pending.count ? min(end, pending[index].start) : end
                pending.insert(Piece(start: cursor, bytes: Array(bytes[byte(cursor)..<byte(pieceEnd)])), at: index)
                pendingByteCount += pieceEnd - cursor
                cursor = pieceEnd
            }
            index += 1
        }
    }

    private func firstPiece(endingAfter position: Int) -> Int {
        var low = 0
        var high = pending.count
        while low < high {
            let middle = (low + high) / 2
            if pending[middle].end > position { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
