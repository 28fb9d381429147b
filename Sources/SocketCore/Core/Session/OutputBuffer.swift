import FrameCodec

/// Bytes that wait to be written to one connection, in one piece, so that a tick's frames leave in one write.
///
/// Positions count bytes from the start of the connection; they tell whether a certain copy has left.
struct OutputBuffer: ~Copyable {
    private static let smallestCapacity = 256

    private var base: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private var start = 0
    /// Bytes that wait.
    private(set) var count = 0
    /// Where the first waiting byte stands in the connection's stream.
    private(set) var position: UInt64 = 0

    deinit { base?.deallocate() }

    var isEmpty: Bool { count == 0 }
    /// Where the next appended byte will stand.
    var end: UInt64 { position + UInt64(count) }

    /// Appends a frame whose body length has been checked against the layout and the limits.
    @inline(__always)
    mutating func append(_ encoder: FrameEncoder, msgId: UInt32, version: UInt16, body: RawSpan) {
        let need = FrameHeader.byteCount + body.byteCount
        if start + count + need > capacity { makeRoom(for: need) }
        // makeRoom left room, so there is a base address.
        let free = UnsafeMutableRawBufferPointer(start: base! + start + count, count: need)
        count += OutputBuffer.write(encoder, msgId, version, body, to: free)
    }

    @inline(__always)
    private static func write(
        _ encoder: FrameEncoder, _ msgId: UInt32, _ version: UInt16, _ body: RawSpan, to free: UnsafeMutableRawBufferPointer
    ) -> Int {
        var span = OutputRawSpan(buffer: free, initializedCount: 0)
        do {
            try encoder.encode(msgId: msgId, version: version, body: body, into: &span)
        } catch {
            preconditionFailure("a body's length is checked when it's accepted: \(error)")
        }
        return span.finalize(for: free)
    }

    /// Lends what waits.
    func withBytes<Result: ~Copyable, Failure: Error>(_ body: (RawSpan) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: UnsafeRawPointer(base).map { $0 + start }, count: count)))
    }

    /// Drops bytes that were written.
    mutating func removeFirst(_ byteCount: Int) {
        precondition(byteCount >= 0 && byteCount <= count, "\(byteCount) bytes written of \(count)")
        start += byteCount
        count -= byteCount
        position += UInt64(byteCount)
        if count == 0 { start = 0 }
    }

    /// Starts over, for another connection.
    mutating func reset() {
        start = 0
        count = 0
        position = 0
        shrink()
    }

    /// Gives memory back when nothing waits.
    mutating func shrink() {
        guard count == 0 else { return }
        base?.deallocate()
        base = nil
        capacity = 0
        start = 0
    }

    private mutating func makeRoom(for more: Int) {
        let need = count + more
        if need <= capacity, start >= count {
            // What is moved is no more than what left since, so time stays linear. The pieces don't overlap.
            base!.copyMemory(from: base! + start, byteCount: count)
            start = 0
            return
        }
        let target = max(need, capacity * 2, OutputBuffer.smallestCapacity)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: target, alignment: 16)
        if let base {
            larger.copyMemory(from: base + start, byteCount: count)
            base.deallocate()
        }
        base = larger
        capacity = target
        start = 0
    }
}
