import FrameCodec
import SocketCore

/// A controller and a router joined by a pipe without loss, driven by hand: for tests of one case.
package struct SessionPair: ~Copyable {
    package var controller: SessionCore
    package var router: SessionCore
    package var now = Instant.zero
    /// Sides whose bytes are held up in the pipe.
    package var controllerStalled = false
    package var routerStalled = false
    /// Whether the application takes messages at once.
    package var controllerTakes = true
    package var routerTakes = true
    package var controllerEvents: [SessionEvent] = []
    package var routerEvents: [SessionEvent] = []
    /// Frames that reached each side, in order, hellos left out.
    package var toRouter: [Frame] = []
    package var toController: [Frame] = []
    /// Frames that the pipe swallows.
    package var drops: @Sendable (Frame, _ toRouter: Bool) -> Bool = { _, _ in false }
    /// The most that one write takes, of either side.
    package var largestWrite = Int.max
    package var dials = 0
    package var accepts = true
    private var controllerNumber: ConnectionNumber?
    private var routerNumber: ConnectionNumber?
    private var controllerDecoder = FrameDecoder()
    private var routerDecoder = FrameDecoder()
    private var greeting: Greeting?
    private var toRouterBytes: [UInt8] = []
    private var toControllerBytes: [UInt8] = []

    package static let session = SessionIdentifier(high: 0x0123_4567_89AB_CDEF, low: 0xFEDC_BA98_7654_3210)
    package static let identity = RouterIdentity(boot: "00000000000000b1", mac: "02:00:5e:00:53:01")

    package init(_ adjust: (inout SessionConfiguration) -> Void = { _ in }) {
        var ours = SessionConfiguration(role: .controller)
        adjust(&ours)
        controller = SessionCore(ours, session: SessionPair.session, seed: 1, now: .zero)
        router = SessionPair.freshRouter(boot: "00000000000000b1", now: .zero, adjust)
    }

    /// A controller's configuration that keeps a journal.
    package static var journalling: SessionConfiguration {
        var configuration = SessionConfiguration(role: .controller)
        configuration.keepsJournal = true
        return configuration
    }

    /// A pair with a controller made elsewhere.
    package init(controller: consuming SessionCore) {
        self.controller = controller
        router = SessionPair.freshRouter(boot: "00000000000000b1", now: .zero)
    }

    package static func freshRouter(boot: String, now: Instant, _ adjust: (inout SessionConfiguration) -> Void = { _ in }) -> SessionCore {
        var theirs = SessionConfiguration(role: .router)
        adjust(&theirs)
        theirs.role = .router
        theirs.identity = RouterIdentity(boot: boot, mac: identity.mac)
        return SessionCore(theirs, session: session, seed: 2, now: now)
    }

    /// The router loses its memory.
    package mutating func rebootRouter(boot: String) {
        cut()
        router = SessionPair.freshRouter(boot: boot, now: now)
    }

    /// The connection breaks; what is under way is gone.
    package mutating func cut() {
        toRouterBytes = []
        toControllerBytes = []
        if let number = controllerNumber { controller.disconnected(number, .transport("cut"), now: now) }
        if let number = routerNumber { router.disconnected(number, .transport("cut"), now: now) }
        controllerNumber = nil
        routerNumber = nil
    }

    /// Lets time pass, event by event.
    package mutating func run(for span: Duration) {
        let end = now + span
        settle()
        while true {
            let next = min(controller.deadline.at, router.deadline.at)
            guard next <= end else { break }
            now = max(now, next)
            controller.advance(to: now)
            router.advance(to: now)
            settle()
        }
        now = end
        controller.advance(to: now)
        router.advance(to: now)
        settle()
    }

    /// Lets all happen that can happen now.
    package mutating func settle() {
        var busy = true
        while busy {
            busy = act()
            if writeController() { busy = true }
            if writeRouter() { busy = true }
            if readRouter() { busy = true }
            if readController() { busy = true }
            takeEvents()
        }
    }

    private mutating func act() -> Bool {
        let ours = controller.takeActions()
        for action in ours {
            switch action {
            case .connect(let number): connect(number)
            case .finishWriting: break
            case .close:
                controllerNumber = nil
                loseOther(routerSide: true)
            }
        }
        let theirs = router.takeActions()
        for action in theirs {
            if case .close(let number, _) = action, number == routerNumber {
                routerNumber = nil
                loseOther(routerSide: false)
            }
        }
        return !ours.isEmpty || !theirs.isEmpty
    }

    private mutating func loseOther(routerSide: Bool) {
        toRouterBytes = []
        toControllerBytes = []
        if routerSide, let number = routerNumber {
            router.disconnected(number, .peerClosed, now: now)
            routerNumber = nil
        } else if !routerSide, let number = controllerNumber {
            controller.disconnected(number, .peerClosed, now: now)
            controllerNumber = nil
        }
    }

    private mutating func connect(_ number: ConnectionNumber) {
        dials += 1
        guard accepts else { return controller.connectFailed(number, "refused", now: now) }
        controllerNumber = number
        controllerDecoder = FrameDecoder()
        routerDecoder = FrameDecoder()
        greeting = Greeting(router.configuration, now: now)
        controller.connected(number, now: now)
    }

    private mutating func writeController() -> Bool {
        guard let number = controllerNumber, !controllerStalled, controller.outputByteCount > 0 else { return false }
        let count = min(controller.outputByteCount, largestWrite)
        controller.withOutput { bytes in bytes.extracting(first: count).withUnsafeBytes { toRouterBytes.append(contentsOf: $0) } }
        controller.wrote(count, on: number, now: now)
        return true
    }

    private mutating func writeRouter() -> Bool {
        guard let number = routerNumber, !routerStalled, router.outputByteCount > 0 else { return false }
        let count = min(router.outputByteCount, largestWrite)
        router.withOutput { bytes in bytes.extracting(first: count).withUnsafeBytes { toControllerBytes.append(contentsOf: $0) } }
        router.wrote(count, on: number, now: now)
        return true
    }

    private mutating func readRouter() -> Bool {
        guard !toRouterBytes.isEmpty else { return false }
        if let number = routerNumber { router.receivedBytes(toRouterBytes.count, on: number, now: now) }
        var frames: [Frame] = []
        for frame in SessionPair.frames(&toRouterBytes, &routerDecoder) where !drops(frame, true) { frames.append(frame) }
        for frame in frames {
            if let step = greeting?.receive(frame.header, body: frame.body.span.bytes) {
                greeting = nil
                guard case .welcome(let hello, let version) = step else { continue }
                routerNumber = router.accept(hello, version: version, now: now)
                continue
            }
            guard let number = routerNumber else { continue }
            toRouter.append(frame)
            _ = router.receive(frame.header, body: frame.body.span.bytes, on: number, now: now)
        }
        return true
    }

    private mutating func readController() -> Bool {
        guard !toControllerBytes.isEmpty else { return false }
        if let number = controllerNumber { controller.receivedBytes(toControllerBytes.count, on: number, now: now) }
        for frame in SessionPair.frames(&toControllerBytes, &controllerDecoder) where !drops(frame, false) {
            guard let number = controllerNumber else { continue }
            if frame.msgId != 0 || frame.body.isEmpty { toController.append(frame) }
            _ = controller.receive(frame.header, body: frame.body.span.bytes, on: number, now: now)
        }
        return true
    }

    private static func frames(_ bytes: inout [UInt8], _ decoder: inout FrameDecoder) -> [Frame] {
        var frames: [Frame] = []
        do {
            try decoder.decode(bytes.span.bytes) { header, body in
                frames.append(Frame(header, body))
                return .more
            }
        } catch {
            preconditionFailure("a core wrote what is no frame: \(error)")
        }
        bytes = []
        return frames
    }

    private mutating func takeEvents() {
        let ours = controller.takeEvents()
        controllerEvents += ours
        if controllerTakes, let last = SessionPair.lastSequence(ours) { controller.handedOver(through: last, now: now) }
        let theirs = router.takeEvents()
        routerEvents += theirs
        if routerTakes, let last = SessionPair.lastSequence(theirs) { router.handedOver(through: last, now: now) }
    }

    private static func lastSequence(_ events: [SessionEvent]) -> UInt64? {
        var last: UInt64?
        for case .message(let message) in events { last = message.sequence }
        return last
    }
}

extension Array where Element == SessionEvent {
    /// Bodies delivered, as text.
    package var bodies: [String] {
        compactMap { if case .message(let message) = $0 { String(decoding: message.body, as: UTF8.self) } else { nil } }
    }
    /// Outcomes.
    package var outcomes: [MessageOutcome] {
        compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
    }
    /// States.
    package var states: [SessionState] {
        compactMap { if case .state(let state) = $0 { state } else { nil } }
    }
}
