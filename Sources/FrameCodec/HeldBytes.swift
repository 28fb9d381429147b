/// The decoder's buffer: bytes received and not delivered. Owns its memory; nothing outside sees it move.
@usableFromInline
struct HeldBytes: ~Copyable {
    /// Below this a buffer isn't worth giving back when it runs empty: it holds the half frames of small messages.
    @usableFromInline static let keptCapacity = 64 * 1024
    @usableFromInline static let smallestCapacity = 64

    @usableFromInline var base: UnsafeMutableRawPointer?
    @usableFromInline var capacity = 0
    @usableFromInline var start = 0
    @usableFromInline var count = 0
    @usableFromInline var copied: UInt64 = 0

    @inlinable init() {}
    @inlinable deinit { base?.deallocate() }

    @usableFromInline
    var bytes: RawSpan {
        @inlinable @_lifetime(borrow self) get {
            let pointer = UnsafeRawPointer(base).map { $0 + start }
            return _overrideLifetime(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: pointer, count: count)), borrowing: self)
        }
    }

    /// Adds a copy of `input`; `frameByteCount` says how large the frame under way is, so that growing stops there.
    @usableFromInline
    mutating func append(_ input: RawSpan, frameByteCount: Int) {
        let more = input.byteCount
        guard more > 0 else { return }
        if start + count + more > capacity { makeRoom(for: more, frameByteCount) }
        input.withUnsafeBytes { (base! + start + count).copyMemory(from: $0.baseAddress!, byteCount: more) }
        count += more
        copied &+= UInt64(more)
    }

    /// Takes bytes from the front; the pointer to them holds until the next call.
    @inlinable
    mutating func removeFirst(_ byteCount: Int) -> UnsafeRawPointer {
        let pointer = UnsafeRawPointer(base!) + start
        start += byteCount
        count -= byteCount
        if count == 0 { start = 0 }
        return pointer
    }

    /// Moves to the front where that costs no more than what was taken since, else grows: doubling, but not past the frame.
    private mutating func makeRoom(for more: Int, _ frameByteCount: Int) {
        let need = count + more
        if need <= capacity, start >= count {
            copied &+= UInt64(count)
            base!.copyMemory(from: base! + start, byteCount: count)
            start = 0
            return
        }
        let target = max(need, min(capacity * 2, frameByteCount), HeldBytes.smallestCapacity)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: target, alignment: 16)
        if count > 0 {
            larger.copyMemory(from: base! + start, byteCount: count)
            copied &+= UInt64(count)
        }
        base?.deallocate()
        base = larger
        capacity = target
        start = 0
    }

    /// Gives back what isn't in use.
    mutating func shrink() {
        guard count > 0 else { return release() }
        guard capacity > max(count, HeldBytes.smallestCapacity) else { return }
        let need = count
        let smaller = UnsafeMutableRawPointer.allocate(byteCount: max(need, HeldBytes.smallestCapacity), alignment: 16)
        smaller.copyMemory(from: base! + start, byteCount: need)
        base?.deallocate()
        base = smaller
        capacity = max(need, HeldBytes.smallestCapacity)
        start = 0
    }

    mutating func release() {
        base?.deallocate()
        base = nil
        capacity = 0
        start = 0
        count = 0
    }
}

@_unsafeNonescapableResult @_alwaysEmitIntoClient @_transparent @_lifetime(borrow source)
func _overrideLifetime<T: ~Copyable & ~Escapable, U: ~Copyable & ~Escapable>(_ value: consuming T, borrowing source: borrowing U) -> T {
    value
}
