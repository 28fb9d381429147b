import Foundation
import Glibc
import SocketCore
import TestSupport

// MARK: - A controller's process, and its deaths

extension ShakeWorld {
    func playController(_ index: Int) async {
        do {
            try await startAnew(index)
            for step in plan.scripts[index] { try await controllerStep(index, step) }
        } catch {
            trace.fail("controller \(index): \(error)")
        }
        await wire.tell(.openDoor(index))
    }

    private func controllerStep(_ index: Int, _ step: ShakeStep) async throws {
        guard let life = controllers[index] else { return }
        let session = life.session
        switch step {
        case .post(let count): await post(life, count, wantsReceipt: true)
        case .postWithoutReceipt(let count): await post(life, count, wantsReceipt: false)
        case .send(let count):
            let wantsReceipt = random.chance(0.8)
            for _ in 0..<count { beside(life) { await $0.send($1, wantsReceipt: wantsReceipt) } }
        case .cancel: await cancel(life)
        case .resend: if let ticket = await pendingTicket(life) { await session.resend(ticket) }
        case .settle:
            // Or while something else ends it.
            guard random.chance(0.5) else { return beside(life) { _, life in await life.session.settled() } }
            guard !life.isSuspended else { return }
            goOn(life)
            await doing(life.name, "settled()") { await session.settled() }
        case .suspend:
            await doing(life.name, "suspend()") { await session.suspend() }
            life.isSuspended = true
        case .resume:
            trace.note("\(life.name): resume()")
            life.isSuspended = false
            await session.resume()
        case .flicker:
            await doing(life.name, "suspend(), resume() and suspend()") {
                await withTaskGroup { group in
                    for turn in 0..<3 {
                        group.addTask(executorPreference: loop) { if turn == 1 { await session.resume() } else { await session.suspend() } }
                    }
                }
            }
            life.isSuspended = await session.isSuspended
        case .drop:
            trace.note("\(life.name): dropConnection()")
            await session.dropConnection()
        case .rest: rest(life)
        case .goOn: goOn(life)
        case .changeReader: if !plan.isAttended { read(life) }
        case .kill: try await kill(index, life)
        case .twin: try await makeTwin(index, life)
        case .close(let policy, let callers): try await closeAndReturn(index, life, policy, callers)
        case .disk: failDisk(index)
        case .release: await wire.tell(.release)
        case .closeDoor:
            await wire.tell(.closeDoor(index))
            await pause(3)
            await wire.tell(.openDoor(index))
        case .stranger: await wire.tell(.stranger(strangerSays()))
        case .pause(let span): await pause(span)
        case .listenerCloses, .forget: break
        }
    }

    /// Whoever waits for room while its own application rests, or is away, would wait for itself.
    private func post(_ life: ShakeLife, _ count: Int, wantsReceipt: Bool) async {
        let most = count > 100 ? 30 : Int.max
        for _ in 0..<count {
            if life.isSuspended {
                beside(life) { await $0.post($1, wantsReceipt: wantsReceipt, whenFull: .wait, most: most) }
            } else {
                await doing(life.name, "post()") {
                    await post(life, wantsReceipt: wantsReceipt, whenFull: life.rests ? .fail : .wait, most: most)
                }
            }
        }
    }

    private func strangerSays() -> [UInt8] {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: return []
        case 1: return Array("GET / HTTP/1.1\r\n\r\n".utf8)
        case 2: return [0, 0, 0, 0, 0, 1, 0, 0]
        case 3: return [UInt8](repeating: 0xFF, count: 3_000)
        default: return ControllerHello(session: .random(), versions: [9], received: 0, resume: false).framed()
        }
    }

    // MARK: Lives

    private func startAnew(_ index: Int) async throws {
        await start(index, try makeSession(index, plan.journals[index] ? newPath(index) : nil), nil)
    }

    private func newPath(_ index: Int) -> String {
        files += 1
        return home.file("controller-\(index)-\(files).journal")
    }

    private func makeSession(_ index: Int, _ path: String?) throws -> Session {
        let door = Endpoint(.loopback, port: wire.doors[index])
        let configuration = plan.configuration(.controller)
        let tls = company.map { $0.clientConfiguration(identity: $0.operatorIdentity.identity) }
        let looks: Session.Resolver = { [weak self] _ in await self?.look(for: door) }
        let resolver = plan.looks ? looks : nil
        guard let path else { return Session(to: door, configuration, tls: tls, loop: loop, resolver: resolver) }
        paths[index] = path
        let disk = FailingDisk(home.path)
        disks[index] = disk
        let journal = try OutboxJournal.open(path, sync: random.chance(0.5) ? .everyCommit : .never, boot: "boot", disk: disk.disk)
        return try Session(to: door, configuration, tls: tls, journal: journal, loop: loop, resolver: resolver)
    }

    /// Finds it after a while, or not, which means where it was.
    private func look(for door: Endpoint) async -> Endpoint? {
        await pause(Int.random(in: 0...4, using: &random))
        return random.chance(0.7) ? door : nil
    }

    /// A session's life begins; after one that it goes on from, or not.
    private func start(_ index: Int, _ session: Session, _ before: ShakeLife?) async {
        let goesOn = before.map { $0.session.identifier == session.identifier } ?? false
        let chain = goesOn ? before?.chain : nil
        let number = allLives.count
        let life = ShakeLife(number, "controller \(index) (\(number))", .controller, chain ?? ShakeChain(number), session)
        if let before {
            if goesOn { truth.restored(life, from: before, await session.pendingTickets) } else { truth.began(anewAfter: before) }
        }
        life.keepsJournal = plan.journals[index]
        begin(life)
        controllers[index] = life
        trace.note("\(life.name) begins\(goesOn ? ", going on" : "")")
        await session.start()
    }

    private func closeAndReturn(_ index: Int, _ life: ShakeLife, _ policy: ClosePolicy, _ callers: Int) async throws {
        let keeps = policy == .keepForLater && plan.journals[index]
        life.isKept = keeps
        await close(life, policy, callers: callers)
        await over(life)
        guard keeps else { return try await startAnew(index) }
        await start(index, try makeSession(index, paths[index]), life)
    }

    /// All that a session's application still hears.
    private func over(_ life: ShakeLife) async {
        await messagesEnded(life)
        await eventsEnded(life)
    }

    /// The process is killed: its connection is cut, and the next process finds the journal as it lies there at that instant.
    private func kill(_ index: Int, _ life: ShakeLife) async throws {
        if random.chance(0.4) {
            // What its disk doesn't take now must not leave either.
            disks[index]?.fail(.write, ENOSPC, ENOSPC, ENOSPC, ENOSPC, ENOSPC, ENOSPC)
            for _ in 0..<3 { beside(life) { await $0.post($1, wantsReceipt: true, whenFull: .fail) } }
            await pause(2)
        }
        trace.note("\(life.name) is killed")
        await wire.tell(.died(index, tellsRouter: random.chance(0.7)))
        guard let path = paths[index] else { return }
        let image = FileManager.default.contents(atPath: path) ?? Data()
        truth.killed(life)
        life.isClosing = true
        cutNow(life)
        await close(life, .keepForLater, callers: 1)
        await over(life)
        let copy = newPath(index)
        try image.write(to: URL(fileURLWithPath: copy))
        await wire.tell(.openDoor(index))
        await start(index, try makeSession(index, copy), life)
    }

    private func cutNow(_ life: ShakeLife) { life.session.assumeIsolated { $0.dropConnection() } }

    /// Somebody else with the same journal, and so with the session's name: they take the connection from each other for a while.
    private func makeTwin(_ index: Int, _ life: ShakeLife) async throws {
        guard let path = paths[index], let image = FileManager.default.contents(atPath: path) else { return }
        let (disk, present) = (disks[index], paths[index])
        let copy = newPath(index)
        try image.write(to: URL(fileURLWithPath: copy))
        let session = try makeSession(index, copy)
        (disks[index], paths[index]) = (disk, present)
        guard session.identifier == life.session.identifier else { return }
        let number = allLives.count
        life.chain.hasTwin = true
        let twin = ShakeLife(number, "twin of \(life.name) (\(number))", .twin, ShakeChain(number), session)
        begin(twin)
        await session.start()
        await pause(15)
        await close(twin, .keepForLater, callers: 1)
        await eventsEnded(twin)
    }

    private func failDisk(_ index: Int) {
        let code = [ENOSPC, EIO].randomElement(using: &random) ?? EIO
        let call = FailingDisk.Call.allCases.randomElement(using: &random) ?? .write
        trace.note("controller \(index)'s disk: the next \(call) fails with \(code)")
        disks[index]?.fail(call, code)
    }
}
