import FrameCodec
import SocketCore
import TestSupport
import Testing

/// The examples in docs/protocol.md, held against the code that they describe.
struct ProtocolDocumentTests {
    private func layout(_ block: DocumentBlock) throws -> FrameLayout {
        try #require(FrameLayout.allCases.first { String(describing: $0) == block.settings["layout"] })
    }

    private func frames(_ block: DocumentBlock, finish: Bool) throws -> (frames: [Frame], held: Int) {
        var decoder = FrameDecoder(layout: try layout(block))
        var frames: [Frame] = []
        try decoder.decode(block.bytes.span.bytes) { header, body in
            frames.append(Frame(header, body))
            return .more
        }
        if finish { try decoder.finish() }
        return (frames, decoder.heldByteCount)
    }

    private func frame(_ block: DocumentBlock) throws -> Frame {
        Frame(
            msgId: try #require(block.settings["msgId"].flatMap { UInt32($0) }),
            version: try #require(block.settings["version"].flatMap { UInt16($0) }),
            body: Array(try #require(block.settings["text"]).utf8))
    }

    @Test func `every frame on the page is what the encoder writes and what the decoder reads`() throws {
        let blocks = try DocumentBlock.all(in: "docs/protocol.md").filter { $0.kind == "frame" }
        #expect(blocks.count >= 5)
        for block in blocks {
            let frame = try frame(block)
            #expect(try FrameEncoder(layout: try layout(block)).encode(frame) == block.bytes, "\(block.text)")
            #expect(try frames(block, finish: true).frames == [frame])
        }
    }

    @Test func `every accepted spelling on the page is read`() throws {
        let blocks = try DocumentBlock.all(in: "docs/protocol.md").filter { $0.kind == "accepted" }
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(try frames(block, finish: true).frames == [frame(block)]) }
    }

    @Test func `the stream on the page is cut as it says`() throws {
        let block = try #require(try DocumentBlock.all(in: "docs/protocol.md").first { $0.kind == "stream" })
        let (frames, held) = try frames(block, finish: false)
        #expect(frames.map { "\($0.msgId):\($0.body.count)" }.joined(separator: ",") == block.settings["frames"])
        #expect(String(held) == block.settings["left"])
    }

    @Test func `every error on the page is the decoder's, with its numbers`() throws {
        let blocks = try DocumentBlock.all(in: "docs/protocol.md").filter { $0.kind == "error" }
        #expect(Set(blocks.map { $0.settings["error"] }) == ["unsupportedVersion", "malformedLength", "bodyTooLarge", "truncated"])
        for block in blocks {
            let error = #expect(throws: FrameError.self, "\(block.text)") { try frames(block, finish: true) }
            guard let error else { continue }
            let text = String(describing: error)
            #expect(text.hasPrefix(try #require(block.settings["error"])), "\(text)")
            for key in ["version", "declared", "limit", "have", "need"] {
                if let number = block.settings[key] { #expect(text.contains("\(key): \(number)"), "\(text)") }
            }
        }
    }

    @Test func `every JSON body on the page is valid and the header above it has its length`() throws {
        let blocks = try DocumentBlock.all(in: "docs/protocol.md")
        #expect(blocks.count { $0.kind == "json" } >= 4)
        #expect(blocks.contains { $0.kind == "header" })
        for (index, block) in blocks.enumerated() where block.kind == "json" || block.kind == "header" {
            let body = blocks[block.kind == "json" ? index : index + 1]
            let value = try JSONValue.parse(Array(body.text.utf8))
            #expect(value.objectValue?.count == 1)
            guard block.kind == "header" else { continue }
            let encoder = FrameEncoder(layout: try layout(block))
            let sample = Frame(msgId: 0, version: 1, body: value.encoded())
            #expect(Array(try encoder.encode(sample).prefix(FrameHeader.byteCount)) == block.bytes, "length is \(sample.body.count)")
        }
    }

    private func hellos() throws -> [[UInt8]] {
        try DocumentBlock.all(in: "docs/protocol.md").filter { $0.kind == "json" }.compactMap { block in
            let json = try JSONValue.parse(Array(block.text.utf8))
            return json["hello"] == nil ? nil : json.encoded()
        }
    }

    @Test func `the hellos on the page are what the session reads and writes`() throws {
        let hellos = try hellos()
        try #require(hellos.count == 2)
        let (question, answer) = (hellos[0], hellos[1])
        let controller = try ControllerHello(question.span.bytes)
        #expect(controller.encoded() == question)
        let router = try RouterHello(answer.span.bytes)
        #expect(router.encoded() == answer)
        #expect(router.session == controller.session)
        #expect(router.sees == RouterHello.Sees(station: true, via: "02:00:5e:00:53:11"))
    }

    @Test func `the numbers of sessions on the page are the code's`() throws {
        let page = try DocumentBlock.document("docs/protocol.md").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let timing = SessionTiming()
        let resend = timing.resend
        var statements = [
            "has sent nothing for \(timing.heartbeat.components.seconds) s", "arrived* for \(timing.silence.components.seconds) s",
            "said hello within \(timing.hello.components.seconds) s", "for \(timing.memory.components.seconds) s.",
            "At most \(SessionLimits.window) messages wait", "at most 4,096 bytes",
        ]
        for copy in 0...resend.limit {
            let wait = resend.base * (1 << copy)
            let longest = (wait * resend.spread.upperBound).components
            let most = longest.attoseconds == 0 ? "\(longest.seconds)" : "\(longest.seconds).5"
            statements.append(
                copy < resend.limit
                    ? "| resend \(copy + 1) | \(wait.components.seconds) to \(most) s |"
                    : "made anew | \(wait.components.seconds) to \(most) s |")
        }
        #expect(SessionLimits.helloBytes == 4_096)
        for statement in statements { #expect(page.contains(statement), "\(statement)") }
    }
}
