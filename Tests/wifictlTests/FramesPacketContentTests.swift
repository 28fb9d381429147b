import FrameCodec
import SocketCore
import Testing

@testable import wifictl

/// Packet headers at their edges, and the bounds of what is kept of a capture.
struct FramesPacketContentTests {
    private static let client = IPAddress.v4(192, 0, 2, 10)
    private static let server = IPAddress.v4(192, 0, 2, 1)
    private static let segment = TestSegment(
        source: TestConversation.client, destination: TestConversation.server, sequence: 7, acknowledgement: 9, payload: [1, 2, 3])

    private func content(_ bytes: [UInt8], link: UInt16 = 101, original: Int? = nil) -> PacketContent {
        PacketContent(
            CapturedPacket(time: nil, linkType: link, bytes: ByteWindow(bytes[...]), originalLength: original ?? bytes.count))
    }

    private func payload(_ content: PacketContent) -> ([UInt8], Int)? {
        switch content {
        case .tcp(let segment): (Array(segment.payload), segment.length)
        case .udp(let datagram): (Array(datagram.payload), datagram.length)
        default: nil
        }
    }

    private func isDamaged(_ content: PacketContent) -> Bool { if case .damaged = content { true } else { false } }

    @Test func `bytes behind the IP packet are padding, and a length of 0 is segmentation offload`() throws {
        let packet = PacketMaker().tcp(Self.segment)
        let padded = try #require(payload(content(packet + [0xEE, 0xEE])))
        #expect(padded == ([1, 2, 3], 3))
        var offloaded = packet
        offloaded.replaceSubrange(2..<4, with: [0, 0])
        #expect(try #require(payload(content(offloaded))) == ([1, 2, 3], 3))
        #expect(try #require(payload(content(Array(packet.dropLast(2))))) == ([1], 3))
    }

    @Test func `headers that are cut or contradict themselves are damaged`() {
        let tcp = PacketMaker().tcp(Self.segment)
        // TCP options alone may be missing: the payload then counts as not captured.
        for length in 0..<34 { #expect(isDamaged(content(Array(tcp.prefix(length)))), "\(length)") }
        let udp = PacketMaker().udp(TestConversation.client, TestConversation.server, [1, 2])
        for length in 0..<28 { #expect(isDamaged(content(Array(udp.prefix(length)))), "\(length)") }
        // Place and value of a byte that makes the header impossible: IP header length, total length, TCP header length.
        for (place, value) in [(0, 0x44), (3, 19), (32, 0x40), (32, 0xF0)] as [(Int, UInt8)] {
            var bytes = tcp
            bytes[place] = value
            #expect(isDamaged(content(bytes)), "\(place)")
        }
        for stated in [7, 11] as [UInt8] {
            var bytes = udp
            bytes[25] = stated
            #expect(isDamaged(content(bytes)), "\(stated)")
        }
        let tags: [UInt8] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0, 1]
        #expect(isDamaged(content(tags, link: 1)))
    }

    @Test func `random bytes behind every link type never crash`() {
        let seed: UInt64 = 0xB17_5EED
        var dice = SeededGenerator(seed: seed)
        var understood = 0
        for run in 0..<20_000 {
            let link = TestLink.allCases[run % TestLink.allCases.count]
            var bytes = (0..<Int.random(in: 0...90, using: &dice)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            if run % 2 == 0, bytes.count > 10 {
                bytes[0] = dice.chance(0.5) ? 0x45 : 0x60
                bytes[6] = [6, 17, 0, 44, 60].randomElement(using: &dice) ?? 6
                bytes[7] = 0
                bytes[9] = bytes[6]
                bytes = link.wrap(bytes)
            }
            if let found = payload(content(bytes, link: link.number)) {
                understood += 1
                #expect(found.0.count <= found.1, "seed \(seed), run \(run)")
            }
        }
        #expect(understood > 100, "some must get through: \(understood)")
    }

    @Test func `more connections than are kept apart make room, the longest silent first`() {
        var decoder = CaptureDecoder(CaptureSettings())
        var given: [Int] = []
        let take = { (decoder: inout CaptureDecoder, segment: TestSegment) in
            let bytes = PacketMaker().tcp(segment)
            decoder.take(CapturedPacket(time: nil, linkType: 101, bytes: ByteWindow(bytes[...]), originalLength: bytes.count)) { event in
                if case .loss(let place, _, _, .tooMany) = event, place.direction == .toServer { given.append(place.stream) }
            }
        }
        for number in 0...CaptureDecoder.maximumConversations {
            let client = Endpoint(.v4(UInt32(0x0A00_0000 + number)), port: 1_000)
            take(&decoder, TestSegment(source: client, destination: TestConversation.server, sequence: 0, acknowledgement: nil, syn: true))
        }
        #expect(given == Array(0..<CaptureDecoder.maximumConversations / 4))
        #expect(decoder.counts.tcpStreams == CaptureDecoder.maximumConversations + 1)
    }

    @Test func `what waits behind holes is bounded over all streams together`() {
        var decoder = CaptureDecoder(CaptureSettings())
        var losses = 0
        let piece = [UInt8](repeating: 1, count: 60_000)
        // A bit over a MiB waits in each of 80 streams, none of which is over its own bound.
        for step in 0..<18 {
            for number in 0..<80 {
                let client = Endpoint(.v4(UInt32(0x0A00_0000 + number)), port: 1_000)
                var segment = TestSegment(
                    source: client, destination: TestConversation.server, sequence: 0, acknowledgement: nil, syn: step == 0)
                if step > 0 { segment.sequence = UInt32(100 + step * piece.count) }
                if step > 0 { segment.payload = piece }
                let bytes = PacketMaker().tcp(segment)
                decoder.take(CapturedPacket(time: nil, linkType: 101, bytes: ByteWindow(bytes[...]), originalLength: bytes.count)) {
                    event in
                    if case .loss(_, _, _, .missing) = event { losses += 1 }
                }
                #expect(decoder.pendingByteCount <= CaptureDecoder.maximumPendingBytes)
            }
        }
        #expect(losses > 0 && losses < 80)
    }
}
