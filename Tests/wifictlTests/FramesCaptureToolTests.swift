import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// `wifictl frames` on capture files, and the discovery datagrams in them.
struct FramesCaptureToolTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures/captures")

    @Test(arguments: ["loopback.pcap", "cooked.pcapng"], ["65536", "1"])
    func `recorded captures give the lines that lie beside them`(name: String, chunk: String) async throws {
        let expected = try Data(contentsOf: Self.fixtures.appending(path: name + ".jsonl"))
        let result = try await BuiltTool.run(["frames", "--json", "--chunk", chunk, Self.fixtures.appending(path: name).path])
        #expect(result.status == 0)
        #expect(result.output == Array(expected))
    }

    @Test func `two recordings of one exchange hold the same frames`() throws {
        let outcomes = try ["loopback.pcap", "cooked.pcapng"].map { name in
            CaptureOutcome(Array(try Data(contentsOf: Self.fixtures.appending(path: name))))
        }
        for direction in [StreamPlace.Direction.toServer, .toClient] {
            #expect(outcomes[0].frames(direction).count == 8)
            #expect(outcomes[0].frames(direction) == outcomes[1].frames(direction))
        }
    }

    @Test func `frames of a capture tell their stream, direction and time`() async throws {
        var writer = CaptureWriter(.micro)
        var conversation = TestConversation()
        conversation.open()
        conversation.send(fromClient: true, try FramesCaptureTests.bytes([Frame(msgId: 7, body: [0x68, 0x69])]))
        conversation.close()
        writer.add(conversation.segments.map { PacketMaker().tcp($0) })
        let result = try await BuiltTool.run(["frames", "--json", "-"], input: writer.bytes)
        let expected =
            #"{"type":"frame","offset":0,"msgId":7,"version":1,"len":2,"body":"6869","stream":0,"direction":"toServer","#
            + #""source":"192.0.2.10:40000","destination":"192.0.2.1:19510","time":"2026-11-30T08:00:00.004500000Z"}"#
        #expect(result.lines.first == expected)
        #expect(result.status == 0)
    }

    @Test func `a lost segment, a bad frame and a damaged file each end with status 2 and say why`() async throws {
        var writer = CaptureWriter(.micro)
        var segments = try FramesCaptureTests.conversation()
        segments.remove(at: 4)
        writer.add(segments.map { PacketMaker().tcp($0) })
        let lossy = try await BuiltTool.run(["frames", "--json"], input: writer.bytes)
        #expect(lossy.status == 2)
        #expect(lossy.text.contains(#""type":"error","error":"lostSegment","offset":300,"#))
        #expect(lossy.errorText.contains("were never captured"))

        let limited = try await BuiltTool.run(["frames", "--json", "--limit", "100"], input: writer.bytes)
        #expect(limited.text.contains(#"{"type":"error","error":"bodyTooLarge","offset":10,"declared":700,"limit":100,"stream":0,"#))
        #expect(limited.status == 2)

        let cut = try await BuiltTool.run(["frames", "--json"], input: Array(writer.bytes.dropLast()))
        #expect(cut.text.contains(#"{"type":"error","error":"captureTruncated","offset":"#))
        #expect(cut.status == 2)
    }

    @Test func `a capture without frames gives status 1 and says which ports there were`() async throws {
        var writer = CaptureWriter(.next)
        let server = Endpoint(.v4(192, 0, 2, 1), port: 8_080)
        writer.add(try FramesCaptureTests.conversation(server: server).map { PacketMaker().tcp($0) })
        let result = try await BuiltTool.run(["frames"], input: writer.bytes)
        #expect(result.status == 1)
        #expect(result.errorText.contains("8080 (1)"))
        let named = try await BuiltTool.run(["frames", "--tcp-port", "8080"], input: writer.bytes)
        #expect(named.status == 0)
        #expect(named.text.contains("client 192.0.2.10:40000, server 192.0.2.1:8080"))
    }

    @Test func `a stream that begins like a capture file is cut when it is said to be raw`() async throws {
        let frame = Frame(msgId: 0xA1B2_C3D4, version: 2, body: Array(repeating: 0, count: 30))
        let result = try await BuiltTool.run(["frames", "--raw", "--json"], input: try FramesCaptureTests.bytes([frame]))
        #expect(result.status == 0)
        #expect(result.lines.count == 1)
    }

    @Test func `discovery datagrams are shown for what they are, and broken ones as invalid`() throws {
        let router = TestConversation.server
        let anywhere = Endpoint(.v4(192, 0, 2, 10), port: 50_000)
        let encode = { (text: String) in try FrameEncoder().encode(Frame(msgId: 77, body: Array(text.utf8))) }
        let good: [(String, CapturedDatagram.Kind)] = [
            (#"{"probe":{"nonce":"0011223344556677"}}"#, .probe), (#"{"reply":{"mac":"02:00:5e:00:53:01"}}"#, .reply),
            (#"{"announce":{"mac":"02:00:5e:00:53:01"}}"#, .announce), (#"{"bye":{"mac":"02:00:5e:00:53:01"}}"#, .bye),
        ]
        let bad: [([UInt8], CapturedDatagram.Invalid)] = [
            ([1, 2, 3], .noHeader), ([], .noHeader), (try encode("{}") + [0], .wrongLength), (try encode("{}").dropLast(), .wrongLength),
            (try encode("[1]"), .noJSON), (try encode("{"), .noJSON), (try encode(#"{"hello":1}"#), .unknownKind),
            ([0, 0, 0, 1, 0, 0, 0, 0, 0, 0], .noHeader),
        ]
        var writer = CaptureWriter(.nextNano, .cooked2)
        for (text, _) in good { writer.add(PacketMaker().udp(anywhere, router, try encode(text))) }
        for (bytes, _) in bad { writer.add(PacketMaker(extras: true).udp(router, anywhere, bytes)) }
        writer.add(PacketMaker().udp(anywhere, Endpoint(router.address, port: 53), [1, 2, 3]))
        let found = CaptureOutcome(writer.bytes).datagrams
        try #require(found.count == good.count + bad.count)
        for ((_, kind), datagram) in zip(good, found) {
            guard case .success(let content) = datagram.content else {
                Issue.record("\(kind): \(datagram.content)")
                continue
            }
            #expect(content.kind == kind)
            #expect(content.header.msgId == 77)
        }
        for ((_, reason), datagram) in zip(bad, found.dropFirst(good.count)) {
            guard case .failure(let invalid) = datagram.content else {
                Issue.record("\(reason): \(datagram.content)")
                continue
            }
            #expect(invalid == reason)
        }
    }
}
