/// What a descriptor is ready for.
struct Readiness: OptionSet, Sendable {
    let rawValue: UInt8
    static let readable = Readiness(rawValue: 1)
    static let writable = Readiness(rawValue: 2)
    /// The peer hung up or the descriptor failed: reading tells which.
    static let failed = Readiness(rawValue: 4)
}

/// Whoever owns a descriptor on the loop; called on the loop's thread.
protocol ReadinessHandler: AnyObject {
    func ready(_ readiness: Readiness)
}

/// Which registration: a place in the table and the generation of its tenant.
struct PollToken: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    var packed: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }

    init(packed: UInt64) {
        self.init(slot: UInt32(truncatingIfNeeded: packed), generation: UInt32(truncatingIfNeeded: packed >> 32))
    }
}
