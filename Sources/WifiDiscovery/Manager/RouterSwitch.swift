import SocketCore

/// Why a switch came to nothing: at which step, and what became of the old session.
public struct SwitchError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The router that was to become the current one, and where it was asked.
    public var target: SwitchCore.Target
    /// Where it failed.
    public var step: SwitchCore.Step
    /// Why.
    public var failure: SwitchCore.Failure
    /// Whether the old session is as it was.
    public var keepsOld: Bool
    /// How the new connection ended, where there was one that did.
    public var loss: LossReason?

    init(target: SwitchCore.Target, step: SwitchCore.Step, failure: SwitchCore.Failure, keepsOld: Bool, loss: LossReason? = nil) {
        self.target = target
        self.step = step
        self.failure = failure
        self.keepsOld = keepsOld
        self.loss = loss
    }

    /// A sentence for people, with what to try.
    public var description: String {
        let what: String
        switch failure {
        case .timeout(let after): what = "nothing came within \(after)"
        case .reason(let text): what = text
        case .wrongRouter(let expected, let found): what = "\(found) answers where \(expected) was expected"
        }
        let old = keepsOld ? "; the old session is kept" : ""
        switch step {
        case .probe:
            return "\(target.mac) doesn't answer a probe at \(target.probe): \(what) (is it on, and on this network?)\(old)"
        case .connect: return "\(target.mac) answers probes but takes no connection at \(target.session): \(what)\(old)"
        case .prove: return "\(target.mac) at \(target.session) doesn't prove to be one to talk to: \(what)\(old)"
        case .hello: return "no session with \(target.mac) at \(target.session): \(what)\(old)"
        }
    }
}

/// One make-before-break switch on its loop: the work around ``SwitchCore``.
///
/// The connections come from and go to whoever switches, who decides about journals, trust and events: see ``Hooks``.
actor RouterSwitch: LoopTimerOwner {
    /// What is the manager's to do.
    struct Hooks: Sendable {
        /// Gives the connection to the new router, not open yet.
        var make: @Sendable (SwitchCore.Target) async throws -> RouterConnection
        /// The new one is the one in use from now on.
        var adopt: @Sendable (RouterConnection) async -> Void
        /// The old one, drained, isn't used any more.
        var leave: @Sendable (RouterConnection) async -> Void
        /// The new one came to nothing.
        var abandon: @Sendable (RouterConnection) async -> Void
    }

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let discovery: RouterDiscovery.Options
    private let old: RouterConnection?
    private let hooks: Hooks
    private let onStep: @Sendable (SwitchCore.Action) -> Void
    private var core: SwitchCore
    private var timer: LoopTimer?
    private var new: RouterConnection?
    private var loss: LossReason?
    private var work: Task<Void, Never>?
    private var waiter: CheckedContinuation<SwitchCore.Outcome, Never>?

    init(
        _ discovery: RouterDiscovery.Options, from old: RouterConnection?, loop: EventLoop, timing: SwitchCore.Timing,
        onStep: @escaping @Sendable (SwitchCore.Action) -> Void, hooks: Hooks
    ) {
        self.discovery = discovery
        self.old = old
        core = SwitchCore(timing)
        self.loop = loop
        self.onStep = onStep
        self.hooks = hooks
    }

    /// Makes the switch.
    ///
    /// - Returns: the new connection, open, and whether the old session had settled everything when it was closed.
    /// - Throws: ``SwitchError``; the old session is as it was then.
    func run(_ target: SwitchCore.Target) async throws -> (RouterConnection, oldSettled: Bool) {
        timer = LoopTimer(on: loop, owner: self)
        defer { timer?.cancel() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiter = continuation
                core.begin(target, from: old?.mac, now: loop.currentInstant)
                settle()
            }
        } onCancel: {
            Task(executorPreference: loop) { await self.cancel() }
        }
        await work?.value
        switch outcome {
        case .switched(_, let oldSettled):
            // The core says "switched" only after an open, so there's a connection.
            guard let new else { throw CancellationError() }
            return (new, oldSettled)
        case .failed(let step, let failure, let keepsOld):
            throw SwitchError(target: target, step: step, failure: failure, keepsOld: keepsOld, loss: loss)
        case .cancelled: throw CancellationError()
        }
    }

    private func later(_ step: @escaping @Sendable () async -> Void) {
        work = Task(executorPreference: loop) { [work] in
            await work?.value
            await step()
        }
    }

    private func cancel() {
        core.cancel(now: loop.currentInstant)
        settle()
    }

    nonisolated func timerFired(at now: Instant) {
        assumeIsolated { one in
            one.core.advance(now: now)
            one.settle()
        }
    }

    private func settle() {
        for action in core.takeActions() { perform(action) }
        timer?.set(to: core.deadline ?? .distantFuture)
        guard let outcome = core.outcome, let waiting = waiter else { return }
        waiter = nil
        waiting.resume(returning: outcome)
    }

    private func perform(_ action: SwitchCore.Action) {
        onStep(action)
        switch action {
        case .probe(let target): Task(executorPreference: loop) { await self.probe(target) }
        case .open(let target): Task(executorPreference: loop) { await self.open(target) }
        // Adopted and left in that order, and before the switch is told to be over: see run.
        case .adopt: if let new { later { [hooks] in await hooks.adopt(new) } }
        case .abandon: if let new { later { [hooks] in await hooks.abandon(new) } }
        case .drainOld: Task(executorPreference: loop) { await self.drainOld() }
        case .closeOld: if let old { later { [hooks] in await hooks.leave(old) } }
        }
    }

    /// One unicast probe that names the target: the core decides how often.
    private func probe(_ target: SwitchCore.Target) async {
        var options = discovery
        options.link = .addresses([])
        options.mac = target.mac
        options.targets = [target.probe]
        async let neighbour: Void = probeGroup(target, options)
        do { try await probe(options) } catch {
            core.failed("\(error)", now: loop.currentInstant)
            settle()
        }
        await neighbour
    }

    /// Several processes may be routers on this machine: a datagram to one address reaches one of them, the group all.
    private func probeGroup(_ target: SwitchCore.Target, _ unicast: RouterDiscovery.Options) async {
        let address = target.probe.address.unscoped
        // Without the list the unicast probe is all there is, as for a router elsewhere.
        let interfaces = (try? NetworkInterfaces.current()) ?? []
        guard let own = interfaces.first(where: { $0.addresses.contains { $0.address.unscoped == address } }) else { return }
        var options = unicast
        options.targets = []
        options.interfaces = [own.name]
        // What fails here may succeed by unicast, which tells its failures.
        try? await probe(options)
    }

    private func probe(_ options: RouterDiscovery.Options) async throws {
        let result = try await RouterDiscovery(options, loop: loop).scan(for: .seconds(1))
        guard let found = result.routers.first(where: { $0.discovered.isConfirmed }) else { return }
        core.probeAnswered(found.mac, now: loop.currentInstant)
        settle()
    }

    private func open(_ target: SwitchCore.Target) async {
        do {
            let connection = try await hooks.make(target)
            // It was called off meanwhile, when there was nothing to abandon yet.
            guard core.outcome == nil else { return later { [hooks] in await hooks.abandon(connection) } }
            new = connection
            let opening = try await connection.open()
            core.opened(opening.router.flatMap { MACAddress($0.identity.mac) } ?? target.mac, now: loop.currentInstant)
        } catch let error as LossReason {
            let insecure = await new?.session.tlsFailure
            loss = error
            core.failed("\(error)", at: RouterSwitch.step(of: error, insecure), now: loop.currentInstant)
        } catch let error as ManagerError {
            core.failed("\(error)", at: .prove, now: loop.currentInstant)
        } catch {
            core.failed("\(error)", now: loop.currentInstant)
        }
        settle()
    }

    /// How far a connection came that failed for this reason. A peer that refuses us has proven nothing less than it had to.
    private static func step(of reason: LossReason, _ insecure: TLSError?) -> SwitchCore.Step {
        if let insecure {
            if case .alert(let alert) = insecure, alert.concernsOurCertificate { return .hello }
            return .prove
        }
        return switch reason {
        case .connectFailed, .connectTimedOut, .transport, .suspended, .closed: .connect
        default: .hello
        }
    }

    private func drainOld() async {
        guard let old else { return }
        await old.drained()
        core.oldDrained(now: loop.currentInstant)
        settle()
    }
}
