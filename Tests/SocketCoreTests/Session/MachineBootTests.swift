import Foundation
import SessionSimulation
import TestSupport
import Testing

@testable import SocketCore

/// Journals whose disk nobody waits for, and machines that end in the meantime.
@Suite("Journals of an earlier boot")
struct MachineBootTests {
    private static let other = SessionIdentifier(high: 7, low: 7)

    /// What a machine that was cut off has on its disk: a message without outcome, of a session that stood.
    private func remains(_ role: SessionConfiguration.Role = .controller, session: SessionIdentifier = other) -> JournalContents {
        var contents = JournalContents(session: session, role: role, nextId: 8, received: 5)
        contents.header.machineBoot = "one"
        contents.add(msgId: 7, body: text(7))
        return contents
    }

    @Test(.timeLimit(.minutes(10))) func `ids that are used again after a power cut mean nothing to a router that knows them`() async throws
    {
        let home = try TemporaryDirectory()
        let path = home.file("outbox.journal")
        let router = EchoRouter(echoes: false)
        let endpoint = try await router.open()
        let first = try Session(to: endpoint, .hasty(), journal: try OutboxJournal.open(path, sync: .never, boot: "one"))
        await first.start()
        #expect(try await first.send(text(1)).result == .delivered)
        let onDisk = try Data(contentsOf: URL(filePath: path))
        for number in 2...3 { #expect(try await first.send(text(number)).result == .delivered) }
        await first.close(.keepForLater)
        // The machine ends, and of what was written since nothing reached the disk.
        try onDisk.write(to: URL(filePath: path))
        let journal = try OutboxJournal.open(path, sync: .never, boot: "two")
        #expect(journal.remarks.count == 1 && journal.remarks[0].contains("a new session begins"))
        let second = try Session(to: endpoint, .hasty(), journal: journal)
        await second.start()
        let outcome = try await second.send(text(4))
        #expect(outcome.result == .delivered && outcome.ticket.msgId == 2, "the id of a message that the journal has lost")
        #expect(second.identifier != first.identifier)
        var taken: [[UInt8]] = []
        for _ in 1...4 { taken.append(try #require(await router.received.next())) }
        #expect(taken == (1...4).map(text))
        await second.close()
        await router.listener.close()
    }

    @Test(arguments: [SessionConfiguration.MemoryLoss.resend, .reportUnknown])
    func `what has no outcome goes over to the new session, by the rules for lost memory`(policy: SessionConfiguration.MemoryLoss) throws {
        var contents = remains()
        let began = contents.goOn(inBoot: "two", waitsForDisk: false, successor: SessionPair.session)
        #expect(began)
        var configuration = SessionPair.journalling
        configuration.memoryLoss = policy
        guard let core = SessionCore(configuration, restoring: contents, seed: 1, now: .zero) else {
            Issue.record("the journal doesn't fit")
            return
        }
        var pair = SessionPair(controller: core)
        _ = try pair.router.send(text(1), now: .zero)
        pair.controller.start(now: .zero)
        pair.settle()
        #expect(pair.controllerEvents.outcomes.map(\.result) == [policy == .resend ? .delivered : .unknown])
        #expect(pair.routerEvents.bodies == (policy == .resend ? ["message 7"] : []))
        #expect(pair.controllerEvents.bodies == ["message 1"], "its ids begin anew, and so does the memory of them")
    }

    @Test func `a router's session keeps its name, and says that its memory is lost`() throws {
        var contents = remains(.router, session: SessionPair.session)
        let began = contents.goOn(inBoot: "two", waitsForDisk: false, successor: MachineBootTests.other)
        #expect(began)
        #expect(contents.header.session == SessionPair.session)
        var pair = SessionPair()
        pair.controller.start(now: .zero)
        pair.settle()
        pair.cut()
        var theirs = SessionConfiguration(role: .router)
        theirs.identity = SessionPair.identity
        guard let restored = SessionCore(theirs, restoring: contents, seed: 1, now: pair.now) else {
            Issue.record("the journal doesn't fit")
            return
        }
        pair.router = restored
        pair.run(for: .seconds(5))
        let opening = pair.controller.opening
        #expect(opening?.memoryLost == true)
        #expect(pair.controllerEvents.bodies == ["message 7"])
    }

    @Test(
        arguments: [
            ("one", "one", false), ("one", "two", true), ("one", nil, true), (nil, "two", false), (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func `a new session begins when the machine has ended since, and only then`(written: String?, present: String?, anew: Bool) {
        var contents = remains()
        contents.header.machineBoot = written
        let began = contents.goOn(inBoot: present, waitsForDisk: true, successor: SessionPair.session)
        #expect(began == anew)
        #expect((contents.header.session == SessionPair.session) == anew)
        #expect(contents.header.machineBoot == nil && contents.isOutdated == (written != nil))
    }

    @Test func `the header follows the policy: what waits for the disk outlives the machine from the first commit on`() throws {
        let home = try TemporaryDirectory()
        let path = home.file("outbox.journal")
        func run(_ sync: OutboxJournal.SyncPolicy, boot: String, sends: Int) throws -> (
            session: SessionIdentifier, pending: Int, boot: String?
        ) {
            var journal = try OutboxJournal.open(path, sync: sync, boot: boot)
            var configuration = SessionPair.journalling
            configuration.journalBoot = journal.machineBoot
            let restored = journal.contents.flatMap { SessionCore(configuration, restoring: $0, seed: 1, now: .zero) }
            var core = restored ?? SessionCore(configuration, session: .random(), seed: 1, now: .zero)
            for number in 0..<sends { _ = try core.send(text(number), now: .zero) }
            let pending = core.pendingMessages
            try journal.commit(&core)
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
            return (core.session, pending, try JournalCore.read(bytes.span.bytes)?.header.machineBoot)
        }
        let first = try run(.never, boot: "one", sends: 2)
        #expect(first.boot == "one")
        let second = try run(.never, boot: "one", sends: 1)
        #expect(second.session == first.session && second.pending == 3)
        let third = try run(.everyCommit, boot: "one", sends: 0)
        #expect(third.session == first.session && third.pending == 3 && third.boot == nil)
        let fourth = try run(.everyCommit, boot: "two", sends: 0)
        #expect(fourth.session == first.session && fourth.pending == 3)
        let fifth = try run(.never, boot: "two", sends: 0)
        #expect(fifth.session == first.session && fifth.boot == "two")
        let last = try run(.never, boot: "three", sends: 0)
        #expect(last.session != first.session && last.pending == 3 && last.boot == "three")
    }

    #if os(Linux)
        @Test func `this machine names its boot, and the same one each time`() throws {
            let boot = try #require(SystemCalls.bootIdentifier())
            #expect(boot.count == 36 && boot == SystemCalls.bootIdentifier())
        }
    #endif
}
