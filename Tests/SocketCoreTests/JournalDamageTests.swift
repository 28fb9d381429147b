import Foundation
import SessionSimulation
import SocketCore
import TestSupport
import Testing

/// Journals as a crash, a full disk or a stranger leaves them: on the disk, opened, and written on.
@Suite("outbox journals, damaged on disk")
struct JournalDamageTests {
    /// Four accepted messages in four commits, the second taken back with the third's; and the file's length after each commit.
    private func sample() throws -> (bytes: [UInt8], commits: [Int]) {
        var sample = JournalSample()
        var second: SessionTicket?
        for number in 1...4 {
            let ticket = try sample.core.send(text(number), now: .zero)
            if number == 2 { second = ticket }
            if number == 3, let second { sample.core.cancel(second, now: .zero) }
            sample.commit()
        }
        return (sample.bytes, sample.commits)
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }

    /// Opens the journal, and accepts one more message into it as a session does.
    private func goOn(_ path: String) throws -> (found: [UInt32], added: UInt32, remarks: [String]) {
        var journal = try OutboxJournal.open(path)
        var core = SessionCore(SessionPair.journalling, session: SessionPair.session, seed: 2, now: .zero)
        if let contents = journal.contents {
            guard let restored = SessionCore(SessionPair.journalling, restoring: contents, seed: 2, now: .zero) else {
                throw JournalError.foreign
            }
            core = restored
        }
        let found = core.pendingTickets.map(\.msgId)
        let added = try core.send(text(99), now: .zero).msgId
        try journal.commit(&core)
        return (found, added, journal.remarks)
    }

    @Test func `torn at every byte: what is whole is kept, the tear is told, and the file is written on`() throws {
        let (file, commits) = try sample()
        let directory = try TemporaryDirectory()
        let expected: [[UInt32]] = [[], [1], [1, 2], [1, 3], [1, 3, 4]]
        for length in 0...file.count {
            let path = directory.file("\(length).journal")
            try write(file.prefix(length), to: path)
            let kept = commits.count { $0 <= length }
            let whole = kept == 0 ? [] : expected[kept - 1]
            let (found, added, remarks) = try goOn(path)
            #expect(found == whole, "\(length) bytes")
            #expect(!whole.contains(added))
            let rest = kept == 0 ? 0 : length - commits[kept - 1]
            #expect(remarks.count == (rest > 0 ? 1 : 0), "\(length) bytes: \(remarks)")
            if rest > 0 { #expect(remarks[0].contains("\(rest) unfinished bytes at \(commits[kept - 1]) cut off")) }
            let again = try OutboxJournal.open(path)
            #expect(again.contents?.messages.map(\.msgId) == whole + [added] && again.remarks.isEmpty)
        }
    }

    @Test func `a page that was never written, zeroed: told as damage, set aside, and its ids aren't used again`() throws {
        let (file, commits) = try sample()
        let directory = try TemporaryDirectory()
        let path = directory.file("outbox.journal")
        try write(file[..<commits[2]] + [UInt8](repeating: 0, count: 4_096), to: path)
        let (found, added, remarks) = try goOn(path)
        #expect(found == [1, 2])
        #expect(added > 4, "the lost part may have held messages 3 and 4, which the router may know")
        #expect(remarks.count == 2 && remarks[0].contains("damaged bytes at \(commits[2]) set aside"), "\(remarks)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1")).count == 4_096)
    }

    @Test func `somebody else's file, an empty one, and one of a later format are each told apart`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("outbox.journal")
        for (number, stranger) in ["somebody's diary", "{\"json\":true}", String(repeating: "\u{0}", count: 64)].enumerated() {
            try write(Array(stranger.utf8), to: path)
            let (found, added, remarks) = try goOn(path)
            #expect(found.isEmpty && added == 1)
            #expect(remarks.count == 1 && remarks[0].contains("moved to \(path).foreign-\(number + 1)"), "\(remarks)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".foreign-\(number + 1)")) == Data(stranger.utf8))
        }
        try write([UInt8](), to: path)
        #expect(try goOn(path).remarks.isEmpty)
    }
}
