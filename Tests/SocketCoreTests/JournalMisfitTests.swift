import Foundation
import FrameCodec
import SessionSimulation
import SocketCore
import TestSupport
import Testing

/// A journal whose session can't be gone on with stays as it is: its ids are the router's memory of it.
@Suite("journals that don't fit")
struct JournalMisfitTests {
    /// A journal in which two messages wait, of 100 and 9,999 + 1 bytes.
    private func write(_ path: String) throws {
        var core = SessionCore(SessionPair.journalling, session: SessionPair.session, seed: 1, now: .zero)
        var journal = try OutboxJournal.open(path)
        _ = try core.send([UInt8](repeating: 1, count: 100), now: .zero)
        _ = try core.send([UInt8](repeating: 2, count: 10_000), now: .zero)
        try journal.commit(&core)
    }

    @Test(arguments: [(50, FrameLayout.standard, UInt32(1), 100, 50), (1 << 20, .asciiLength, 2, 10_000, 9_999)])
    func `a smaller limit or layout: the session is refused with the message's size, and nothing is lost`(
        limit: Int, layout: FrameLayout, msgId: UInt32, bytes: Int, shown: Int
    ) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("outbox.journal")
        try write(path)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        var configuration = SessionConfiguration(role: .controller)
        configuration.maximumBodyLength = limit
        configuration.layout = layout
        let misfit = JournalMisfit.messageTooLarge(msgId: msgId, bytes: bytes, limit: shown)
        #expect(throws: OutboxJournalError.unfit(path: path, misfit)) {
            _ = try Session(to: Endpoint(.loopback, port: 1), configuration, journal: try OutboxJournal.open(path))
        }
        let text = "\(OutboxJournalError.unfit(path: path, misfit))"
        for part in [path, "message \(msgId)", "\(bytes) bytes", "\(shown)"] { #expect(text.contains(part), "\(text)") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let session = try Session(to: Endpoint(.loopback, port: 1), journal: try OutboxJournal.open(path))
        #expect(session.identifier == SessionPair.session)
    }

    @Test func `another session's records never go into a file that holds one`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("outbox.journal")
        try write(path)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        var other = SessionCore(SessionPair.journalling, session: SessionIdentifier(high: 7, low: 7), seed: 1, now: .zero)
        _ = try other.send([1], now: .zero)
        var journal = try OutboxJournal.open(path)
        #expect(throws: OutboxJournalError.unfit(path: path, .otherSession(SessionPair.session))) { try journal.commit(&other) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `the other side's journal is told apart`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("outbox.journal")
        var configuration = SessionConfiguration(role: .router)
        configuration.keepsJournal = true
        var core = SessionCore(configuration, session: SessionPair.session, seed: 1, now: .zero)
        do {
            var journal = try OutboxJournal.open(path)
            try journal.commit(&core)
        }
        #expect(throws: OutboxJournalError.unfit(path: path, .otherRole(.router))) {
            _ = try Session(to: Endpoint(.loopback, port: 1), journal: try OutboxJournal.open(path))
        }
    }
}
