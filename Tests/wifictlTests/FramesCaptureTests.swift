import FrameCodec
import SocketCore
import Testing

@testable import wifictl

/// Captures in every form that is read, and what a capture may lack.
struct FramesCaptureTests {
    static let requests = (1...9).map { Frame(msgId: $0, body: Array("{\"op\":\"get\",\"names\":[\"n\($0)\"]}".utf8)) }
    static let answers = (1...9).flatMap { [Frame(msgId: $0), Frame(msgId: $0 + 100, body: Array(repeating: UInt8($0), count: 700))] }

    static func bytes(_ frames: [Frame]) throws -> [UInt8] { try frames.flatMap { try FrameEncoder().encode($0) } }

    /// A whole connection in both directions, from opening to close.
    static func conversation(
        client: Endpoint = TestConversation.client, server: Endpoint = TestConversation.server,
        initial: (client: UInt32, server: UInt32) = (1_000, 9_000), pieces: Int = 300
    ) throws -> [TestSegment] {
        var conversation = TestConversation(client: client, server: server, initial: initial)
        conversation.open()
        conversation.send(fromClient: true, try bytes(requests), inPiecesOf: pieces)
        conversation.send(fromClient: false, try bytes(answers), inPiecesOf: pieces)
        conversation.close()
        return conversation.segments
    }

    private static let v6Client = Endpoint(.v6(high: 0x2001_0DB8_0000_0000, low: 10, scope: 0), port: 40_000)
    private static let v6Server = Endpoint(.v6(high: 0x2001_0DB8_0000_0000, low: 1, scope: 0), port: 19_510)

    @Test(arguments: TestLink.allCases, [false, true])
    func `every link type, with IPv4 and IPv6, plain and with options`(link: TestLink, extras: Bool) throws {
        for (client, server) in [(TestConversation.client, TestConversation.server), (Self.v6Client, Self.v6Server)] {
            var writer = CaptureWriter(.micro, link)
            writer.add(try Self.conversation(client: client, server: server).map { PacketMaker(extras: extras).tcp($0) })
            let outcome = CaptureOutcome(writer.bytes)
            #expect(outcome.damage == nil)
            #expect(outcome.frames(.toServer) == Self.requests)
            #expect(outcome.frames(.toClient) == Self.answers)
            #expect(outcome.errors.isEmpty && outcome.losses.isEmpty && outcome.lateStarts == 0)
            #expect(outcome.ends.map(\.toServer.end) == [.finished])
        }
    }

    @Test(arguments: CaptureWriter.Form.allCases)
    func `every file format, with its times`(form: CaptureWriter.Form) throws {
        var writer = CaptureWriter(form)
        writer.add(try Self.conversation().map { PacketMaker().tcp($0) })
        for pieces in [1, 7, 4_096, 1 << 20] {
            let outcome = CaptureOutcome(writer.bytes, pieces: pieces)
            #expect(outcome.damage == nil)
            #expect(outcome.frames(.toServer) == Self.requests)
            #expect(outcome.frames(.toClient) == Self.answers)
            // The first data is the fourth packet, 4.5 ms after the first; in ticks of 1/1024 s that is 4 ticks.
            let first = form == .nextBinary ? "003906250" : "004500000"
            #expect(outcome.times.first == .some(form.hasTimes ? "2026-11-30T08:00:00.\(first)Z" : nil))
        }
    }

    @Test func `two sections of a pcapng file, one in each byte order, are both read`() throws {
        var first = CaptureWriter(.next)
        var second = CaptureWriter(.nextBig)
        let segments = try Self.conversation()
        first.add(segments.prefix(6).map { PacketMaker().tcp($0) })
        second.add(segments.dropFirst(6).map { PacketMaker().tcp($0) })
        let outcome = CaptureOutcome(first.bytes + second.bytes)
        #expect(outcome.damage == nil)
        #expect(outcome.frames(.toServer) == Self.requests)
        #expect(outcome.frames(.toClient) == Self.answers)
    }

    @Test func `a file that ends anywhere gives what came before, and says so unless it ends between packets`() throws {
        for form in [CaptureWriter.Form.micro, .next] {
            var writer = CaptureWriter(form)
            var ends: Set<Int> = [writer.bytes.count]
            if form == .next { ends.formUnion([28, 28 + 32]) }
            for segment in try Self.conversation(pieces: 2_000) {
                writer.add(PacketMaker().tcp(segment))
                ends.insert(writer.bytes.count)
            }
            for length in (form == .next ? 12 : 8)...writer.bytes.count where length < 1_500 || length % 7 == 0 || ends.contains(length) {
                let outcome = CaptureOutcome(Array(writer.bytes.prefix(length)), pieces: 1 << 20)
                #expect(Self.requests.starts(with: outcome.frames(.toServer)))
                #expect(Self.answers.starts(with: outcome.frames(.toClient)))
                if ends.contains(length) {
                    #expect(outcome.damage == nil, "\(form) \(length)")
                } else if case .truncated = outcome.damage {
                } else {
                    Issue.record("\(form) cut at \(length): \(String(describing: outcome.damage))")
                }
            }
        }
    }

    @Test func `damaged files are refused with the place of the damage`() throws {
        var writer = CaptureWriter(.micro)
        writer.add(try Self.conversation().map { PacketMaker().tcp($0) })
        var huge = writer.bytes
        huge.replaceSubrange(24 + 8..<24 + 12, with: [0xFF, 0xFF, 0xFF, 0x7F])
        #expect(CaptureOutcome(huge).damage == .badLength(part: .packet, offset: 24, declared: 0x7FFF_FFFF, limit: 1 << 20))

        var next = CaptureWriter(.next)
        next.add(try Self.conversation().map { PacketMaker().tcp($0) })
        var odd = next.bytes
        odd[28 + 4] = 13
        #expect(CaptureOutcome(odd).damage == .badLength(part: .block, offset: 28, declared: 13, limit: UInt64(UInt32.max)))
        var unequal = next.bytes
        unequal[24] = 99
        #expect(CaptureOutcome(unequal).damage == .lengthsDiffer(offset: 0, first: 28, second: 99))
        var newer = next.bytes
        newer[12] = 2
        #expect(CaptureOutcome(newer).damage == .unknownVersion(offset: 0, major: 2, minor: 0))
        let stray = Array(next.bytes.prefix(28) + next.bytes.dropFirst(28 + 32 + 24))
        #expect(CaptureOutcome(stray).damage == .unknownInterface(offset: 28, index: 0, count: 0))
    }

    @Test func `a capture is told from a stream by more than its first four bytes`() {
        let micro: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1]
        #expect(CaptureFormat.recognise(micro, ended: false) == nil)
        #expect(CaptureFormat.recognise(micro, ended: true) == .raw)
        #expect(CaptureFormat.recognise(micro + [2, 0, 4, 0], ended: false) == .pcap(bigEndian: false, ticksPerSecond: 1_000_000))
        #expect(CaptureFormat.recognise(micro + [0, 1, 0, 0, 0, 0], ended: false) == .raw)
        #expect(CaptureFormat.recognise([0x0A, 0x0D, 0x0D, 0x0A], ended: false) == nil)
        #expect(CaptureFormat.recognise([0x0A, 0x0D, 0x0D, 0x0A, 0, 1, 0, 0, 0, 0, 0, 0], ended: false) == .raw)
        #expect(CaptureFormat.recognise([0x0A, 0x0D, 0], ended: false) == .raw)
        #expect(CaptureFormat.recognise([], ended: false) == nil)
        #expect(CaptureFormat.recognise([], ended: true) == .raw)
    }

    @Test func `fragments, unknown link types and cut headers are counted and passed over`() throws {
        var writer = CaptureWriter(.micro)
        let segments = try Self.conversation()
        writer.add(PacketMaker().ip(6, [1, 2, 3, 4, 5, 6, 7, 8], .v4(192, 0, 2, 10), .v4(192, 0, 2, 1), fragment: 0x2000))
        writer.add(PacketMaker().ip(17, [1, 2, 3, 4, 5, 6, 7, 8], .v4(192, 0, 2, 10), .v4(192, 0, 2, 1), fragment: 0x0010))
        writer.add(PacketMaker().ip(6, [1, 2, 3], .v4(192, 0, 2, 10), .v4(192, 0, 2, 1)))
        writer.add(PacketMaker().ip(1, [8, 0, 0, 0], .v4(192, 0, 2, 10), .v4(192, 0, 2, 1)))
        writer.add(segments.map { PacketMaker().tcp($0) })
        let outcome = CaptureOutcome(writer.bytes)
        #expect(outcome.counts.fragments == 2)
        #expect(outcome.counts.damaged == 1)
        #expect(outcome.frames(.toServer) == Self.requests)
        var wireless = writer.bytes
        wireless[20] = 105
        #expect(CaptureOutcome(wireless).counts.unknownLinks == [105: segments.count + 4])
    }

    @Test func `any damage to a file ends in frames or an error, never in a crash or an endless loop`() throws {
        let seed: UInt64 = 0xCAB_5EED
        var dice = SeededGenerator(seed: seed)
        let forms: [CaptureWriter.Form] = [.micro, .nanoBig, .next, .nextBig, .nextSimple, .nextOld]
        var (damaged, cut) = (0, 0)
        for run in 0..<1_500 {
            let form = forms[run % forms.count]
            let link = TestLink.allCases.randomElement(using: &dice) ?? .ethernet
            var writer = CaptureWriter(form, link)
            writer.add(try Self.conversation(pieces: 900).map { PacketMaker(extras: run % 2 == 0).tcp($0) })
            var file = writer.bytes
            for _ in 0..<Int.random(in: 1...6, using: &dice) where !file.isEmpty {
                let place = Int.random(in: 0..<file.count, using: &dice)
                switch Int.random(in: 0..<5, using: &dice) {
                case 0: file[place] = .random(in: 0...255, using: &dice)
                case 1: file[place] ^= UInt8(1) << Int.random(in: 0..<8, using: &dice)
                case 2: file.removeSubrange(place..<min(file.count, place + .random(in: 1...9, using: &dice)))
                case 3: file.insert(contentsOf: [0xFF, 0xFF, 0xFF, 0xFF].prefix(.random(in: 1...4, using: &dice)), at: place)
                default: file.removeSubrange(max(1, place)...)
                }
            }
            let whole = CaptureOutcome(file, pieces: 1 << 20)
            let split = CaptureOutcome(file, pieces: .random(in: 1...500, using: &dice))
            #expect(whole.damage == split.damage, "seed \(seed), run \(run)")
            #expect(whole.counts == split.counts, "seed \(seed), run \(run)")
            #expect(whole.frames(.toServer) == split.frames(.toServer), "seed \(seed), run \(run)")
            damaged += whole.damage == nil ? 0 : 1
            cut += whole.counts.frames > 0 ? 1 : 0
        }
        #expect(damaged > 300 && cut > 300, "the damage must neither miss nor kill everything: \(damaged) damaged, \(cut) with frames")
    }
}
