import FrameCodec
import Glibc
import SessionSimulation
import SocketCore
import Testing

@Suite("outbox journal")
struct OutboxJournalTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Three messages in three commits, the second settled, ids 5 to 7 taken; with the length after each commit.
    private func sample() throws -> (bytes: [UInt8], commits: [Int]) {
        var sample = JournalSample()
        let first = try sample.core.send(bytes("first"), now: .zero)
        sample.commit()
        _ = try sample.core.send(bytes("second"), now: .zero)
        sample.core.cancel(first, now: .zero)
        sample.commit()
        _ = try sample.core.send(bytes("third"), now: .zero)
        sample.commit()
        return (sample.bytes, sample.commits)
    }

    @Test("what was accepted and has no outcome is found, in order, with the next id")
    func reading() throws {
        let file = try sample().bytes
        let contents = try #require(try JournalCore.read(file.span.bytes))
        #expect(contents.messages.map(\.msgId) == [2, 3])
        #expect(contents.messages.map(\.body) == [bytes("second"), bytes("third")])
        #expect(contents.nextId == 4)
        #expect(contents.header.session == SessionPair.session)
        #expect(contents.validByteCount == file.count)
        #expect(contents.remark == nil)
    }

    @Test("a message is a frame as sent: the codec alone reads the journal")
    func frames() throws {
        let file = try sample().bytes
        var decoder = FrameDecoder()
        var found: [Frame] = []
        try decoder.decode(file.span.bytes) { header, body in
            if header.msgId != 0 { found.append(Frame(header, body)) }
            return .more
        }
        try decoder.finish()
        #expect(
            found == [
                Frame(msgId: 1, body: bytes("first")), Frame(msgId: 2, body: bytes("second")), Frame(msgId: 1),
                Frame(msgId: 3, body: bytes("third")),
            ])
    }

    @Test("torn at any byte: all that was committed before it is kept, nothing else")
    func torn() throws {
        let (file, commits) = try sample()
        for length in 0..<file.count {
            let contents = try JournalCore.read(file.span.bytes.extracting(first: length))
            let kept = commits.count { $0 <= length }
            guard kept > 0 else {
                #expect(contents == nil)
                continue
            }
            let expected: [[UInt32]] = [[], [1], [2], [2, 3]]
            #expect(contents?.messages.map(\.msgId) == expected[kept - 1])
            #expect(contents?.validByteCount == commits[kept - 1])
            let rest = length - commits[kept - 1]
            #expect(contents?.remark == (rest == 0 ? nil : .tornTail(offset: commits[kept - 1], bytes: rest)))
        }
    }

    @Test("any damaged byte is noticed, what is before it is kept, and ids behind it aren't used again")
    func damaged() throws {
        let (file, commits) = try sample()
        for offset in commits[0]..<file.count {
            var broken = file
            broken[offset] ^= 0x41
            guard let contents = try JournalCore.read(broken.span.bytes) else {
                Issue.record("the header is whole")
                return
            }
            let kept = commits.count { $0 <= offset }
            #expect(contents.validByteCount <= commits[kept - 1])
            #expect(contents.remark != nil)
            if case .damaged = contents.remark { #expect(contents.nextId > 3 || contents.messages.map(\.msgId) == []) }
        }
    }

    @Test("somebody else's file is recognised", arguments: ["hello", "{\"json\":true}", "PK\u{3}\u{4}zip file with some length", "\u{0}"])
    func foreign(text: String) {
        let file = bytes(text)
        if text == "\u{0}" {
            #expect(throws: Never.self) { try JournalCore.read(file.span.bytes) }
        } else {
            #expect(throws: JournalError.foreign) { try JournalCore.read(file.span.bytes) }
        }
    }

    @Test("on disk: restored with the old ids, compacted, locked, put in order")
    func onDisk() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/outbox.journal"
        var session = SessionCore(SessionPair.journalling, session: SessionPair.session, seed: 1, now: .zero)
        do {
            var journal = try OutboxJournal.open(path)
            _ = try session.send(bytes("kept"), now: .zero)
            try journal.commit(&session)
            #expect(throws: OutboxJournalError.inUse(path: path)) { _ = try OutboxJournal.open(path) }
            for _ in 0..<3_000 {
                let ticket = try session.send([UInt8](repeating: 1, count: 100), now: .zero)
                session.cancel(ticket, now: .zero)
                if ticket.msgId % 100 == 0 { try journal.commit(&session) }
            }
            try journal.commit(&session)
        }
        let size = try directory.size(of: "outbox.journal")
        #expect(size < 300_000, "3,000 messages that are over have been compacted away")
        let (messages, nextId, remarks) = try read(path)
        #expect(messages.map(\.msgId) == [1])
        #expect(messages.map(\.body) == [bytes("kept")])
        #expect(nextId == 3_002)
        #expect(remarks.isEmpty)
    }

    @Test("on disk: foreign and damaged files are set aside with a remark")
    func setAside() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/outbox.journal"
        try directory.write("outbox.journal", bytes("somebody's diary"))
        let foreign = try read(path)
        #expect(foreign.messages.isEmpty)
        #expect(foreign.remarks.count == 1)
        #expect(try directory.read("outbox.journal.foreign-1") == bytes("somebody's diary"))
        var broken = try sample().bytes
        broken[broken.count - 50] ^= 1
        try directory.write("outbox.journal", broken)
        let damaged = try read(path)
        #expect(damaged.messages.map(\.msgId) == [2])
        #expect(damaged.remarks.count == 2)
        #expect(try !directory.read("outbox.journal.damaged-1").isEmpty)
        let clean = try read(path)
        #expect(clean.messages.map(\.msgId) == [2])
        #expect(clean.remarks.isEmpty)
    }

    private func read(_ path: String) throws -> (messages: [JournalContents.Message], nextId: UInt32, remarks: [String]) {
        let journal = try OutboxJournal.open(path)
        return (journal.contents?.messages ?? [], journal.contents?.nextId ?? 1, journal.remarks)
    }
}

/// A directory that goes with the test.
private final class TemporaryDirectory {
    struct Failure: Error { let errno: Int32 }
    let path: String

    init() throws {
        var template = Array("/tmp/journal-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(errno: errno) }
        path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }  // The array isn't empty.
    }

    deinit {
        for suffix in ["", ".lock", ".new", ".foreign-1", ".damaged-1"] { unlink(path + "/outbox.journal" + suffix) }
        rmdir(path)
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        guard let file = fopen(path + "/" + name, "w") else { throw Failure(errno: errno) }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failure(errno: errno) }
    }

    func read(_ name: String) throws -> [UInt8] {
        guard let file = fopen(path + "/" + name, "r") else { throw Failure(errno: errno) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        return bytes
    }

    func size(of name: String) throws -> Int { try read(name).count }
}
