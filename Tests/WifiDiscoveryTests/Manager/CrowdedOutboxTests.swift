import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// More sessions with one router, of as many processes, than it has journals.
@Suite("Outboxes that others hold", .timeLimit(.minutes(10)))
struct CrowdedOutboxTests {
    /// Somebody who holds a journal; it's free once this is gone.
    private final class Holder {
        let journal: OutboxJournal
        init(_ store: OutboxStore, _ mac: MACAddress) throws {
            journal = try store.open(mac, for: SessionConfiguration(role: .controller))
        }
    }

    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func holders(_ fleet: TestFleet) throws -> [Holder] {
        try (0..<OutboxStore.slots).map { _ in try Holder(OutboxStore(home: home.path), fleet.macs[0]) }
    }

    private func options(_ fleet: TestFleet, _ policy: OutboxStore.WhenAllHeld) -> RouterManager.Options {
        let manager = fleet.manager {
            $0.home = home.path
            $0.whenOutboxHeld = policy
        }
        return manager.options
    }

    @Test func `who needs no journal goes without where all are held, and takes one where one is free`() async throws {
        let fleet = try await TestFleet(1)
        var others = try holders(fleet)
        for isKept in [false, true] {
            let manager = RouterManager(options(fleet, .goWithout))
            let router = try await manager.connect()
            #expect(router.session.keepsJournal == isKept)
            #expect(try await router.get("wifi.ssid") == "Home")
            await manager.close()
            others.removeLast()
        }
        await fleet.stop()
    }

    @Test func `who needs one waits for it, says so once, and all who ask in one process get one session`() async throws {
        let fleet = try await TestFleet(1)
        var others = try holders(fleet)
        let (remarks, remark) = AsyncStream.makeStream(of: String.self)
        let manager = RouterManager(options(fleet, .wait(atMost: .seconds(600))), onRemark: { remark.yield($0) })
        async let first = manager.connect(to: "\(fleet.macs[0])")
        async let second = manager.connect(to: "\(fleet.macs[0])")
        var told: [String] = []
        for await text in remarks {
            told.append(text)
            break
        }
        others.remove(at: 3)
        let (one, other) = try await (first, second)
        #expect(one === other && one.session.keepsJournal)
        #expect(fleet.sessions(0).count == 1)
        await manager.close()
        remark.finish()
        for await text in remarks { told.append(text) }
        #expect(told == ["others hold all 8 journals of \(fleet.macs[0]): waiting for one"])
        #expect(others.count == OutboxStore.slots - 1)
        await fleet.stop()
    }

    @Test func `when none becomes free in time, that is the error`() async throws {
        let fleet = try await TestFleet(1)
        let others = try holders(fleet)
        let manager = RouterManager(options(fleet, .wait(atMost: .zero)))
        let error = await #expect(throws: ManagerError.self) { try await manager.connect() }
        #expect("\(error!)".contains("others hold all 8 journals of \(fleet.macs[0])"), "\(error!)")
        #expect(others.count == OutboxStore.slots && fleet.sessions(0).isEmpty)
        await manager.close()
        await fleet.stop()
    }

    @Test func `twelve at once with a message each: all are delivered, none twice`() async throws {
        let fleet = try await TestFleet(1)
        let place = try await fleet.manager().locate("\(fleet.macs[0])")
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<12 {
                let manager = RouterManager(options(fleet, .wait(atMost: .seconds(600))))
                group.addTask {
                    let session = try await manager.makeSession(place)
                    await session.start()
                    #expect(session.keepsJournal)
                    #expect(try await session.send(Array("note \(number)".utf8)).result == .delivered)
                    await session.close(.keepForLater)
                }
            }
        }
        #expect(fleet.taken(0).sorted() == (0..<12).map { "note \($0)" }.sorted())
        await fleet.stop()
    }
}
