/// Bytes of a file that came and weren't used up yet.
struct ByteQueue: Sendable {
    private var held: [UInt8] = []
    private var start = 0
    /// Bytes still to come that are to be passed over.
    private var toSkip: UInt64 = 0
    /// Where the next byte lies in the file.
    private(set) var offset: UInt64 = 0

    /// Bytes that are there.
    var count: Int { held.count - start }
    /// Whether bytes that were skipped haven't come yet.
    var isSkipping: Bool { toSkip > 0 }

    mutating func append(_ bytes: [UInt8]) {
        let skipped = Int(min(toSkip, UInt64(bytes.count)))
        toSkip -= UInt64(skipped)
        offset += UInt64(skipped)
        held.removeFirst(start)
        start = 0
        held += bytes.dropFirst(skipped)
    }

    /// The next `length` bytes, left where they are; nil until they're there.
    func window(_ length: Int) -> ByteWindow? {
        length <= count && !isSkipping ? ByteWindow(held[start..<start + length]) : nil
    }

    /// Passes over the next `length` bytes, whether they're there already or still to come.
    mutating func skip(_ length: UInt64) {
        let now = Int(min(length, UInt64(count)))
        start += now
        offset += UInt64(now)
        toSkip += length - UInt64(now)
    }
}
