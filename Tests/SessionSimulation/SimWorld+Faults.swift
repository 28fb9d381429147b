import SocketCore

// MARK: - What goes wrong

extension SimWorld {
    func fault() {
        let controller = controllers[draw(0...controllers.count - 1)]
        let end = random.chance(0.5) ? controller : controller.host.sessions[controller.core.session] ?? controller
        let second: Int64 = 1_000_000_000
        if plan.floods, random.chance(0.3) { return flood(controller) }
        switch draw(0...14) {
        case 0, 1: if let link = controller.link { cut(link) }
        case 2: stall(controller, draw(1...40) * second)
        case 3: halfOpen(controller)
        case 4: door(controller.host, [.refuses, .swallows, .slams][draw(0...2)], for: draw(1...90) * second)
        case 5, 6: doom(controller)
        case 7: doomRouter(controller.host)
        case 8: suspend(controller, draw(1...400) * second)
        case 9:
            note("\(end.name)'s application stops taking")
            end.stopsTakingUntil = now + draw(1...60) * second
        case 10:
            note("\(end.name) is stopped")
            end.frozenUntil = now + draw(1...100) * second
            schedule(.timer(end), at: end.frozenUntil)
        case 11: jump(end, draw(1...60) * (random.chance(0.3) ? 720 * second : second))
        case 12: controller.link?.cutAfter = (controller.link?.arrived ?? 0) + draw(0...200)
        case 13: replace(controller)
        default: close(controller)
        }
    }

    private func stall(_ controller: SimEndpoint, _ span: Int64) {
        guard let link = controller.link else { return }
        note("link of \(controller.name) stalls for \(span / 1_000_000) ms")
        for side in 0...1 where random.chance(0.7) { link.pipes[side].stalledUntil = now + span }
    }

    private func halfOpen(_ controller: SimEndpoint) {
        guard let link = controller.link else { return }
        // Nothing but the kernel notices a plain device's silence, and that after a quarter of an hour: no story for this world.
        guard !link.isPlain else { return cut(link) }
        note("link of \(controller.name) is half open")
        for side in 0...1 where random.chance(0.7) {
            link.pipes[side].isBlackHole = true
            link.pipes[side].bytes = []
        }
    }

    private func door(_ host: SimRouter, _ door: SimRouter.Door, for span: Int64) {
        note("router\(host.index) \(door)")
        host.door = door
        schedule(.openDoor(host), at: now + span)
    }

    private func doom(_ endpoint: SimEndpoint) {
        guard endpoint.isAlive, endpoint.dieAt == nil else { return }
        endpoint.dieAt = drawDeath()
        endpoint.isPowerCut = random.chance(0.4)
        note("\(endpoint.name) will die \(endpoint.dieAt.map { "\($0)" } ?? "")\(endpoint.isPowerCut ? " by power cut" : "")")
        // Often in the middle of doing something.
        if random.chance(0.7) { send(endpoint, 1, itself: true) } else { tick(endpoint) }
    }

    private func drawDeath() -> SimEndpoint.DeathStage {
        let stages = SimEndpoint.DeathStage.allCases
        return stages[draw(0...stages.count - 1)]
    }

    /// More than an application is given at once, at an application that doesn't take.
    private func flood(_ controller: SimEndpoint) {
        guard let end = controller.host.sessions[controller.core.session] else { return }
        note("\(controller.name) floods \(end.name)")
        end.stopsTakingUntil = now + draw(1...20) * 1_000_000_000
        send(controller, 700, itself: true, tracked: false)
    }

    private func doomRouter(_ host: SimRouter) {
        guard host.isUp else { return }
        let power = random.chance(0.5)
        note("router\(host.index) goes down\(power ? " by power cut" : "")")
        host.isUp = false
        // Plain sessions whose controller has begun another one still live.
        for end in endpoints where end.side == .router && end.host === host && host.sessions[end.core.session] !== end { die(end) }
        for (session, end) in host.sessions.sorted(by: { $0.value.name < $1.value.name }) {
            end.isPowerCut = power
            end.dieAt = drawDeath()
            if random.chance(0.5) { tick(end) }
            if end.isAlive { die(end) }
            host.disks[session] = end.disk
        }
        for link in links where link.host === host {
            link.greeting = nil
            if power { cut(link) } else { closeEnd(link, .router, abort: true) }
        }
        schedule(.restartRouter(host), after: 100_000_000...20_000_000_000)
    }

    /// The application closes in the middle of things, and later runs again: in a new session, or in the one that it kept.
    private func close(_ controller: SimEndpoint) {
        guard controller.isAlive, !controller.isClosing else { return }
        let policy = controller.disk != nil && random.chance(0.5) ? ClosePolicy.keepForLater : .endSession
        note("\(controller.name) closes, \(policy)")
        controller.isClosing = true
        input(controller) { $0.core.close(policy, now: $1) }
        schedule(.reopen(controller, policy), at: now + 5_100_000_000)
    }

    func reopen(_ endpoint: SimEndpoint, _ policy: ClosePolicy) {
        guard endpoint.isAlive else { return }
        guard endpoint.frozenUntil < now else { return schedule(.reopen(endpoint, policy), at: endpoint.frozenUntil + 10_000_000) }
        guard endpoint.core.isClosed else { return fail("\(endpoint.name) didn't close within its time") }
        if policy == .endSession {
            for number in endpoint.byTicket.values where truths[number].outcome == nil && !truths[number].isOrphan {
                fail("message \(number) has no outcome though its session is closed")
            }
            endpoint.disk = nil
        }
        endpoint.isAlive = false
        died(endpoint)
        restart(endpoint)
    }

    private func suspend(_ controller: SimEndpoint, _ span: Int64) {
        guard controller.isAlive else { return }
        note("\(controller.name) is suspended")
        input(controller) { $0.core.suspend(now: $1) }
        schedule(.resume(controller), at: min(now + span, plan.faultTime.inNanoseconds))
    }

    private func jump(_ endpoint: SimEndpoint, _ span: Int64) {
        note("\(endpoint.name)'s clock jumps \(span / 1_000_000_000) s ahead")
        endpoint.clockOffset += span
        endpoint.dials = []
        endpoint.timerAt = .max
        if random.chance(0.5) { schedule(.timer(endpoint), at: now) } else { tick(endpoint) }
    }

    /// Another connection for the session while the router still has the old one: the controller alone sees its link break.
    private func replace(_ controller: SimEndpoint) {
        guard let link = controller.link else { return }
        guard !link.isPlain else { return cut(link) }
        note("\(controller.name) alone loses its link")
        tellGone(link, .controller, reset: true)
    }

    // MARK: - Death and return

    func die(_ endpoint: SimEndpoint) {
        guard endpoint.isAlive else { return }
        endpoint.isAlive = false
        endpoint.dieAt = nil
        note("\(endpoint.name) dies")
        died(endpoint)
        if let link = endpoint.link, endpoint.side == .controller {
            if endpoint.isPowerCut, !link.isPlain {
                for side in 0...1 {
                    link.pipes[side].isBlackHole = true
                    link.pipes[side].bytes = []
                }
                link.holds[0] = false
            } else {
                closeEnd(link, .controller, abort: random.chance(0.3))
            }
        }
        endpoint.link = nil
        if endpoint.isPowerCut, let disk = endpoint.disk, disk.bytes.count > disk.synced {
            let kept = draw(disk.synced...disk.bytes.count)
            note("\(endpoint.name)'s journal is torn at \(kept) of \(disk.bytes.count), synced \(disk.synced)")
            endpoint.disk?.bytes.removeLast(disk.bytes.count - kept)
        }
        if endpoint.side == .controller { schedule(.restartController(endpoint), after: 10_000_000...30_000_000_000) }
    }

    func restart(_ dead: SimEndpoint) {
        guard !dead.isAlive, let index = controllers.firstIndex(where: { $0 === dead }) else { return }
        endpoints.removeAll { $0 === dead }
        let heir = restored(dead, disk: dead.disk)
        if heir == nil { abandoned(dead) }
        let next = heir ?? makeController(dead.name, dead.host)
        note("\(next.name) starts again, \(next.core.pendingMessages) messages under way")
        controllers[index] = next
        endpoints.append(next)
        input(next) { $0.core.start(now: $1) }
    }

    func restart(_ host: SimRouter) {
        guard !host.isUp else { return }
        host.isUp = true
        host.door = .open
        host.boot += 1
        if plan.manyVersions, !isCalm { host.versions = drawVersions() }
        let dead = host.sessions
        host.sessions = [:]
        note("router\(host.index) is up again, boot \(host.boot)")
        for (session, end) in dead.sorted(by: { $0.value.name < $1.value.name }) {
            endpoints.removeAll { $0 === end }
            if let fresh = restored(end, disk: host.disks[session]) {
                host.sessions[session] = fresh
                endpoints.append(fresh)
                tick(fresh)
            } else {
                forgotten(end)
            }
        }
        host.disks = [:]
    }

    /// A process that finds its predecessor's journal.
    private func restored(_ dead: SimEndpoint, disk: SimDisk?) -> SimEndpoint? {
        guard let disk else { return nil }
        do throws(JournalError) {
            guard var contents = try JournalCore.read(disk.bytes.span.bytes) else { return nil }
            if shellFaults.contains(.restartsIds) { contents.nextId = 1 }
            if shellFaults.contains(.restoresTwice) {
                for message in contents.messages { contents.add(msgId: message.msgId, body: message.body) }
            }
            let isAnew = goOn(&contents, after: dead)
            if case .damaged = contents.remark { fail("\(dead.name)'s journal is damaged: \(contents)") }
            let core = SessionCore(
                configuration(dead.side, dead.host), restoring: contents, seed: random.next(), now: Instant(nanoseconds: now))
            guard let core else {
                fail("\(dead.name)'s journal doesn't fit")
                return nil
            }
            let fresh = adopt(
                SimEndpoint(name: dead.name, side: dead.side, host: dead.host, core: core, memory: isAnew ? newMemory() : dead.memory))
            fresh.machineBoot = machineBoot(after: dead)
            let kept = shellFaults.contains(.keepsTornTail) ? disk.bytes.count : contents.validByteCount
            fresh.disk = SimDisk(bytes: Array(disk.bytes[0..<kept]), synced: kept)
            // Shells ask the core whether they must wait for the disk.
            if !fresh.core.configuration.keepsJournal { fail("\(dead.name)'s heir thinks that it keeps no journal") }
            if isAnew { inheritAnew(fresh, from: dead) } else { inherit(fresh, from: dead) }
            return fresh
        } catch {
            fail("\(dead.name)'s journal isn't recognised: \(error)")
            return nil
        }
    }
}
