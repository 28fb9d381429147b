import Glibc

/// poll(2), and who wants to hear of which descriptor: slower than a system's own interface, and everywhere.
///
/// Readiness that was fetched before a descriptor was closed may be delivered after its number has been given to
/// another: the generation in the token tells the two apart.
struct Poller: ~Copyable {
    private struct Slot {
        var generation: UInt32 = 0
        var handler: (any ReadinessHandler)?
        var descriptor: Int32 = -1
        var interest: Readiness = []
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private var ready: [(token: PollToken, readiness: Readiness)] = []

    init() throws(SystemError) {}

    /// Descriptors that are watched.
    var count: Int { slots.count - free.count }

    /// Adds a descriptor, level-triggered; the caller removes it before closing it.
    mutating func add(_ descriptor: Int32, interest: Readiness, handler: any ReadinessHandler) throws(SystemError) -> PollToken {
        let slot = free.popLast() ?? UInt32(slots.count)
        if slot == slots.count { slots.append(Slot()) }
        slots[Int(slot)].handler = handler
        slots[Int(slot)].descriptor = descriptor
        slots[Int(slot)].interest = interest
        return PollToken(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Changes what a descriptor is watched for.
    mutating func update(_ token: PollToken, interest: Readiness) throws(SystemError) {
        guard slots[Int(token.slot)].generation == token.generation else { return }
        slots[Int(token.slot)].interest = interest
    }

    /// Takes a descriptor out; readiness under way for it is dropped.
    mutating func remove(_ token: PollToken) {
        let slot = Int(token.slot)
        guard slots[slot].generation == token.generation, slots[slot].handler != nil else { return }
        slots[slot].handler = nil
        slots[slot].descriptor = -1
        slots[slot].generation &+= 1
        free.append(token.slot)
    }

    /// Waits at most that long (-1: until something happens).
    ///
    /// - Returns: how many descriptors are ready; ask ``ready(at:)`` for each.
    mutating func wait(milliseconds: Int32) throws(SystemError) -> Int {
        // poll() passes over descriptors below 0, so that a slot's place is its place here too.
        var polled = slots.map { slot in
            pollfd(
                fd: slot.descriptor,
                events: Int16((slot.interest.contains(.readable) ? POLLIN : 0) | (slot.interest.contains(.writable) ? POLLOUT : 0)),
                revents: 0)
        }
        ready.removeAll(keepingCapacity: true)
        let count = poll(&polled, nfds_t(polled.count), milliseconds)
        guard count >= 0 else {
            guard errno == EINTR else { throw SystemError(function: "poll", code: errno) }
            return 0
        }
        for (index, entry) in polled.enumerated() where entry.revents != 0 {
            var readiness: Readiness = []
            let events = Int32(entry.revents)
            if events & POLLIN != 0 { readiness.insert(.readable) }
            if events & POLLOUT != 0 { readiness.insert(.writable) }
            if events & (POLLERR | POLLHUP | POLLNVAL) != 0 { readiness.insert(.failed) }
            ready.append((PollToken(slot: UInt32(index), generation: slots[index].generation), readiness))
        }
        return ready.count
    }

    /// Who is to be told what; nil when the registration has ended since.
    func ready(at index: Int) -> (handler: any ReadinessHandler, readiness: Readiness)? {
        let (token, readiness) = ready[index]
        let slot = slots[Int(token.slot)]
        guard slot.generation == token.generation, let handler = slot.handler else { return nil }
        return (handler, readiness)
    }
}
