import SocketCore

/// ``FailoverCore`` on its loop, with the network to ask and the switch to make given by the manager.
actor FailoverWatch: LoopTimerOwner {
    /// What is the manager's to do.
    struct Hooks: Sendable {
        /// Asks the network.
        var measure: @Sendable () async throws -> [LinkMeasurement]
        /// Makes the switch.
        var move: @Sendable (MACAddress) async throws -> Void
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var core: FailoverCore
    private let hub: StatusHub
    private let hooks: Hooks
    private var current: MACAddress?
    private var timer: LoopTimer?

    init(_ settings: FailoverCore.Settings, hub: StatusHub, hooks: Hooks) {
        core = FailoverCore(settings)
        self.hub = hub
        self.hooks = hooks
        loop = hub.loop
    }

    func use(_ router: MACAddress) {
        current = router
        core.use(router, now: loop.currentInstant)
        settle()
    }

    /// A command of that router ended.
    func commandEnded(_ router: MACAddress, isAnswered: Bool) {
        guard router == current else { return }
        if isAnswered { core.succeeded() } else { core.timedOut(now: loop.currentInstant) }
        settle()
    }

    func end() {
        timer?.cancel()
        timer = nil
        current = nil
        core.use(nil, now: loop.currentInstant)
    }

    nonisolated func timerFired(at now: Instant) {
        assumeIsolated { watch in
            watch.core.advance(to: now)
            watch.settle()
        }
    }

    private func settle() {
        for action in core.takeActions() {
            switch action {
            case .scan: Task(executorPreference: loop) { await self.scan() }
            case .move(let proposal): Task(executorPreference: loop) { await self.move(proposal) }
            case .tell(let notice): tell(notice)
            }
        }
        // Only while something is due: a timer keeps its owner.
        guard core.deadline != .distantFuture else {
            timer?.cancel()
            timer = nil
            return
        }
        let timer = timer ?? LoopTimer(on: loop, owner: self)
        self.timer = timer
        timer.set(to: core.deadline)
    }

    private func tell(_ notice: FailoverNotice) {
        let about: MACAddress?
        switch notice {
        case .proposed(let proposal), .moved(let proposal), .moveFailed(let proposal, _): about = proposal.current
        case .looking, .stays, .scanFailed: about = current
        }
        guard let about else { return }
        hub.assumeIsolated { $0.report(StatusKey(about, .failover), .failover(notice)) }
    }

    private func scan() async {
        do {
            let all = try await hooks.measure()
            core.measured(all, now: loop.currentInstant)
        } catch {
            core.scanFailed("\(error)", now: loop.currentInstant)
        }
        settle()
    }

    private func move(_ proposal: FailoverProposal) async {
        do {
            try await hooks.move(proposal.other)
            core.moveEnded(nil, now: loop.currentInstant)
        } catch {
            core.moveEnded("\(error)", now: loop.currentInstant)
        }
        settle()
    }
}
