import FrameCodec
import SocketCore
import Testing

@testable import wifictl

/// TCP streams that the line has shaken.
struct FramesReassemblyTests {
    private static let maker = PacketMaker()

    private func outcome(_ segments: [TestSegment], _ settings: CaptureSettings = CaptureSettings(), snaplen: Int = 65_535)
        -> CaptureOutcome
    {
        var writer = CaptureWriter(.micro, .ethernet, snaplen: snaplen)
        writer.add(segments.map(Self.maker.tcp))
        return CaptureOutcome(writer.bytes, settings)
    }

    /// Segments as a bad line delivers them: some again, some late, some cut anew so that they overlap.
    private func shaken(_ segments: [TestSegment], _ dice: inout SeededGenerator) -> [TestSegment] {
        var line: [(place: Double, segment: TestSegment)] = []
        for (index, segment) in segments.enumerated() {
            let isData = !segment.payload.isEmpty
            line.append((Double(index) + (isData ? dice.unit() * 4 : 0), segment))
            guard isData, dice.chance(0.5) else { continue }
            var again = segment
            let from = Int.random(in: 0..<segment.payload.count, using: &dice)
            again.payload = Array(segment.payload[from..<Int.random(in: from...segment.payload.count, using: &dice)])
            again.sequence &+= UInt32(from)
            line.append((Double(index) + dice.unit() * 8 - 2, again))
        }
        return line.sorted { $0.place < $1.place }.map(\.segment)
    }

    @Test func `reordered, repeated and overlapping segments give the frames that were sent`() throws {
        let seed: UInt64 = 0x7C9_5EED
        var dice = SeededGenerator(seed: seed)
        for run in 0..<100 {
            // Every other run wraps the sequence numbers within the data.
            let initial: (UInt32, UInt32) = run % 2 == 0 ? (UInt32.max - 200, UInt32.max - 3_000) : (7, 70_000)
            let pieces = Int.random(in: 1...400, using: &dice)
            let segments = try FramesCaptureTests.conversation(initial: initial, pieces: pieces)
            let opening = segments.prefix(3)
            let outcome = outcome(opening + shaken(Array(segments.dropFirst(3)), &dice))
            #expect(outcome.frames(.toServer) == FramesCaptureTests.requests, "seed \(seed), run \(run)")
            #expect(outcome.frames(.toClient) == FramesCaptureTests.answers, "seed \(seed), run \(run)")
            #expect(outcome.errors.isEmpty && outcome.losses.isEmpty && outcome.lateStarts == 0, "seed \(seed), run \(run)")
            #expect(outcome.ends.map(\.toClient.end) == [.finished], "seed \(seed), run \(run)")
        }
    }

    @Test func `a lost segment ends its direction only, and is told`() throws {
        var segments = try FramesCaptureTests.conversation()
        let lost = try #require(segments.firstIndex { $0.source == TestConversation.server && $0.payload.count == 300 }) + 1
        let missing = segments.remove(at: lost)
        let outcome = outcome(segments)
        #expect(outcome.losses == [.missing(byteCount: missing.payload.count, isCut: false)])
        #expect(outcome.frames(.toServer) == FramesCaptureTests.requests)
        #expect(FramesCaptureTests.answers.starts(with: outcome.frames(.toClient)))
        #expect(outcome.frames(.toClient).count < FramesCaptureTests.answers.count)
        #expect(outcome.ends.first?.toClient.end == .failed)
    }

    @Test func `a lost segment is told while the connection goes on, once its bytes are acknowledged often enough`() throws {
        var conversation = TestConversation()
        conversation.open()
        for id in UInt32(1)...60 {
            conversation.send(fromClient: true, try FramesCaptureTests.bytes([Frame(msgId: id)]))
            conversation.send(fromClient: false, try FramesCaptureTests.bytes([Frame(msgId: id, body: [1])]))
        }
        var segments = conversation.segments
        // The client's tenth message: opening, then two packets a message.
        segments.remove(at: 3 + 2 * 9)
        var writer = CaptureWriter(.micro)
        writer.add(segments.map(Self.maker.tcp))
        let events = CaptureOutcome(writer.bytes).events
        let place = try #require(events.firstIndex { if case .loss = $0 { true } else { false } })
        // Nine whole rounds; the tenth answer, when the hole doesn't show yet; then an answer for each acknowledgement of it.
        #expect(place == 9 * 2 + 1 + StreamDirection.patience)
        #expect(events.count { if case .frame(let place, _, _, _) = $0 { place.direction == .toClient } else { false } } == 60)
    }

    @Test func `packets cut by the capture are told apart from packets that it dropped`() throws {
        let outcome = outcome(try FramesCaptureTests.conversation(), snaplen: 200)
        #expect(outcome.losses.count == 2)
        for loss in outcome.losses {
            if case .missing(_, isCut: true) = loss { continue }
            Issue.record("\(loss)")
        }
    }

    @Test func `a stream whose opening is missing is cut from its first segment, with a remark`() throws {
        let outcome = outcome(Array(try FramesCaptureTests.conversation().dropFirst(3)))
        #expect(outcome.lateStarts == 2)
        #expect(outcome.frames(.toServer) == FramesCaptureTests.requests)
        #expect(outcome.frames(.toClient) == FramesCaptureTests.answers)
    }

    @Test func `the answer to an opening tells where the other direction begins`() throws {
        var segments = try FramesCaptureTests.conversation()
        segments.removeFirst()
        let outcome = outcome(segments)
        #expect(outcome.lateStarts == 0)
        #expect(outcome.frames(.toServer) == FramesCaptureTests.requests)
    }

    @Test func `a connection that ends inside a frame is truncated; a capture that ends there isn't the stream's fault`() throws {
        let half = Array(try FramesCaptureTests.bytes([Frame(msgId: 5, body: [1, 2, 3, 4])]).dropLast())
        let endings: [(String, (inout TestConversation) -> Void)] = [
            ("closed", { $0.close() }), ("reset by the sender", { $0.reset(fromClient: true) }),
            ("reset by the peer", { $0.reset(fromClient: false) }),
        ]
        for (name, end) in endings {
            var conversation = TestConversation()
            conversation.open()
            conversation.send(fromClient: true, half)
            end(&conversation)
            let outcome = outcome(conversation.segments)
            #expect(outcome.errors == [FrameErrorReport(offset: 0, error: .truncated(have: 13, need: 14))], "\(name)")
        }
        var conversation = TestConversation()
        conversation.open()
        conversation.send(fromClient: true, half)
        let outcome = outcome(conversation.segments)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.ends.first?.toServer.heldByteCount == 13)
    }

    @Test func `a bad frame ends its direction and nothing else`() throws {
        var conversation = TestConversation()
        conversation.open()
        conversation.send(fromClient: true, try FramesCaptureTests.bytes([Frame(msgId: 5)]) + [0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        conversation.send(fromClient: false, try FramesCaptureTests.bytes([Frame(msgId: 5)]))
        conversation.send(fromClient: true, try FramesCaptureTests.bytes([Frame(msgId: 6)]))
        conversation.close()
        let outcome = outcome(conversation.segments)
        #expect(outcome.errors == [FrameErrorReport(offset: 10, error: .unsupportedVersion(version: 0))])
        #expect(outcome.frames(.toServer) == [Frame(msgId: 5)])
        #expect(outcome.frames(.toClient) == [Frame(msgId: 5)])
    }

    @Test func `the same ports used again are another stream`() throws {
        let first = try FramesCaptureTests.conversation()
        let second = try FramesCaptureTests.conversation(initial: (500_000, 600_000))
        let outcome = outcome(first + second + second.prefix(1))
        #expect(outcome.counts.tcpStreams == 2)
        #expect(outcome.frames(.toServer, stream: 0) == FramesCaptureTests.requests)
        #expect(outcome.frames(.toServer, stream: 1) == FramesCaptureTests.requests)
    }

    @Test func `only the ports asked for are cut, or all that hold frames`() throws {
        let other = Endpoint(.v4(192, 0, 2, 1), port: 8_080)
        let segments = try FramesCaptureTests.conversation(server: other)
        var web = TestConversation(server: Endpoint(.v4(192, 0, 2, 1), port: 80))
        web.open()
        web.send(fromClient: true, Array("GET / HTTP/1.1\r\n\r\n".utf8))
        web.close()
        let all = segments + web.segments
        #expect(outcome(all).counts.frames == 0)
        #expect(outcome(all).counts.otherPorts == [8_080: 1, 80: 1])
        let named = outcome(all, CaptureSettings(tcpPorts: [8_080]))
        #expect(named.frames(.toServer) == FramesCaptureTests.requests)
        let every = outcome(all, CaptureSettings(allStreams: true))
        #expect(every.frames(.toServer) == FramesCaptureTests.requests)
        #expect(every.errors.isEmpty)
        #expect(every.ends.map(\.toServer.end) == [.finished, .foreign])
    }

    @Test func `TLS is named as what it is`() {
        var conversation = TestConversation()
        conversation.open()
        conversation.send(fromClient: true, [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC, 0x03, 0x03], inPiecesOf: 1)
        conversation.close()
        let outcome = outcome(conversation.segments)
        #expect(outcome.losses == [.encrypted])
        #expect(outcome.ends.first?.toServer.end == .encrypted)
    }

    @Test func `what waits behind a hole is bounded, in bytes and in pieces`() {
        for (size, least) in [(60_000, SegmentAssembler.maximumPendingBytes), (1, SegmentAssembler.maximumPendingPieces)] {
            var assembler = SegmentAssembler()
            assembler.anchor(at: 0)
            var sequence: UInt32 = 10
            var most = 0
            while !assembler.isOverfull {
                _ = assembler.insert(sequence, [UInt8](repeating: 1, count: size)[...], length: size)
                sequence += UInt32(size) + 1
                most = max(most, assembler.pendingByteCount)
            }
            #expect(assembler.position == 0)
            #expect(most <= SegmentAssembler.maximumPendingBytes + size)
            #expect(assembler.hole == 10)
            #expect(Int(sequence) >= least)
        }
    }

    @Test func `of bytes that come twice with different values the first count, and it is told`() {
        var assembler = SegmentAssembler()
        assembler.anchor(at: 100)
        #expect(assembler.insert(105, [5, 6, 7][...], length: 3).isEmpty)
        #expect(assembler.insert(104, [4, 55, 66, 7, 8][...], length: 5).isEmpty)
        let ready = assembler.insert(100, [0, 1, 2, 3, 44][...], length: 5).flatMap { Array($0) }
        #expect(ready == [0, 1, 2, 3, 4, 5, 6, 7, 8])
        #expect(assembler.conflictingByteCount == 3)
        #expect(assembler.repeatedByteCount == 4)
        #expect(assembler.position == 9)
    }
}
