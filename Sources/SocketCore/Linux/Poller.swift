import CLinux
import Glibc

/// epoll, and who wants to hear of which descriptor.
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

    /// Ready descriptors fetched at a time; more wait for the next round.
    private static let batch = 256

    private let epoll: FileDescriptor
    private var slots: [Slot] = []
    private var free: [UInt32] = []
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: Poller.batch)

    init() throws(SystemError) {
        epoll = try SystemCalls.makeEpoll()
    }

    deinit { events.deallocate() }

    /// Descriptors that are watched.
    var count: Int { slots.count - free.count }

    /// Adds a descriptor, level-triggered; the caller removes it before closing it.
    mutating func add(_ descriptor: Int32, interest: Readiness, handler: any ReadinessHandler) throws(SystemError) -> PollToken {
        let slot = free.popLast() ?? UInt32(slots.count)
        if slot == slots.count { slots.append(Slot()) }
        let token = PollToken(slot: slot, generation: slots[Int(slot)].generation)
        do {
            try SystemCalls.control(epoll.number, EPOLL_CTL_ADD, descriptor, events: mask(interest), token: token.packed)
        } catch {
            free.append(slot)
            throw error
        }
        slots[Int(slot)].handler = handler
        slots[Int(slot)].descriptor = descriptor
        slots[Int(slot)].interest = interest
        return token
    }

    /// Changes what a descriptor is watched for; no system call when nothing changes.
    mutating func update(_ token: PollToken, interest: Readiness) throws(SystemError) {
        let slot = Int(token.slot)
        guard slots[slot].generation == token.generation, slots[slot].interest != interest else { return }
        try SystemCalls.control(epoll.number, EPOLL_CTL_MOD, slots[slot].descriptor, events: mask(interest), token: token.packed)
        slots[slot].interest = interest
    }

    /// Takes a descriptor out; readiness under way for it is dropped.
    mutating func remove(_ token: PollToken) {
        let slot = Int(token.slot)
        guard slots[slot].generation == token.generation, slots[slot].handler != nil else { return }
        // Fails only for a descriptor that was closed already, which takes it out as well.
        try? SystemCalls.control(epoll.number, EPOLL_CTL_DEL, slots[slot].descriptor, events: 0, token: 0)
        slots[slot].handler = nil
        slots[slot].descriptor = -1
        slots[slot].generation &+= 1
        free.append(token.slot)
    }

    /// Waits at most that long (-1: until something happens).
    ///
    /// - Returns: how many descriptors are ready; ask ``ready(at:)`` for each.
    func wait(milliseconds: Int32) throws(SystemError) -> Int {
        try SystemCalls.wait(epoll.number, into: events, milliseconds: milliseconds)
    }

    /// Who is to be told what; nil when the registration has ended since.
    func ready(at index: Int) -> (handler: any ReadinessHandler, readiness: Readiness)? {
        let event = events[index]
        let token = PollToken(packed: event.data.u64)
        let slot = slots[Int(token.slot)]
        guard slot.generation == token.generation, let handler = slot.handler else { return nil }
        var readiness: Readiness = []
        if event.events & EPOLLIN.rawValue != 0 { readiness.insert(.readable) }
        if event.events & EPOLLOUT.rawValue != 0 { readiness.insert(.writable) }
        if event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { readiness.insert(.failed) }
        return (handler, readiness)
    }

    private func mask(_ interest: Readiness) -> UInt32 {
        (interest.contains(.readable) ? EPOLLIN.rawValue : 0) | (interest.contains(.writable) ? EPOLLOUT.rawValue : 0)
    }
}
