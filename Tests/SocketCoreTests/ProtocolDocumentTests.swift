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
}
