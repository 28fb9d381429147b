/// The decoder's buffer: bytes received and not delivered. Owns its memory; nothing outside sees it move.
///
///     |  taken  |  held  |  free  |
///     0         start    end      capacity
@usableFromInline
struct HeldBytes: ~Copyable {
    /// Holds the half frame of a small message without growing.
    @usableFromInline static let smallestCapacity = 64

    @usableFromInline var base: UnsafeMutableRawPointer?
    @usableFromInline var capacity = 0
    @usableFromInline var start = 0
    @usableFromInline var end = 0
    @usableFromInline var copied: UInt64 = 0

    @inlinable init() {}
    @inlinable deinit { base?.deallocate() }

    @usableFromInline var count: Int {
        @inlinable @inline(__always) get { end &- start }
    }

    /// Where the held bytes are; only asked for while there are some, so there is a buffer.
    @usableFromInline var first: UnsafeRawPointer {
        @inlinable @inline(__always) get { UnsafeRawPointer(base.unsafelyUnwrapped) + start }
    }

    /// Adds a copy of `byteCount` bytes at `source`.
    @inlinable @inline(__always)
    mutating func append(_ source: UnsafeRawPointer, _ byteCount: Int, _ rules: HeaderRules) {
        if capacity &- end < byteCount { makeRoom(for: byteCount, rules) }
        (base.unsafelyUnwrapped + end).copyMemory(from: source, byteCount: byteCount)
        end &+= byteCount
        copied &+= UInt64(truncatingIfNeeded: byteCount)
    }

    /// Takes bytes from the front; a pointer to them holds until the next call.
    @inlinable @inline(__always)
    mutating func removeFirst(_ byteCount: Int) {
        start &+= byteCount
        if start == end {
            start = 0
            end = 0
        }
    }

    /// Makes room behind the held bytes, so that all the moving ever done stays within a constant times the bytes received:
    /// - there's enough room in all, and at most as many bytes are moved to the front as were taken since the last move, or
    ///   the one unfinished frame is (once a frame: afterwards it starts at 0);
    /// - else the buffer grows, at least doubling up to the size of the frame under way. Past that it doubles only when whole
    ///   frames are held, which is a caller who appends without taking; otherwise this read completes the frame and its own
    ///   size is enough. So a caller who takes what there is never makes the buffer larger than a frame and a read.
    @usableFromInline @inline(never)
    mutating func makeRoom(for more: Int, _ rules: HeaderRules) {
        let held = count
        let need = held + more
        if need <= capacity, start >= held { return moveToFront() }
        let frame = frameUnderWay(rules)
        if need <= capacity, held < frame { return moveToFront() }
        let doubled = held < frame ? min(capacity * 2, frame) : capacity * 2
        reallocate(max(need, doubled, HeldBytes.smallestCapacity))
    }

    private mutating func moveToFront() {
        guard let base else { return }
        let held = count
        base.copyMemory(from: base + start, byteCount: held)
        copied &+= UInt64(held)
        start = 0
        end = held
    }

    /// The size of the first held frame as far as its header tells: only a hint for how far to grow.
    private func frameUnderWay(_ rules: HeaderRules) -> Int {
        guard count >= FrameHeader.byteCount, let header = rules.header(at: first) else { return FrameHeader.byteCount }
        return header.frameByteCount
    }

    private mutating func reallocate(_ byteCount: Int) {
        let held = count
        let fresh = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
        if held > 0 {
            fresh.copyMemory(from: first, byteCount: held)
            copied &+= UInt64(held)
        }
        base?.deallocate()
        base = fresh
        capacity = byteCount
        start = 0
        end = held
    }

    /// Gives back what isn't in use.
    mutating func shrink() {
        guard count > 0 else { return release() }
        let need = max(count, HeldBytes.smallestCapacity)
        if need < capacity { reallocate(need) }
    }

    @usableFromInline
    mutating func release() {
        base?.deallocate()
        base = nil
        capacity = 0
        start = 0
        end = 0
    }
}
