import Foundation
import Glibc
import SessionSimulation
import SocketCore
import TestSupport
import Testing

/// Journals on a disk that fails: what was reported as accepted is there afterwards, whichever call failed, and however the end came.
@Suite("outbox journals on a failing disk")
struct JournalDiskTests {
    private let directory: TemporaryDirectory
    private let disk: FailingDisk
    private var path: String { directory.file("outbox.journal") }

    init() throws {
        directory = try TemporaryDirectory()
        disk = FailingDisk(directory.path)
    }

    private func open() throws -> OutboxJournal { try OutboxJournal.open(path, sync: .everyCommit, boot: nil, disk: disk.disk) }

    private func begin() -> SessionCore { SessionCore(SessionPair.journalling, session: SessionPair.session, seed: 1, now: .zero) }

    /// The ids that the next process finds.
    private func found() throws -> [UInt32] { try open().contents?.messages.map(\.msgId) ?? [] }

    /// A body so large that a few make a compaction pay.
    private func body(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 20_000) }

    @Test func `after a failed sync nothing is accepted before the whole is on the disk, whatever the next sync says`() throws {
        var core = begin()
        var journal = try open()
        _ = try core.send(body(1), now: .zero)
        try journal.commit(&core)
        _ = try core.send(body(2), now: .zero)
        disk.fail(.sync, EIO)
        #expect(throws: OutboxJournalError.system(call: "fdatasync", path: path, errno: EIO)) { try journal.commit(&core) }
        _ = try core.send(body(3), now: .zero)
        try journal.commit(&core)
        try disk.cutPower()
        _ = consume journal
        #expect(try found() == [1, 2, 3])
    }

    @Test func `a sync that failed for a process that then ended isn't believed by its successor`() throws {
        var core = begin()
        var journal = try open()
        _ = try core.send(body(1), now: .zero)
        try journal.commit(&core)
        _ = try core.send(body(2), now: .zero)
        disk.fail(.sync, EIO)
        #expect(throws: OutboxJournalError.self) { try journal.commit(&core) }
        _ = consume journal
        var next = try open()
        let held = next.contents
        let contents = try #require(held)
        guard var heir = SessionCore(SessionPair.journalling, restoring: contents, seed: 2, now: .zero) else {
            Issue.record("the journal fits")
            return
        }
        let third = try heir.send(body(3), now: .zero)
        try next.commit(&heir)
        try disk.cutPower()
        _ = consume next
        #expect(try found() == [1, 2, third.msgId], "2 wasn't reported, and may be found")
    }

    @Test(arguments: [FailingDisk.Call.openDirectory, .syncDirectory], [false, true])
    func `a directory that can't be synced after a compaction: what is accepted later is in the file of that name`(
        call: FailingDisk.Call, powerIsCut: Bool
    ) throws {
        var core = begin()
        var journal = try open()
        let kept = try core.send(body(1), now: .zero)
        try journal.commit(&core)
        for number in 2...16 {
            let ticket = try core.send(body(number), now: .zero)
            core.cancel(ticket, now: .zero)
        }
        disk.fail(call, EMFILE)
        #expect(throws: OutboxJournalError.self) { try journal.commit(&core) }
        let later = try core.send(body(17), now: .zero)
        try journal.commit(&core)
        if powerIsCut { try disk.cutPower() }
        _ = consume journal
        #expect(try found() == [kept.msgId, later.msgId])
    }

    @Test func `a damaged part is on the disk under its own name before the journal is touched`() throws {
        var core = begin()
        var journal = try open()
        for number in 1...3 {
            _ = try core.send(body(number), now: .zero)
            try journal.commit(&core)
        }
        _ = consume journal
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count - 30_000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        for call in [FailingDisk.Call.write, .sync, .openDirectory, .syncDirectory] {
            disk.fail(call, ENOSPC)
            #expect(throws: OutboxJournalError.self, "\(call)") { _ = try open() }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes, "\(call)")
            #expect(!FileManager.default.fileExists(atPath: path + ".damaged-1"), "\(call)")
        }
        let start = disk.log.count
        let whole = try open()
        #expect(whole.contents?.messages.map(\.msgId) == [1])
        let calls = Array(disk.log[start...])
        let copied = try #require(calls.firstIndex(of: "sync outbox.journal.damaged-1"))
        let named = try #require(calls.firstIndex { $0.hasPrefix("syncDirectory") })
        let touched = try #require(calls.firstIndex { $0 == "rename outbox.journal.new" || $0 == "truncate outbox.journal" })
        #expect(copied < named && named < touched, "\(calls)")
        _ = consume whole
        try disk.cutPower()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")).count > 30_000)
    }

    @Test func `ids that damage has taken out of use stay so, though the process that found it did nothing`() throws {
        var core = begin()
        var journal = try open()
        for number in 1...9 {
            _ = try core.send(body(number), now: .zero)
            try journal.commit(&core)
        }
        _ = consume journal
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let first = try open().contents?.nextId
        #expect(try #require(first) > 9)
        #expect(try open().contents?.nextId == first)
    }

    @Test func `whatever fails and however it ends: what was accepted is found, what was taken back isn't`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("failing disk: seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for run in 0..<12 {
            let directory = try TemporaryDirectory()
            let disk = FailingDisk(directory.path)
            var accepted: Set<UInt32> = []
            var settled: Set<UInt32> = []
            var session = SessionPair.session
            for life in 0..<4 {
                guard
                    var journal = try? OutboxJournal.open(
                        directory.file("outbox.journal"), sync: .everyCommit, boot: nil, disk: disk.disk)
                else {
                    continue
                }
                let contents = journal.contents
                let ids = Set(contents?.messages.map(\.msgId) ?? [])
                #expect(accepted.isSubset(of: ids), "seed \(seed), run \(run), life \(life): lost \(accepted.subtracting(ids))")
                #expect(ids.isDisjoint(with: settled), "seed \(seed), run \(run), life \(life)")
                #expect(journal.remarks.allSatisfy { !$0.contains("damaged") }, "seed \(seed), run \(run), life \(life)")
                if contents == nil { session = SessionIdentifier(high: UInt64(run), low: UInt64(life)) }
                guard
                    var core = contents.map({ SessionCore(SessionPair.journalling, restoring: $0, seed: 2, now: .zero) })
                        ?? SessionCore(SessionPair.journalling, session: session, seed: 2, now: .zero)
                else { throw JournalError.foreign }
                var takenBack: Set<UInt32> = []
                for step in 0..<30 {
                    if let call = FailingDisk.Call.allCases.randomElement(using: &random), Int.random(in: 0..<3, using: &random) == 0 {
                        disk.fail(call, Int.random(in: 0..<2, using: &random) == 0 ? 0 : EIO, EIO)
                    }
                    _ = try core.send(body(step), now: .zero)
                    if let ticket = core.pendingTickets.randomElement(using: &random), Int.random(in: 0..<5, using: &random) > 0 {
                        core.cancel(ticket, now: .zero)
                        takenBack.insert(ticket.msgId)
                        // From now on it may be found or not, until a commit.
                        accepted.remove(ticket.msgId)
                    }
                    guard (try? journal.commit(&core)) != nil else { continue }
                    accepted = Set(core.pendingTickets.map(\.msgId))
                    settled.formUnion(takenBack)
                }
                if Bool.random(using: &random) { try disk.cutPower() }
                _ = consume journal
            }
        }
    }
}
