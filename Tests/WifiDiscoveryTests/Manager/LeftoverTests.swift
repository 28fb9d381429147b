import SocketCore
import Synchronization
import TestSupport
import Testing

@testable import WifiDiscovery

/// What processes that talked to one router at the same time have left in journals of their own.
@Suite("Outboxes that several processes have left", .timeLimit(.minutes(10)))
struct LeftoverTests {
    private static let mac = MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)
    private let home: TemporaryDirectory

    private final class Remarks: Sendable { let all = Mutex<[String]>([]) }

    init() throws { home = try TemporaryDirectory() }

    private var store: OutboxStore { OutboxStore(home: home.path) }

    private func path(_ slot: Int) -> String { home.file("outbox/02005e005301\(slot == 1 ? "" : "-\(slot)").journal") }

    /// A process that accepted these and was killed.
    private func leave(_ texts: [String], inSlot slot: Int) throws {
        try StateFile(directory: home.file("outbox"), name: "any").makeDirectory()
        var configuration = SessionConfiguration(role: .controller)
        configuration.keepsJournal = true
        var core = SessionCore(configuration, session: SessionIdentifier(high: 1, low: UInt64(slot)), seed: 1, now: .zero)
        for text in texts { _ = try core.send(Array(text.utf8), now: .zero) }
        var journal = try OutboxJournal.open(path(slot))
        try journal.commit(&core)
    }

    @Test func `a journal in which something waits is opened before others, and one that is held isn't waited for`() throws {
        try leave([], inSlot: 1)
        try leave(["two"], inSlot: 2)
        try leave(["three"], inSlot: 3)
        let configuration = SessionConfiguration(role: .controller)
        let first = try store.open(Self.mac, for: configuration)
        #expect(first.path == path(2))
        let second = try store.open(Self.mac, for: configuration)
        #expect(second.path == path(3))
        let third = try store.open(Self.mac, for: configuration)
        #expect(third.path == path(1))
        let fourth = try store.open(Self.mac, for: configuration)
        #expect(fourth.path == path(4))
        _ = (first.path, second.path, third.path)
    }

    @Test func `a journal whose messages are too large for this session stays as it is, told, and another is used`() throws {
        try leave([String(repeating: "x", count: 40)], inSlot: 1)
        let remarks = Remarks()
        let store = OutboxStore(home: home.path) { remark in remarks.all.withLock { $0.append(remark) } }
        var configuration = SessionConfiguration(role: .controller)
        configuration.maximumBodyLength = 16
        let journal = try store.open(Self.mac, for: configuration)
        #expect(journal.path == path(2))
        let told = remarks.all.withLock { $0 }
        #expect(
            told.count == 1 && told[0].contains("message 1 of 40 bytes") && told[0].contains("16") && told[0].contains(path(1)), "\(told)")
        let kept = try OutboxJournal.open(path(1))
        #expect(kept.contents?.messages.count == 1)
    }

    @Test func `all of them are gone through once, one session each, but those that are held`() async throws {
        let fleet = try await TestFleet(1)
        let manager = fleet.manager { $0.home = home.path }
        try leave(["one"], inSlot: 1)
        try leave([], inSlot: 2)
        try leave(["three", "three again"], inSlot: 3)
        try leave(["held"], inSlot: 4)
        let held = try OutboxJournal.open(path(4))
        let unfit = try await manager.withLeftovers(of: Self.mac) { session in
            await session.start()
            await session.settled()
            await session.close(.keepForLater)
        }
        #expect(unfit == 0)
        #expect(fleet.taken(0) == ["one", "three", "three again"])
        #expect(fleet.sessions(0).count == 2)
        #expect(held.contents?.messages.count == 1)
        await manager.close()
        await fleet.stop()
    }

    @Test func `a restored router gets all that was left for it`() async throws {
        let fleet = try await TestFleet(1)
        let before = fleet.manager { $0.home = home.path }
        try await before.connect()
        await before.close()
        try leave(["two"], inSlot: 2)
        try leave(["three"], inSlot: 3)
        try leave(["four"], inSlot: 4)
        let (outcomes, outcome) = AsyncStream.makeStream(of: Void.self)
        let manager = RouterManager(fleet.manager { $0.home = home.path }.options) { _, event in
            if case .outcome = event { outcome.yield() }
        }
        let restored = try await manager.restore()
        try #require(restored != nil)
        let left: Set = ["two", "three", "four"]
        // A message was taken before it has its outcome.
        for await _ in outcomes where left.isSubset(of: fleet.taken(0)) { break }
        await manager.close()
        await fleet.stop()
    }
}
