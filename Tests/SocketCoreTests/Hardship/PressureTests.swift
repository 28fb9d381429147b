import Foundation
import FrameCodec
import Synchronization
import Testing

@testable import SocketCore

/// Peers that don't read and applications that don't take: memory stays within bounds, and nothing is lost.
@Suite("Sessions under pressure", .timeLimit(.minutes(10)))
struct PressureTests {
    /// Without receipts, a peer that doesn't read still lets the kernels' buffers fill: 16 MiB at most, with room to spare.
    private static let kernelBuffers = 16 << 20

    @Test(arguments: [true, false])
    func `a peer that doesn't read makes send fail or wait at the high mark, as chosen`(wantsReceipt: Bool) async throws {
        let peer = try RawPeer(receiveBuffer: 4_096)
        let session = Session(to: peer.endpoint, .hasty { $0.outboxMessages = 50 })
        let log = SessionLog(session)
        let mayRead = DispatchSemaphore(value: 0)
        let isGreeted = Happenings<Bool>()
        async let script = peer.run { peer in
            let connection = try peer.accept()
            try connection.greet()
            isGreeted.add(true)
            mayRead.wait()
            var (unreceipted, receipted) = (0, Set<UInt32>())
            while let next = try connection.frame(), next.body != [0] {
                guard !next.body.isEmpty else { continue }
                guard next.msgId != 0 else {
                    unreceipted += 1
                    continue
                }
                // A copy, where the receipt took long: the same message.
                receipted.insert(next.msgId)
                try connection.receipt(next.msgId)
            }
            return unreceipted + receipted.count
        }
        await session.start()
        _ = await isGreeted.next()
        let body = [UInt8](repeating: 1, count: 10_000)
        var accepted = 0
        var refusal: SessionError?
        while refusal == nil, accepted * body.count < Self.kernelBuffers {
            do throws(SessionError) {
                _ = try await session.post(body, wantsReceipt: wantsReceipt, whenFull: .fail)
                accepted += 1
            } catch { refusal = error }
        }
        guard case .outboxFull(let messages, _) = refusal else {
            Issue.record("\(accepted) messages were accepted, then \(String(describing: refusal))")
            return
        }
        #expect(messages == 50)
        if wantsReceipt { #expect(accepted == 50) }
        // By the other choice it waits, and goes on once the peer reads.
        let hasReturned = Mutex(false)
        async let waiting: SessionTicket = {
            let ticket = try await session.post(body, wantsReceipt: wantsReceipt)
            hasReturned.withLock { $0 = true }
            return ticket
        }()
        for _ in 0..<100 { await OnLoop(session.loop).run { _ in } }
        // Without receipts it only has to wait for the kernel, which may find some more room at any time.
        if wantsReceipt { #expect(!hasReturned.withLock { $0 }) }
        mayRead.signal()
        _ = try await waiting
        _ = try await session.post([0], wantsReceipt: false)
        _ = await log.outcomes(accepted + 2)
        #expect(try await script == accepted + 1)
        await session.close(.keepForLater)
    }

    @Test func `an application that doesn't take stops the reading, and gets everything when it does`() async throws {
        let peer = try RawPeer()
        let session = Session(to: peer.endpoint, .hasty())
        async let script = peer.run { peer in
            let connection = try peer.accept()
            try connection.greet()
            // The smallest that there is: one byte, without receipt. Patience is short until the stream stalls.
            connection.setPatience(1)
            var sent = 0
            var rest: [UInt8] = []
            for _ in 0..<4_000 {
                var block: [UInt8] = []
                for number in sent..<sent + 1_000 {
                    block += try FrameEncoder().encode(Frame(msgId: 0, body: [UInt8(truncatingIfNeeded: number)]))
                }
                sent += 1_000
                let taken = connection.writeSome(block)
                if taken < block.count {
                    rest = Array(block[taken...])
                    break
                }
            }
            return (sent, rest, connection)
        }
        await session.start()
        let (sent, rest, connection) = try await script
        #expect(!rest.isEmpty, "\(sent) messages and still no end: somebody takes them all")
        let kept = await session.keptMessages
        #expect(kept <= SessionLimits.inboundMessages)
        // Now the application reads: all of them, in order.
        let log = SessionLog(session)
        async let more: Void = RawPeer().run { _ in
            connection.setPatience(RawPeer.patience)
            try connection.write(rest)
        }
        let bodies = await log.bodies(sent)
        _ = try await more
        #expect(bodies.enumerated().allSatisfy { $1 == [UInt8(truncatingIfNeeded: $0)] })
        await session.close(.keepForLater)
    }

    @Test func `large messages through small buffers arrive whole, though no write takes one`() async throws {
        let peer = try RawPeer(receiveBuffer: 2_048)
        let session = Session(to: peer.endpoint, .hasty())
        let log = SessionLog(session)
        async let script = peer.run { peer in
            let connection = try peer.accept()
            try connection.greet()
            var lengths: [Int] = []
            while lengths.count < 20, let next = try connection.message() {
                let expected = (0..<next.body.count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(next.msgId)) }
                lengths.append(next.body == expected ? next.body.count : -1)
                try connection.receipt(next.msgId)
            }
            return (lengths, connection)
        }
        await session.start()
        for number in 1...20 {
            _ = try await session.post((0..<number * 20_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
        }
        #expect(await log.outcomes(20).allSatisfy { $0.result == .delivered && $0.sends == 1 })
        #expect(try await script.0 == (1...20).map { $0 * 20_000 })
        await session.close(.keepForLater)
    }
}

extension Session {
    /// Messages that came and that the application hasn't taken.
    var keptMessages: Int { core.unhandedMessages }
}
