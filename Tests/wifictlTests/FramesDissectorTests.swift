import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// The dissector that `wifictl dissector` prints, run by tshark on captures made here.
@Suite(.enabled(if: TShark.isThere, TShark.remark))
struct FramesDissectorTests {
    private static let layouts = FrameLayout.allCases

    /// Segments of a session: hello, a message in pieces, receipts, a heartbeat, fire-and-forget, many frames in one segment.
    private static func session(_ layout: FrameLayout, client: UInt16 = 40_000) throws -> TestConversation {
        let encoder = FrameEncoder(layout: layout)
        let encode = { (frames: [Frame]) in try frames.flatMap { try encoder.encode($0) } }
        var conversation = TestConversation(client: Endpoint(TestConversation.client.address, port: client))
        conversation.open()
        conversation.send(fromClient: true, try encode([Frame(msgId: 0, body: Array("{\"hello\":{}}".utf8))]))
        conversation.send(fromClient: false, try encode([Frame(msgId: 0, body: Array("{\"hello\":{\"version\":1}}".utf8))]))
        // Packets 6, 7 and 8; whole in 8.
        conversation.send(fromClient: true, try encode([Frame(msgId: 1, body: Array(repeating: 0x78, count: 590))]), inPiecesOf: 200)
        // Packet 9: the receipt and a message of its own.
        conversation.send(fromClient: false, try encode([Frame(msgId: 1), Frame(msgId: 1, body: Array("{\"re\":1}".utf8))]))
        // Packet 10: receipt, heartbeat and fire-and-forget together; 11: a message again and again; 13: its receipt.
        conversation.send(fromClient: true, try encode([Frame(msgId: 1), Frame(msgId: 0), Frame(msgId: 0, version: 2, body: [0, 1, 2])]))
        conversation.send(fromClient: true, try encode([Frame(msgId: 2, body: [0xFF])]))
        conversation.send(fromClient: true, try encode([Frame(msgId: 2, body: [0xFF])]))
        conversation.send(fromClient: false, try encode([Frame(msgId: 2), Frame(msgId: 9)]))
        return conversation
    }

    @Test(arguments: layouts)
    func `kinds, numbers, bodies and links of a session`(layout: FrameLayout) async throws {
        var writer = CaptureWriter(.next)
        writer.add(try Self.session(layout).segments.map { PacketMaker().tcp($0) })
        let rows = try await TShark.fields(
            [
                "frame.number", "wififrame.kind", "wififrame.msgid", "wififrame.version", "wififrame.len", "wififrame.receipt_in",
                "wififrame.receipt_to", "wififrame.sent_before", "_ws.expert.message",
            ],
            of: writer.bytes, layout: layout)
        let expected = [
            "4|fire-and-forget|0|1|12||||", "5|fire-and-forget|0|1|23||||", "8|message|1|1|590|9|||",
            "9|receipt,message|1,1|1,1|0,8|10|8||", "10|receipt,heartbeat,fire-and-forget|1,0,0|1,1,2|0,0,3||9||",
            "11|message|2|1|1||||", "12|message|2|1|1|13||11|",
            "13|receipt,receipt|2,9|1,1|0,0||12||Receipt for a message that wasn't seen",
        ]
        #expect(rows.filter { !$0[1].isEmpty }.map { $0.joined(separator: "|") } == expected)
    }

    @Test(arguments: layouts)
    func `tshark cuts shaken streams into the same frames as the tool`(layout: FrameLayout) async throws {
        let seed: UInt64 = 0xD155_EC70
        var dice = SeededGenerator(seed: seed)
        let encoder = FrameEncoder(layout: layout)
        var writer = CaptureWriter(.nano, .cooked)
        for port in UInt16(41_000)..<41_004 {
            var conversation = TestConversation(
                client: Endpoint(TestConversation.client.address, port: port), initial: (.max - 5_000, UInt32(port)))
            conversation.open()
            for _ in 0..<12 {
                let frames = (0..<Int.random(in: 1...5, using: &dice)).map { _ in
                    Frame(
                        msgId: .random(in: 0...3, using: &dice), version: .random(in: 1...2, using: &dice),
                        body: (0..<[0, 3, 200, 3_000][Int.random(in: 0..<4, using: &dice)]).map { _ in
                            .random(in: 0x20...0x7E, using: &dice)
                        })
                }
                let bytes = try frames.flatMap { try encoder.encode($0) }
                conversation.send(fromClient: dice.chance(0.5), bytes, inPiecesOf: .random(in: 1...1_400, using: &dice))
            }
            let segments = conversation.segments
            writer.add((segments.prefix(3) + swapped(segments.dropFirst(3), &dice)).map { PacketMaker().tcp($0) })
        }
        let names = ["tcp.stream", "tcp.srcport", "wififrame.msgid", "wififrame.version", "wififrame.len", "wififrame.body"]
        let rows = try await TShark.fields(names, of: writer.bytes, layout: layout)
        let outcome = CaptureOutcome(writer.bytes, CaptureSettings(layout: layout))
        #expect(outcome.losses.isEmpty && outcome.errors.isEmpty, "seed \(seed)")
        for stream in 0..<4 {
            for direction in [StreamPlace.Direction.toServer, .toClient] {
                let own = rows.filter { $0[0] == "\(stream)" && ($0[1] == "19510") == (direction == .toClient) }
                let columns = (2..<names.count).map { column in own.flatMap { $0[column].split(separator: ",").map(String.init) } }
                let frames = outcome.frames(direction, stream: stream)
                #expect(columns[0] == frames.map { "\($0.msgId)" }, "seed \(seed), stream \(stream) \(direction)")
                #expect(columns[1] == frames.map { "\($0.version)" }, "seed \(seed), stream \(stream) \(direction)")
                #expect(columns[2] == frames.map { "\($0.body.count)" }, "seed \(seed), stream \(stream) \(direction)")
                #expect(
                    columns[3] == frames.filter { !$0.body.isEmpty }.map { Hex.text($0.body) },
                    "seed \(seed), stream \(stream) \(direction)")
            }
        }
    }

    /// Some neighbours of one direction swapped, some segments sent again.
    private func swapped(_ segments: ArraySlice<TestSegment>, _ dice: inout SeededGenerator) -> [TestSegment] {
        var line = Array(segments)
        for index in line.indices.dropLast() where dice.chance(0.15) && line[index].source == line[index + 1].source {
            line.swapAt(index, index + 1)
        }
        return line.flatMap { segment in dice.chance(0.1) ? [segment, segment] : [segment] }
    }

    @Test func `a bad header is an expert error, and nothing behind it is cut`() async throws {
        var conversation = try Self.session(.standard)
        conversation.send(fromClient: true, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        conversation.send(fromClient: true, try FramesCaptureTests.bytes([Frame(msgId: 5)]))
        conversation.send(fromClient: false, [0, 0, 0, 1, 0, 1, 0, 0x10, 0, 1])
        var writer = CaptureWriter(.micro)
        writer.add(conversation.segments.map { PacketMaker().tcp($0) })
        let rows = try await TShark.fields(["frame.number", "_ws.expert.message", "wififrame.kind"], of: writer.bytes, layout: .standard)
        #expect(
            rows.suffix(3).map { $0.joined(separator: "|") } == [
                "14|Version 0 is none|", "15|Can't be cut: the header in packet 14 was bad|",
                "16|A body of 1048577 bytes is over the limit of 1048576|",
            ])
    }

    @Test func `ports used again with a new hello are cut anew after an error`() async throws {
        var first = try Self.session(.standard)
        first.send(fromClient: true, [0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        first.reset(fromClient: false)
        var second = TestConversation(initial: (5_000_000, 6_000_000))
        second.open()
        second.send(fromClient: true, try FramesCaptureTests.bytes([Frame(msgId: 0, body: Array("{\"hello\":{}}".utf8)), Frame(msgId: 7)]))
        var writer = CaptureWriter(.micro)
        writer.add((first.segments + second.segments).map { PacketMaker().tcp($0) })
        let rows = try await TShark.fields(["wififrame.kind", "wififrame.msgid"], of: writer.bytes, layout: .standard)
        #expect(rows.last == ["fire-and-forget,receipt", "0,7"])
    }

    @Test func `TLS is left to the dissector for TLS`() async throws {
        var conversation = TestConversation()
        conversation.open()
        let alert: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]
        conversation.send(fromClient: true, alert)
        conversation.send(fromClient: true, alert)
        var writer = CaptureWriter(.micro)
        writer.add(conversation.segments.map { PacketMaker().tcp($0) })
        let rows = try await TShark.fields(["tls.record.content_type", "wififrame"], of: writer.bytes, layout: .standard)
        #expect(rows.suffix(2) == [["21", ""], ["21", ""]])
    }

    @Test func `the layout can be changed in the preferences`() async throws {
        var writer = CaptureWriter(.micro)
        writer.add(try Self.session(.littleEndian).segments.map { PacketMaker().tcp($0) })
        let rows = try await TShark.fields(
            ["wififrame.msgid", "wififrame.len"], of: writer.bytes, layout: .standard, options: ["-o", "wififrame.layout:littleEndian"])
        #expect(rows.contains(["1", "590"]))
    }

    @Test func `discovery datagrams show their kind and MAC, and replies their probe`() async throws {
        let client = Endpoint(.v4(192, 0, 2, 10), port: 50_000)
        let group = Endpoint(.v4(239, 255, 19, 51), port: 19_510)
        let encode = { (id: UInt32, text: String) in try FrameEncoder().encode(Frame(msgId: id, body: Array(text.utf8))) }
        let reply = #"{"reply":{"nonce":"0011223344556677","mac":"02:00:5e:00:53:01","tcp":19510}}"#
        var writer = CaptureWriter(.nextNano, .vlan)
        let maker = PacketMaker()
        writer.add([
            maker.udp(client, group, try encode(77, #"{"probe":{"nonce":"0011223344556677"}}"#)),
            maker.udp(TestConversation.server, client, try encode(77, reply)),
            maker.udp(TestConversation.server, client, try encode(77, reply)),
            maker.udp(TestConversation.server, client, try encode(78, reply)),
            maker.udp(TestConversation.server, group, try encode(1, #"{"announce":{"mac":"02:00:5e:00:53:01"}}"#)),
            maker.udp(TestConversation.server, group, try encode(1, #"{"bye":{"mac":"02:00:5e:00:53:01"}}"#) + [0]),
            maker.udp(TestConversation.server, group, [1, 2, 3]),
            maker.udp(TestConversation.server, group, try encode(1, #"{"probe":{"#)),
        ])
        let rows = try await TShark.fields(
            ["wifidisc.kind", "wifidisc.msgid", "wifidisc.mac", "wifidisc.reply_in", "wifidisc.reply_to", "_ws.expert.message"],
            of: writer.bytes, layout: .standard)
        let mac = "02:00:5e:00:53:01"
        #expect(
            rows.map { $0.joined(separator: "|") } == [
                "probe|77||2,3||", "reply|77|\(mac)||1|", "reply|77|\(mac)||1|", "reply|78|\(mac)|||Reply to a probe that wasn't seen",
                "announce|1|\(mac)|||", "|1||||35 bytes are declared, 36 are there", "|||||Shorter than a header", "probe|1||||",
            ])
    }
}

/// The page that shows what Wireshark shows.
struct DissectorDocumentTests {
    @Test(.enabled(if: TShark.isThere, TShark.remark))
    func `the packets listed in docs are what tshark lists`() async throws {
        let sample = try #require(try DocumentBlock.all(in: "docs/captures.md").first { $0.kind == "tshark" })
        let capture = try #require(sample.settings["capture"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Repository.path(capture))))
        let names = ["frame.number", "_ws.col.Protocol", "_ws.col.Info"]
        let rows = try await TShark.fields(names, of: bytes, layout: .standard).filter { ["FRAME", "DISCOVERY"].contains($0[1]) }
        #expect(sample.lines.count == 10)
        for (line, row) in zip(sample.lines, rows) {
            #expect(line.split(separator: " ").first == row[0][...])
            #expect(line.contains(" \(row[1]) ") && line.hasSuffix(row[2]), "\(row)")
        }
    }
}

/// tshark, where it is installed.
enum TShark {
    static let remark: Comment = "tshark isn't here: apt-get install tshark"
    static let isThere = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/tshark")
    }

    /// The fields of each packet, in two passes as the graphical Wireshark makes them; several values of a field in one packet
    /// with commas between.
    static func fields(_ names: [String], of capture: [UInt8], layout: FrameLayout, options: [String] = []) async throws -> [[String]] {
        let scratch = try TemporaryDirectory()
        let script = try await BuiltTool.run(["dissector", "--layout", StreamCase.name(of: layout)])
        let file = try scratch.write(capture, as: "capture")
        let lua = try scratch.write(script.output, as: "frames.lua")
        let command =
            ["tshark", "-n", "-2", "-r", file, "-X", "lua_script:\(lua)", "-o", "tcp.reassemble_out_of_order:TRUE"] + options
            + ["-T", "fields", "-E", "separator=|"] + names.flatMap { ["-e", $0] }
        let result = try await runCommand(command, environment: ["WIRESHARK_CONFIG_DIR": scratch.path], mustSucceed: true)
        #expect(!result.errorText.contains("Lua"), "\(result.errorText)")
        return result.text.split(separator: "\n").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        }
    }
}
