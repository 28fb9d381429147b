import FrameCodec
import Glibc
import TestSupport
import Testing

@testable import SocketCore

/// Connections that end as they shouldn't, or don't end, over real sockets: what was accepted arrives all the same, and once.
@Suite("Sessions on broken connections", .timeLimit(.minutes(10)))
struct BrokenConnectionTests {
    @Test func `a reset in the middle costs one copy of what was unsettled and nothing else`() async throws {
        let peer = try RawPeer()
        let session = Session(to: peer.endpoint, .hasty())
        let log = SessionLog(session)
        async let script = peer.run { peer in
            let first = try peer.accept()
            try first.greet()
            var seen: [[UInt32]] = [[], []]
            for _ in 0..<5 { seen[0].append(try first.message()?.msgId ?? 0) }
            for id: UInt32 in 1...2 { try first.receipt(id) }
            // Heard before the reset, which would throw it away.
            while let next = try first.message() {
                seen[0].append(next.msgId)
                if next.msgId == 12 { break }
            }
            first.reset()
            let second = try peer.accept()
            let hello = try second.greet(received: 4)
            while let next = try second.message() {
                seen[1].append(next.msgId)
                try second.receipt(next.msgId)
                if next.msgId == 20 { break }
            }
            return (seen, hello, second)
        }
        await session.start()
        for number in 1...12 { _ = try await session.post(text(number)) }
        #expect(await log.outcomes(2).map(\.ticket.msgId) == [1, 2])
        await log.state { if case .lost = $0 { true } else { false } }
        for number in 13...20 { _ = try await session.post(text(number)) }
        let outcomes = await log.outcomes(18)
        #expect(outcomes.map(\.ticket.msgId) == (3...20).map { $0 } && outcomes.allSatisfy { $0.result == .delivered })
        let (seen, hello, last) = try await script
        // On a busy machine a receipt may take longer than its sender waits: later copies don't count.
        let firsts = seen.map { $0.reduce(into: [UInt32]()) { if !$0.contains($1) { $0.append($1) } } }
        #expect(firsts[0] == (1...12).map { $0 })
        #expect(firsts[1] == (5...20).map { $0 }, "what the peer's hello covered doesn't go again")
        #expect(hello.resume && hello.session == session.identifier)
        await session.close(.keepForLater)
        _ = last
    }

    @Test func `a peer that is half open is given up, and the next connection settles everything`() async throws {
        let peer = try RawPeer()
        let session = Session(
            to: peer.endpoint,
            .hasty {
                $0.timing.heartbeat = .milliseconds(50)
                $0.timing.silence = .milliseconds(400)
            })
        let log = SessionLog(session)
        async let script = peer.run { peer in
            // Says hello and then nothing more, as a router without power whose connection nobody ended.
            var kept = [try peer.accept()]
            try kept[0].greet()
            var seen: [UInt32] = []
            // On a busy machine a sound connection may be silent for as long, too: then the next one goes on.
            while seen.count < 3 {
                let alive = try peer.accept()
                kept.append(alive)
                try alive.greet()
                while seen.count < 3, let next = try alive.message() {
                    if !seen.contains(next.msgId) { seen.append(next.msgId) }
                    try alive.receipt(next.msgId)
                }
            }
            return (seen, kept)
        }
        await session.start()
        for number in 1...3 { _ = try await session.post(text(number)) }
        await log.state { $0 == .lost(.silent(for: .milliseconds(400))) }
        #expect(await log.outcomes(3).map(\.result) == [.delivered, .delivered, .delivered])
        #expect(try await script.0 == [1, 2, 3])
        await session.close(.keepForLater)
    }

    @Test func `a second connection replaces the first, whose late bytes change nothing`() async throws {
        let router = EchoRouter(echoes: false)
        let endpoint = try await router.open()
        let session = SessionIdentifier.random()
        let (ends, answers) = try await RawPeer().run { _ in
            let old = try RawConnection(to: endpoint)
            let first = try old.hello(session)
            try old.write(Frame(msgId: 1, body: text(1)))
            guard try old.frame() == Frame(msgId: 1) else { throw RawPeer.Failure(text: "no receipt") }
            let new = try RawConnection(to: endpoint)
            let second = try new.hello(session, resume: true)
            // Late: a message, and a receipt for what was never sent.
            _ = old.writeSome(try FrameEncoder().encode(Frame(msgId: 2, body: text(99))))
            _ = old.writeSome(try FrameEncoder().encode(Frame(msgId: 1)))
            let end = old.drain()
            try new.write(Frame(msgId: 2, body: text(2)))
            let receipt = try new.frame()
            return ([end == .silent, receipt != Frame(msgId: 2)], [first.resumed, second.resumed])
        }
        #expect(ends == [false, false], "the old connection is closed, the new one goes on")
        #expect(answers == [false, true])
        #expect(await router.received.next() == text(1))
        #expect(await router.received.next() == text(2))
        await router.listener.close()
    }

    @Test func `a connection that is replaced hears nothing of what is meant for its successor`() async throws {
        let router = EchoRouter(echoes: false)
        let endpoint = try await router.open()
        let session = SessionIdentifier.random()
        let heard = try await RawPeer().run { _ in
            var current = try RawConnection(to: endpoint)
            try current.hello(session)
            var heard: [Int] = []
            for _ in 1...3 {
                let next = try RawConnection(to: endpoint)
                try next.sayHello(session, resume: true)
                heard.append(try current.rest(limit: 1 << 20))
                try next.hearHello()
                current = next
            }
            return heard
        }
        #expect(heard == [0, 0, 0])
        await router.listener.close()
    }

    @Test func `messages of both sides survive connection after connection, each once and in order`() async throws {
        var faults = LinkFaults.Options()
        faults.lostReceipts = 0.3
        faults.seed = 11
        var theirs = SessionConfiguration(role: .router)
        theirs.timing.resend.base = .milliseconds(40)
        let (began, told) = (Happenings<Session>(), Happenings<MessageOutcome>())
        let listener = SessionListener(theirs, faults: faults) { if case .began(let session, _, _) = $0 { began.add(session) } }
        let session = Session(to: try await listener.open(Endpoint(.loopback, port: 0)), .hasty { $0.timing.resend = theirs.timing.resend })
        let log = SessionLog(session)
        // Receipts of both sides are lost, and so go the messages of both sides again.
        await session.setFaults(faults)
        await session.start()
        let router = try #require(await began.next())
        let theirLog = SessionLog(router)
        let count = 300
        async let ours: Void = {
            for number in 1...count { _ = try await session.post(text(number)) }
        }()
        async let others: Void = {
            for number in 1...count {
                told.add(try await router.send(text(10_000 + number)))
                if number % 50 == 0 { await session.dropConnection() }
                if number % 70 == 0 { await router.dropConnection() }
            }
        }()
        #expect(await theirLog.bodies(count) == (1...count).map(text))
        #expect(await log.bodies(count) == (1...count).map { text(10_000 + $0) })
        #expect(await log.outcomes(count).allSatisfy { $0.result == .delivered })
        _ = try await (ours, others)
        var left = count
        let outcomes = await told.until { _ in
            left -= 1
            return left == 0
        }
        #expect(outcomes.allSatisfy { $0.result == .delivered })
        #expect(outcomes.contains { $0.sends > 1 }, "some of the router's messages had to go again")
        #expect(await session.counters.duplicates > 0, "and some came twice and were told apart")
        await session.close()
        await listener.close()
    }

    @Test func `what a router said last before it closes arrives, as does what a controller said`() async throws {
        let ends = try await BothEnds()
        let (session, router, log, theirLog) = (ends.session, ends.router, ends.log, ends.theirLog)
        for number in 1...100 { _ = try await router.post(text(number)) }
        await ends.listener.close()
        #expect(await log.bodies(100) == (1...100).map(text))
        #expect(await theirLog.outcomes(100).allSatisfy { $0.result == .delivered })
        await session.close()
    }

    @Test func `what wasn't taken when a session is closed for later comes to the next run, and only to that`() async throws {
        let home = try TemporaryDirectory()
        let peer = try RawPeer()
        async let script = peer.run { peer in
            for _ in 1...2 {
                let connection = try peer.accept()
                try connection.greet()
                try connection.write(Frame(msgId: 1, body: text(1)), Frame(msgId: 2, body: text(2)))
                _ = connection.drain()
            }
        }
        let path = home.file("outbox.journal")
        let first = try Session(to: peer.endpoint, .hasty(), journal: try OutboxJournal.open(path))
        await first.start()
        while await first.keptMessages < 2 { await Task.yield() }
        await first.close(.keepForLater)
        while let batch = await first.nextEvents() {
            #expect(!batch.contains { if case .message = $0 { true } else { false } })
        }
        let second = try Session(to: peer.endpoint, .hasty(), journal: try OutboxJournal.open(path))
        let log = SessionLog(second)
        await second.start()
        #expect(await log.bodies(2) == [text(1), text(2)])
        await second.close(.keepForLater)
        try await script
    }
}
