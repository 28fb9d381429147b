/// Arithmetic on message ids: 1, 2, … 4294967295, then 1 again (protocol.md, section 2).
///
/// Order is serial (RFC 1982): of two ids the later one is the one fewer than 2^31 steps ahead. 0 is a place in the
/// circle that no message has.
enum MessageID {
    /// The id after `id`; 0 is skipped.
    @inline(__always)
    static func next(after id: UInt32) -> UInt32 { id == .max ? 1 : id + 1 }

    /// Whether `id` is `other` or before it.
    @inline(__always)
    static func isNotAfter(_ id: UInt32, _ other: UInt32) -> Bool { Int32(bitPattern: other &- id) >= 0 }
}
