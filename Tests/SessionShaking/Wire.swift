import Foundation
import Glibc
import SocketCore
import Synchronization

/// What stands between controllers and their router: a relay on a thread of its own, which cuts, stalls and tricks by its plan, at byte
/// positions. It also watches the clock for the world, whose loop may hang.
final class Wire: Sendable {
    enum Command: Sendable {
        /// What is held up goes on.
        case release
        /// From now on nothing goes wrong any more.
        case calm
        case closeDoor(Int)
        case openDoor(Int)
        /// The controller behind a door is gone.
        case died(Int, tellsRouter: Bool)
        /// Somebody who says the wrong thing first.
        case stranger([UInt8])
        case stop
    }

    private struct Order {
        let command: Command
        let done: CheckedContinuation<Void, Never>
    }

    private let orders = Mutex<[Order]>([])
    private let bell: [Int32]
    fileprivate let plan: ShakePlan
    fileprivate let trace: ShakeTrace
    let doors: [UInt16]
    fileprivate let router: UInt16

    /// - Parameters:
    ///   - doors: the ports that controllers dial.
    ///   - router: the port that the router listens on.
    ///   - onTime: called a few times a second, on the wire's thread.
    init(_ plan: ShakePlan, doors: [UInt16], router: UInt16, _ trace: ShakeTrace, onTime: @escaping @Sendable () -> Void) {
        self.plan = plan
        self.doors = doors
        self.router = router
        self.trace = trace
        var pair: [Int32] = [-1, -1]
        let isMade = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | WireSocket.flags, 0, &pair) == 0
        precondition(isMade, "the test has descriptors left")
        bell = pair
        Thread.detachNewThread { WireThread(self, onTime).run() }
    }

    deinit { for descriptor in bell { close(descriptor) } }

    /// Returns when it's done.
    func tell(_ command: Command) async {
        await withCheckedContinuation { done in
            orders.withLock { $0.append(Order(command: command, done: done)) }
            var byte: UInt8 = 1
            _ = write(bell[1], &byte, 1)
        }
    }

    fileprivate var waiting: Int32 { bell[0] }

    fileprivate func takeOrders() -> [(command: Command, done: () -> Void)] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(bell[0], &bytes, bytes.count) > 0 {}
        let taken = orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
        return taken.map { order in (order.command, { order.done.resume() }) }
    }
}

/// The wire's thread, and all that it alone touches.
private final class WireThread {
    private let wire: Wire
    private let onTime: () -> Void
    private var listening: [Int32]
    private var connections: [Int]
    private var isCalm = false
    private var links: [WireLink] = []

    init(_ wire: Wire, _ onTime: @escaping () -> Void) {
        self.wire = wire
        self.onTime = onTime
        listening = wire.doors.map { WireSocket.listen($0) ?? -1 }
        connections = wire.doors.map { _ in 0 }
    }

    func run() {
        while true {
            var asked: [pollfd] = [pollfd(fd: wire.waiting, events: Int16(POLLIN), revents: 0)]
            asked += listening.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            for link in links {
                for end in 0...1 {
                    let interest = link.interest(end)
                    asked.append(pollfd(fd: interest == 0 ? -1 : link.ends[end], events: interest, revents: 0))
                }
            }
            poll(&asked, nfds_t(asked.count), 250)
            onTime()
            let before = links
            for (index, link) in before.enumerated() {
                for end in 0...1 {
                    let events = asked[1 + listening.count + 2 * index + end].revents
                    if events != 0 { link.ready(end, events) }
                }
                look(link)
            }
            for door in listening.indices where asked[1 + door].revents != 0 { accept(door) }
            links.removeAll(where: \.isOver)
            if asked[0].revents != 0, obeyed() { return }
        }
    }

    private func look(_ link: WireLink) {
        if link.wantsGhost {
            link.wantsGhost = false
            if let hello = link.hello { join(WireLink("a ghost of \(link.name)", door: -1, router: dial(), says: hello, wire.trace)) }
        }
        if link.hasTooMuch {
            wire.trace.fail("\(link.name): somebody talks without end")
            link.closeAll(resets: true)
        }
    }

    private func dial() -> Int32 { WireSocket.connect(wire.router) }

    private func join(_ link: WireLink) {
        links.append(link)
        wire.trace.note("\(link.name) begins")
    }

    private func accept(_ door: Int) {
        while listening[door] >= 0, let controller = WireSocket.accept(listening[door]) {
            let plan = isCalm ? WirePlan() : wire.plan.wire(door: door, connection: connections[door])
            let name = "link \(door).\(connections[door])"
            connections[door] += 1
            if let resets = plan.slam {
                wire.trace.note("\(name) is slammed")
                WireSocket.close(controller, resets: resets)
            } else {
                join(WireLink(name, door: door, controller: controller, router: dial(), plan, wire.trace))
            }
        }
    }

    /// Does what was asked for.
    ///
    /// - Returns: whether that is all.
    private func obeyed() -> Bool {
        var isOver = false
        for (command, done) in wire.takeOrders() {
            switch command {
            case .release: for link in links { link.release() }
            case .calm:
                isCalm = true
                for link in links { link.calm() }
                for door in listening.indices { open(door) }
            case .closeDoor(let door): shut(door)
            case .openDoor(let door): open(door)
            case .died(let door, let tellsRouter):
                shut(door)
                for link in links where link.door == door { link.controllerDied(tellsRouter: tellsRouter) }
            case .stranger(let bytes): join(WireLink("a stranger", door: -1, router: dial(), says: bytes, wire.trace))
            case .stop:
                isOver = true
                for link in links { link.closeAll(resets: true) }
                for door in listening.indices { shut(door) }
            }
            done()
        }
        return isOver
    }

    private func shut(_ door: Int) {
        if listening[door] >= 0 { WireSocket.close(listening[door], resets: false) }
        listening[door] = -1
    }

    private func open(_ door: Int) {
        guard listening[door] < 0 else { return }
        listening[door] = WireSocket.listen(wire.doors[door]) ?? -1
        if listening[door] < 0 { wire.trace.fail("the test's own port \(wire.doors[door]) is taken") }
    }
}
