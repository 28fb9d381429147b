import FrameCodec
import Glibc

/// One connection through the wire: two sockets, and what is on its way in each direction.
final class WireLink {
    /// One direction.
    struct Lane {
        var waiting: [UInt8] = []
        var passed = 0
        var fault: (at: Int, fault: WireFault)?
        var isStalled = false
        /// The source has ended, and says so at the other end once all has passed.
        var hasEnded = false
        var isShut = false
        /// What comes is thrown away, the end as well.
        var isDeaf = false
    }

    /// More than any world says: somebody talks without end.
    static let mostBytes = 48 << 20
    private static let most = 64 << 10
    /// So many of a connection's first bytes come in crumbs, where any do.
    private static let crumbled = 4_000

    let name: String
    let door: Int
    /// The controller's end and the router's; -1 when it's closed.
    private(set) var ends: [Int32]
    /// Controller to router, and back.
    private(set) var lanes: [Lane]
    private var isConnecting = true
    private let crumbs: Int
    /// Bytes of the controller's hello, for a ghost.
    private var firstBytes: [UInt8] = []
    private let trace: ShakeTrace
    var wantsGhost = false
    var isOver: Bool { ends[0] < 0 && ends[1] < 0 }
    var hasTooMuch: Bool { lanes.contains { $0.passed > WireLink.mostBytes } }

    init(_ name: String, door: Int, controller: Int32, router: Int32, _ plan: WirePlan, _ trace: ShakeTrace) {
        self.name = name
        self.door = door
        self.trace = trace
        ends = [controller, router]
        crumbs = plan.crumbs
        lanes = plan.faults.map { Lane(fault: $0) }
    }

    /// A connection that the wire makes itself: it says these bytes, and hears without listening.
    init(_ name: String, door: Int, router: Int32, says bytes: [UInt8], _ trace: ShakeTrace) {
        self.name = name
        self.door = door
        self.trace = trace
        ends = [-1, router]
        crumbs = Int.max
        lanes = [Lane(waiting: bytes), Lane(isDeaf: true)]
    }

    /// What an end is to be asked for; 0 for nothing.
    func interest(_ end: Int) -> Int16 {
        guard ends[end] >= 0 else { return 0 }
        if end == 1, isConnecting { return Int16(POLLOUT) }
        var interest: Int16 = 0
        let (from, to) = (lanes[end], lanes[1 - end])
        if !from.hasEnded, from.isDeaf || !from.isStalled && from.waiting.count < WireLink.most { interest |= Int16(POLLIN) }
        if !to.isStalled, !to.isShut, !to.waiting.isEmpty { interest |= Int16(POLLOUT) }
        return interest
    }

    func ready(_ end: Int, _ events: Int16) {
        guard ends[end] >= 0 else { return }
        do throws(WireBroken) {
            if end == 1, isConnecting {
                guard !WireSocket.hasFailed(ends[1]) else { throw WireBroken() }
                isConnecting = false
            }
            if events & ~Int16(POLLOUT) != 0 { try read(end) }
            if !isOver { try move(1 - end) }
            if !isOver { try move(end) }
        } catch {
            broken(end)
        }
    }

    private func read(_ end: Int) throws(WireBroken) {
        guard ends[end] >= 0, !lanes[end].hasEnded else { return }
        guard let bytes = try WireSocket.read(ends[end], WireLink.most) else { return }
        if bytes.isEmpty { lanes[end].hasEnded = true }
        if lanes[end].isDeaf {
            lanes[end].passed += bytes.count
            // Whoever hears nothing also doesn't hear that it's over, except of a connection that has no other end.
            if bytes.isEmpty, ends[1 - end] < 0 { closeAll(resets: false) }
        } else {
            if end == 0, firstBytes.count < 2_000 { firstBytes += bytes }
            lanes[end].waiting += bytes
        }
    }

    /// Passes on what may pass in a direction.
    private func move(_ lane: Int) throws(WireBroken) {
        let target = ends[1 - lane]
        guard target >= 0, !lanes[lane].isStalled, !lanes[lane].isDeaf, !isConnecting else { return }
        if !lanes[lane].waiting.isEmpty {
            if let fault = lanes[lane].fault, fault.at <= lanes[lane].passed {
                lanes[lane].fault = nil
                return happen(fault.fault, lane)
            }
            let allowed = lanes[lane].fault.map { $0.at - lanes[lane].passed } ?? Int.max
            let piece = lanes[lane].passed < WireLink.crumbled ? crumbs : Int.max
            let count = try WireSocket.write(target, lanes[lane].waiting.prefix(min(piece, allowed)))
            lanes[lane].waiting.removeFirst(count)
            lanes[lane].passed += count
        }
        if lanes[lane].hasEnded, lanes[lane].waiting.isEmpty, !lanes[lane].isShut {
            lanes[lane].isShut = true
            shutdown(target, Int32(SHUT_WR))
        }
        if lanes[0].isShut, lanes[1].isShut { closeAll(resets: false) }
    }

    private func happen(_ fault: WireFault, _ lane: Int) {
        trace.note("\(name): \(fault) at byte \(lanes[lane].passed) \(lane == 0 ? "to the router" : "to the controller")")
        switch fault {
        case .cut(.both, let resets): closeAll(resets: resets)
        case .cut(.controller, let resets): close(0, resets: resets)
        case .cut(.router, let resets): close(1, resets: resets)
        case .finish:
            shutdown(ends[1 - lane], Int32(SHUT_WR))
            lanes[lane].isDeaf = true
            lanes[lane].waiting = []
        case .corrupt: lanes[lane].waiting[0] ^= 0x55
        case .stall: lanes[lane].isStalled = true
        case .swallow:
            for lane in 0...1 {
                lanes[lane].isDeaf = true
                lanes[lane].waiting = []
            }
        case .strand:
            let said = lanes[0].waiting
            close(0, resets: true)
            lanes[0] = Lane(waiting: said, passed: lanes[0].passed, isStalled: true, hasEnded: true)
        case .ghost: wantsGhost = true
        }
    }

    /// One end is closed, the other one stays and hears nothing.
    private func close(_ end: Int, resets: Bool) {
        if ends[end] >= 0 { WireSocket.close(ends[end], resets: resets) }
        ends[end] = -1
        for lane in 0...1 {
            lanes[lane].isDeaf = true
            lanes[lane].waiting = []
        }
    }

    private func broken(_ end: Int) {
        // A deaf link's other end isn't told.
        if lanes[end].isDeaf, ends[1 - end] >= 0 { return close(end, resets: false) }
        closeAll(resets: true)
    }

    func closeAll(resets: Bool) {
        for end in 0...1 where ends[end] >= 0 {
            WireSocket.close(ends[end], resets: resets)
            ends[end] = -1
        }
    }

    /// What was held up goes on.
    func release() {
        for lane in 0...1 { lanes[lane].isStalled = false }
        for end in 0...1 where !isOver && !isConnecting {
            do throws(WireBroken) { try move(end) } catch { closeAll(resets: true) }
        }
    }

    /// No more faults; who was left in the dark is told.
    func calm() {
        for lane in 0...1 { lanes[lane].fault = nil }
        if lanes.contains(where: \.isDeaf) { return closeAll(resets: true) }
        release()
    }

    /// The controller's machine is gone: its end at once, and the router's as well, or it stays in the dark.
    func controllerDied(tellsRouter: Bool) {
        if tellsRouter { closeAll(resets: true) } else { close(0, resets: true) }
    }

    /// The controller's hello, as it was said; nil before all of it passed.
    var hello: [UInt8]? {
        var decoder = FrameDecoder()
        do throws(FrameError) {
            var isWhole = false
            let said = firstBytes
            let used = try decoder.decode(said.span.bytes) { _, _ in
                isWhole = true
                return .stop
            }
            return isWhole ? Array(said.prefix(used)) : nil
        } catch {
            return nil
        }
    }
}
