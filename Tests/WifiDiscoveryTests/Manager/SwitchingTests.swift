import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("Moving between routers", .timeLimit(.minutes(10)))
struct SwitchingTests {
    @Test("back within the resume time: the same session, and its unsettled message is delivered once")
    func back() async throws {
        // Its receipts never arrive: the message is taken, and stays unsettled until the session is resumed.
        let fleet = try await TestFleet(2) { index, options in if index == 0 { options.linkFaults.lostReceipts = 1 } }
        let manager = fleet.manager()
        let first = try await manager.connect()
        let session = await first.session.opening?.session
        let sent = Task { try await first.send(Array("note".utf8)) }
        while !fleet.taken(0).contains("note") { await Task.yield() }
        let second = try await manager.switch(to: "\(fleet.macs[1])")
        #expect(await manager.current === second && second.mac == fleet.macs[1])
        #expect(await first.session.pendingMessages == 1)
        await #expect(throws: CommandError.movedAway) { _ = try await first.get("led") }
        let again = try await manager.switch(to: "\(fleet.macs[0])")
        #expect(again === first)
        #expect(try await sent.value.result == .delivered)
        #expect(await first.session.opening?.session == session && fleet.taken(0).count { $0 == "note" } == 1)
        await manager.close()
        await fleet.stop()
    }

    @Test("by choice, what is unsettled is taken back when its router is left")
    func cancelUnsettled() async throws {
        let fleet = try await TestFleet(2) { index, options in if index == 0 { options.linkFaults.lostReceipts = 1 } }
        let manager = fleet.manager()
        let first = try await manager.connect()
        let sent = Task { try await first.send(Array("note".utf8)) }
        while !fleet.taken(0).contains("note") { await Task.yield() }
        try await manager.switch(to: "\(fleet.macs[1])", unsettled: .cancel)
        // It was written, so it may have arrived.
        #expect(try await sent.value.result == .unknown)
        #expect(await manager.endSession(with: fleet.macs[0]))
        #expect(await !manager.endSession(with: fleet.macs[0]))
        await manager.close()
        await fleet.stop()
    }

    @Test("a switch during a switch: the newest wish counts, one to the same router joins")
    func during() async throws {
        // It takes a connection and never says hello: the switch to it is under way until a later wish comes, however late that is.
        let fleet = try await TestFleet(3) { index, options in options.session.isPlain = index == 1 }
        let manager = fleet.manager {
            $0.switching.connect = .seconds(3_600)
            $0.session.timing.hello = .seconds(3_600)
            $0.session.timing.silence = .seconds(3_600)
        }
        try await manager.connect()
        let (steps, begun) = AsyncStream<Void>.makeStream()
        let slow = Task { try await manager.switch(to: "\(fleet.macs[1])") { if case .open = $0 { begun.yield() } } }
        for await _ in steps { break }
        async let one = manager.switch(to: "\(fleet.macs[2])")
        async let other = manager.switch(to: "\(fleet.macs[2])")
        let (left, right) = try await (one, other)
        #expect(left === right && left.mac == fleet.macs[2])
        let error = await #expect(throws: ManagerError.self) { _ = try await slow.value }
        if case .superseded? = error {} else { Issue.record("\(String(describing: error))") }
        #expect(await manager.current === left)
        #expect(try await left.get("wifi.ssid") == "Home")
        await manager.close()
        await fleet.stop()
    }

    @Test("a switch that fails says at which step, and leaves the old session as it was")
    func failure() async throws {
        let fleet = try await TestFleet(1)
        // It answers probes, and nothing listens where it says.
        let ghost = RouterDescription(mac: fleet.macs[0].advanced(by: 9), name: "Ghost", tcp: 9)
        await fleet.responder.add(ghost, faults: ReplyFaults())
        let manager = fleet.manager()
        let router = try await manager.connect()
        do {
            try await manager.switch(to: "Ghost")
            Issue.record("no error")
        } catch let error as SwitchError {
            #expect(error.step == .connect && error.keepsOld, "\(error)")
        }
        #expect(await manager.current === router)
        #expect(try await router.get("wifi.ssid") == "Home")
        await manager.close()
        await fleet.stop()
    }

    @Test("an automatic fail-over: commands time out, the network is asked, the router that answers is moved to, and told")
    func failover() async throws {
        let fleet = try await TestFleet(2)
        let manager = fleet.manager {
            $0.commands = CommandScheduleTests.short
            $0.failover.policy = .automatic
            $0.failover.timeouts = 2
        }
        let news = manager.status([.failover, .current])
        let router = try await manager.connect()
        await fleet.routers[0].stop()
        for _ in 0..<2 { await #expect(throws: CommandError.timedOut(tries: 3)) { _ = try await router.get("led") } }
        let moved = await news.first { if case .failover(.moved) = $0.value { true } else { false } }
        guard case .failover(.moved(let proposal))? = moved?.value else {
            Issue.record("not moved")
            return
        }
        #expect(proposal.other == fleet.macs[1] && proposal.reason == .silent && proposal.timeouts == 2)
        #expect(await manager.current?.mac == fleet.macs[1])
        await manager.close()
        await fleet.stop()
    }

    @Test("the list of routers says why each is or isn't one to talk to, and lives")
    func list() async throws {
        let fleet = try await TestFleet(3)
        let manager = fleet.manager()
        try await manager.connect()
        try await manager.switch(to: "Room 2")
        var isWhole = false
        for try await list in manager.liveRouters() where list.count == 3 && list.allSatisfy({ $0.grading != nil }) {
            #expect(list.map(\.mac) == [fleet.macs[1], fleet.macs[0], fleet.macs[2]])
            #expect(list.map(\.standing) == [.current, .available, .available] && list.map(\.hasSession) == [false, true, false])
            isWhole = true
            break
        }
        #expect(isWhole)
        await manager.close()
        // One that has only ever watched: a router in its list was heard by the watch, so that its goodbye is heard as well.
        let watcher = fleet.manager()
        var leaver: Task<Void, Never>?
        for try await list in watcher.liveRouters() {
            if leaver == nil, list.count == 3 { leaver = Task { await fleet.routers[2].stop() } }
            if list.contains(where: { $0.mac == fleet.macs[2] && $0.standing == .left }) { break }
        }
        await leaver?.value
        #expect(leaver != nil)
        await watcher.close()
        await fleet.stop()
    }
}
