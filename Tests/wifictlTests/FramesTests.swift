import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// `wifictl frames` and `wifictl encode` on byte streams and hex text.
struct FramesTests {
    private static let stream: [Frame] = [
        Frame(msgId: 1, body: Array("{\"op\":\"get\"}".utf8)), Frame(msgId: 7), Frame(msgId: 0),
        Frame(msgId: 0, version: 3, body: [0, 0xFF]),
        Frame(msgId: .max, version: .max, body: Array(repeating: 0x61, count: 40)),
    ]

    private static func bytes(_ layout: FrameLayout = .standard) throws -> [UInt8] {
        try stream.flatMap { try FrameEncoder(layout: layout).encode($0) }
    }

    @Test(arguments: FrameLayout.allCases)
    func `what encode writes frames reads, and the other way round`(layout: FrameLayout) async throws {
        let bytes = try Self.bytes(layout)
        let option = ["--layout", StreamCase.name(of: layout)]
        let lines = try await runCommand([BuiltTool.path, "frames", "--json"] + option, input: bytes)
        #expect(lines.status == 0)
        #expect(lines.lines.count == Self.stream.count)
        let again = try await runCommand([BuiltTool.path, "encode"] + option, input: lines.output)
        #expect(again.status == 0)
        #expect(again.output == bytes)
    }

    @Test func `offsets, lengths and bodies are those of the stream`() async throws {
        let result = try await runCommand([BuiltTool.path, "frames", "--json"], input: try Self.bytes())
        #expect(result.lines.first == #"{"type":"frame","offset":0,"msgId":1,"version":1,"len":12,"body":"7b226f70223a22676574227d"}"#)
        #expect(result.lines[1] == #"{"type":"frame","offset":22,"msgId":7,"version":1,"len":0,"body":""}"#)
        #expect(result.lines[3] == #"{"type":"frame","offset":42,"msgId":0,"version":3,"len":2,"body":"00ff"}"#)
    }

    @Test func `people get a kind for each frame, and text where the body is text`() async throws {
        let result = try await runCommand([BuiltTool.path, "frames"], input: try Self.bytes())
        #expect(result.lines.count == Self.stream.count + 1)
        for (line, words) in zip(
            result.lines.dropFirst(),
            [["message", "{\"op\":\"get\"}"], ["receipt"], ["heartbeat"], ["fire-and-forget", "00ff"], ["message"]])
        {
            for word in words { #expect(line.contains(word)) }
        }
    }

    @Test func `an error names itself, its place and its numbers, and ends with status 2`() async throws {
        let cases: [(String, [String], String)] = [
            ("0000000100010000000568", [], #"{"type":"error","error":"truncated","offset":0,"have":11,"need":15}"#),
            ("00000001000100000000 000000", [], #"{"type":"error","error":"truncated","offset":10,"have":3,"need":10}"#),
            ("00000001000000000000", [], #"{"type":"error","error":"unsupportedVersion","offset":0,"version":0}"#),
            ("00000001000200000000", ["--version", "1"], #"{"type":"error","error":"unsupportedVersion","offset":0,"version":2}"#),
            (
                "00000001000100000011", ["--limit", "16"],
                #"{"type":"error","error":"bodyTooLarge","offset":0,"declared":17,"limit":16}"#
            ),
            (
                "0000000100012d303031", ["--layout", "ascii-length"],
                #"{"type":"error","error":"malformedLength","offset":0,"field":"2d303031"}"#
            ),
        ]
        for (text, options, expected) in cases {
            let result = try await runCommand([BuiltTool.path, "frames", "--json", "--hex"] + options, input: Array(text.utf8))
            #expect(result.lines.last == expected)
            #expect(result.status == 2)
            #expect(result.errorText.hasPrefix("wifictl: "))
        }
    }

    @Test func `another protocol's first bytes are named, when the first frame can't be right`() async throws {
        let cases: [([UInt8], String)] = [
            (Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), "HTTP"), (Array("SSH-2.0-x\r\n".utf8), "SSH"),
            ([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1], "gzip"), (Array("00000001 0001 00000000".utf8), "--hex"),
            ([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3], "TLS"), ([1, 2, 3, 4, 0, 0, 0, 0, 0, 0], "--layout"),
        ]
        for (bytes, word) in cases {
            let result = try await BuiltTool.run(["frames"], input: bytes)
            #expect(result.status == 2)
            #expect(result.errorText.contains(word), "\(result.errorText)")
        }
    }

    @Test func `a stream with nothing in it is no error, and nothing found`() async throws {
        let empty = try await runCommand([BuiltTool.path, "frames", "--json"])
        #expect(empty.status == 1)
        #expect(empty.output.isEmpty)
    }

    @Test func `encode names the line that makes no frame, after the frames before it`() async throws {
        let good = #"{"msgId":1,"text":"hi"}"#
        let cases: [(String, String)] = [
            (#"{"msgId":1,"bdy":"00"}"#, "line 2: unknown key 'bdy'"), (#"{"text":"hi"}"#, "line 2: 'msgId' is missing"),
            (#"{"msgId":4294967296}"#, "line 2: 'msgId' isn't a whole number"), (#"{"msgId":1,"version":0}"#, "line 2: version 0 is none"),
            (#"{"msgId":1,"body":"0"}"#, "line 2: 'body' isn't an even number"), (#"{"msgId":1"#, "line 2: no JSON"),
            (#"[1]"#, "line 2: not a JSON object"), (#"{"type":"hello"}"#, "line 2: a line of type 'hello' is no frame"),
            (#"{"msgId":1,"text":"hi","body":"00"}"#, "line 2: 'body' and 'text' say different things"),
            (#"{"msgId":1,"len":3,"text":"hi"}"#, "line 2: 'len' says 3, but the body has 2 bytes"),
            (#"{"msgId":1,"text":"seventeen letters"}"#, "line 2: the body has 17 bytes, the limit is 16"),
        ]
        let whole = try FrameEncoder().encode(Frame(msgId: 1, body: Array("hi".utf8)))
        for (line, complaint) in cases {
            let result = try await runCommand([BuiltTool.path, "encode", "--limit", "16"], input: Array("\(good)\n\(line)\n".utf8))
            #expect(result.status == 2)
            #expect(result.output == whole)
            #expect(result.errorText.contains(complaint), "\(line): \(result.errorText)")
        }
    }
}
