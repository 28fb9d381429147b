import SocketCore
import Synchronization
import Testing

@testable import WifiDiscovery

@Suite("A manager and its router: commands, capabilities, news", .timeLimit(.minutes(10)))
struct ConnectionTests {
    @Test("what can't be done is refused before anything is sent, and capabilities are asked for once a boot")
    func capabilities() async throws {
        let fleet = try await TestFleet(1)
        let manager = fleet.manager()
        let router = try await manager.connect()
        for _ in 0..<3 { try await router.set([.init("wifi.ssid", "Attic")]) }
        #expect(fleet.count("capabilities", 0) == 1 && fleet.count("set", 0) == 3)
        await #expect(throws: CommandError.notPossible("clients", .notWritable)) { try await router.set([.init("clients", 9)]) }
        await #expect(throws: CommandError.notPossible("lamp", .noProperty)) { _ = try await router.get("lamp") }
        await #expect(throws: CommandError.notPossible("x", .noStream)) { try await router.read("x") { _ in } }
        await #expect(throws: CommandError.notPossible("lamp", .noProperty)) { _ = try await router.subscribe(to: ["lamp"]) }
        #expect(fleet.count("set", 0) == 3 && fleet.count("get", 0) == 0 && fleet.count("read", 0) == 0)
        try await fleet.routers[0].reboot()
        _ = try await router.get("wifi.ssid")
        try await router.set([.init("wifi.ssid", "Attic")])
        #expect(fleet.count("capabilities", 0) == 2)
        await manager.close()
        await fleet.stop()
    }

    @Test("when a manager is closed, all that its sessions had to tell has been told", .timeLimit(.minutes(5)))
    func lastWords() async throws {
        let fleet = try await TestFleet(1)
        for _ in 0..<3 {
            let told = Mutex<[SessionState]>([])
            let manager = RouterManager(fleet.manager().options) { _, event in
                if case .state(let state) = event { told.withLock { $0.append(state) } }
            }
            try await manager.connect()
            await manager.close()
            #expect(told.withLock { $0.last } == .closed(.closed))
        }
        await fleet.stop()
    }

    @Test("changes: the present value first, then what changes, until the session ends; after a reboot the router is asked again")
    func changes() async throws {
        let fleet = try await TestFleet(1)
        let manager = fleet.manager()
        let router = try await manager.connect()
        var changes = router.changes(of: "clients").makeAsyncIterator()
        #expect(await changes.next() == PropertyChange(mac: fleet.macs[0], values: [.init("clients", 0)]))
        await fleet.routers[0].change("clients", to: 4)
        #expect(await changes.next()?.values == [.init("clients", 4)])
        // The rebooted router has forgotten the count, and who wants to hear of it.
        try await fleet.routers[0].reboot()
        #expect(await changes.next()?.values == [.init("clients", 0)])
        await fleet.routers[0].change("clients", to: 7)
        #expect(await changes.next()?.values == [.init("clients", 7)])
        await manager.close()
        #expect(await changes.next() == nil)
        // Of a session that is over nothing more is told than how it stood.
        for await change in router.changes(of: "clients") { #expect(change.values == [.init("clients", 7)]) }
        await fleet.stop()
    }

    @Test("the manager's status follows whichever router is current; nobody hears of what wasn't asked for")
    func status() async throws {
        let fleet = try await TestFleet(2)
        let manager = fleet.manager()
        let news = manager.status([.properties, .current], names: ["clients"])
        try await manager.connect()
        let first = await news.first { $0.key == StatusKey(fleet.macs[0], .property("clients")) }
        #expect(first?.value == .property(0))
        await fleet.routers[0].change("led", to: false)
        try await manager.switch(to: "\(fleet.macs[1])")
        await fleet.routers[1].change("clients", to: 5)
        let second = await news.first { item in
            #expect(item.key.subject != .property("led") && item.key.subject != .session)
            return item.key.router == fleet.macs[1] && item.value == .property(5)
        }
        #expect(second != nil)
        #expect(await manager.current?.droppedMessages.opaque == 0)
        await manager.close()
        await fleet.stop()
    }

    @Test("one command reaches devices of different firmware, each in its own encoding")
    func encodings() async throws {
        // The older device's bodies begin with a byte of their own.
        let tag: UInt8 = 0x02
        let fleet = try await TestFleet(2) { index, options in
            guard index == 1 else { return }
            options.description.versions = [2]
            options.translation = ({ $0.first == tag ? Array($0.dropFirst()) : [] }, { [tag] + $0 })
        }
        let tagged = CommandEncoding(
            encode: { [tag] + $0.encoded() }, decode: { $0.first == tag ? DeviceReply(Array($0.dropFirst())) : nil })
        let manager = fleet.manager {
            $0.session.versions = [1, 2]
            $0.encodings = CommandEncodings([.init(versions: 2...2, tagged), .init(versions: 1...1, .sample)])
        }
        let outcome = try await manager.command(.get(names: ["wifi.ssid"]), to: .routers(fleet.macs))
        #expect(outcome.isWhole, "\(outcome)")
        for result in outcome.results { #expect(try result.result.get()["wifi.ssid"] == "Home") }
        #expect(fleet.taken(1).allSatisfy { $0.utf8.first == tag } && fleet.taken(0).allSatisfy { $0.utf8.first != tag })
        let ignorant = fleet.manager {
            $0.session.versions = [1, 2]
            $0.encodings = CommandEncodings([.init(versions: 1...1, .sample)])
        }
        let partial = try await ignorant.command(.get(names: ["wifi.ssid"]), to: .routers(fleet.macs))
        #expect(partial.succeeded == [fleet.macs[0]])
        #expect(partial.failed.first?.error as? WifiDiscovery.CommandError == .noEncoding(version: 2, firmware: "1.4.2"))
        await manager.close()
        await ignorant.close()
        await fleet.stop()
    }

    @Test("a group's failures are its members' own: a router that isn't there, and one that refuses")
    func group() async throws {
        let fleet = try await TestFleet(3)
        let manager = fleet.manager()
        try await manager.connect()
        let absent = fleet.macs[2].advanced(by: 9)
        let outcome = try await manager.command(.reboot, to: .routers([absent, fleet.macs[0], fleet.macs[2]]), parallel: 2)
        #expect(outcome.succeeded == [fleet.macs[0], fleet.macs[2]] && outcome.failed.map(\.mac) == [absent])
        guard case .unknownRouter? = outcome.failed.first?.error as? ManagerError else {
            Issue.record("\(outcome)")
            return
        }
        await #expect(throws: ManagerError.self) { _ = try await manager.command(.reboot, to: .company) }
        let refused = try await manager.command(.get(names: ["lamp"]), to: .routers([fleet.macs[1]]))
        guard case .refused(let fault)? = refused.failed.first?.error as? WifiDiscovery.CommandError else {
            Issue.record("\(refused)")
            return
        }
        #expect(fault.code == "unknownProperty")
        await manager.close()
        await fleet.stop()
    }

    @Test("a command that was given up is not done later")
    func givenUp() async throws {
        let fleet = try await TestFleet(1)
        let manager = fleet.manager { $0.commands = CommandScheduleTests.short }
        let router = try await manager.connect()
        await fleet.routers[0].stop()
        await #expect(throws: CommandError.timedOut(tries: 3)) { _ = try await router.get("wifi.ssid") }
        let task = Task { try await router.get("led") }
        task.cancel()
        await #expect(throws: (any Error).self) { _ = try await task.value }
        await router.session.settled()
        #expect(await router.session.pendingMessages == 0)
        await manager.close()
        await fleet.stop()
    }
}

enum CommandScheduleTests {
    /// Three tries in half a second: for tests in which nobody answers.
    static let short: CommandSchedule = {
        var schedule = CommandSchedule()
        schedule.wait = .milliseconds(100)
        schedule.pauses = [.milliseconds(50), .milliseconds(50)]
        return schedule
    }()
}
