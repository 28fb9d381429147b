import FrameCodec
import SocketCore

// MARK: - The router's process

extension ShakeWorld {
    func openListener() async throws {
        let listener = SessionListener(
            plan.configuration(.router), faults: plan.linkFaults, tls: company?.serverConfiguration(),
            largestSessionCount: plan.largestSessionCount, loop: loop
        ) { [weak self] event in
            self?.assumeIsolated { $0.atTheDoor(event) }
        }
        self.listener = listener
        _ = try await listener.open(endpoint)
    }

    private func atTheDoor(_ event: SessionListener.Event) {
        switch event {
        case .began(let session, _, _):
            let mayBeForgotten = plan.forgetsSoon || plan.largestSessionCount < 100
            if let before = routers[session.identifier], !before.isClosing, !mayBeForgotten {
                trace.fail("\(before.name) lives, and another session has its name")
            }
            let number = allLives.count
            let life = ShakeLife(number, "router session (\(number))", .router, ShakeChain(number), session)
            routers[session.identifier] = life
            trace.note("\(life.name) begins")
            begin(life)
        case .returned(let session, _, _): trace.note("\(routers[session.identifier]?.name ?? "somebody") has another connection")
        case .plain: trace.fail("a plain controller came in")
        case .refused(_, let reason): trace.note("refused at the door: \(reason)")
        case .failed(let error): trace.note("the door: \(error)")
        }
    }

    func playRouter() async {
        for step in plan.routerScript {
            do { try await routerStep(step) } catch { trace.fail("the router: \(error)") }
        }
        for life in allLives where life.side == .router { goOn(life) }
    }

    private func routerStep(_ step: ShakeStep) async throws {
        switch step {
        case .pause(let span): return await pause(span)
        case .listenerCloses(let atOnce): return try await reopen(atOnce)
        case .forget:
            trace.note("router: forgetSessions()")
            for life in routers.values { life.isClosing = true }
            await doing("router", "forgetSessions()") { await listener?.forgetSessions() }
            return
        case .release: return await wire.tell(.release)
        default: break
        }
        guard let life = routers.values.sorted(by: { $0.number < $1.number }).randomElement(using: &random) else { return }
        switch step {
        case .post(let count): for _ in 0..<count { beside(life) { await $0.post($1, wantsReceipt: true, whenFull: .wait) } }
        case .postWithoutReceipt(let count):
            for _ in 0..<count { beside(life) { await $0.post($1, wantsReceipt: false, whenFull: .wait) } }
        case .send(let count): for _ in 0..<count { beside(life) { await $0.send($1, wantsReceipt: true) } }
        case .drop:
            trace.note("\(life.name): dropConnection()")
            await life.session.dropConnection()
        case .rest: rest(life)
        case .goOn: goOn(life)
        case .changeReader: if !plan.isAttended { read(life) }
        case .cancel: await cancel(life)
        case .settle: beside(life) { _, life in await life.session.settled() }
        case .close(let policy, let callers): await close(life, policy, callers: callers)
        default: break
        }
    }

    /// The listener goes, and comes back on the same port.
    private func reopen(_ atOnce: Bool) async throws {
        if atOnce {
            async let closed: Void = closeListener("router")
            // Its close has begun once the port is free, and goes on while the door is open again.
            while !(await isOpenAgain()) { await pause(1) }
            await closed
        } else {
            await closeListener("router")
            await pause(3)
            _ = try await listener?.open(endpoint)
        }
    }

    private func isOpenAgain() async -> Bool {
        do { return try await listener?.open(endpoint) != nil } catch { return false }
    }

    func closeListener(_ who: String) async {
        for life in routers.values { life.isClosing = true }
        await doing(who, "SessionListener.close()") { await listener?.close() }
        for life in allLives where life.side == .router && life.isClosing { goOn(life) }
    }
}

extension ControllerHello {
    /// As a frame.
    func framed() -> [UInt8] {
        do { return try FrameEncoder().encode(Frame(msgId: 0, body: encoded())) } catch { return [] }
    }
}
