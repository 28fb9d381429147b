import FrameCodec
import SessionSimulation
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
            #expect(error.name == block.settings["error"], "\(text)")
            for key in ["version", "declared", "limit", "have", "need"] {
                if let number = block.settings[key] { #expect(text.contains(number), "\(text)") }
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

    private func written(_ router: inout SessionCore, _ number: ConnectionNumber) -> [UInt8] {
        let bytes = router.withOutput { output in output.withUnsafeBytes { Array($0) } }
        router.wrote(bytes.count, on: number, now: .zero)
        return bytes
    }

    @Test func `the exchange on the page is what a router's session makes of it`() throws {
        let block = try #require(try DocumentBlock.all(in: "docs/protocol.md").first { $0.kind == "exchange" })
        var router = SessionPair.freshRouter(boot: "00000000000000b1", now: .zero)
        let hello = ControllerHello(session: SessionPair.session, versions: [1], received: 0, resume: false)
        let number = router.accept(hello, version: 1, now: .zero)
        _ = written(&router, number)
        var said: [UInt8] = []
        var delivered: [String] = []
        for line in block.lines {
            let bytes = line.dropFirst().prefix { $0 != ";" }.split(separator: " ").compactMap { UInt8($0, radix: 16) }
            let decoded = ReadFrames.all(bytes)
            #expect(decoded.count == 1, "\(line)")
            let frame = try #require(decoded.first)
            if line.hasPrefix(">") {
                let header = FrameHeader(msgId: frame.msgId, version: frame.version, bodyLength: frame.body.count)
                _ = router.receive(header, body: frame.body.span.bytes, on: number, now: .zero)
                for case .message(let message) in router.takeEvents() {
                    delivered.append(String(decoding: message.body, as: UTF8.self))
                    router.handedOver(through: message.sequence, now: .zero)
                }
            } else {
                if !frame.body.isEmpty { _ = try router.send(frame.body, now: .zero) }
                said += written(&router, number)
                #expect(Array(said.prefix(bytes.count)) == bytes, "\(line)")
                said.removeFirst(min(bytes.count, said.count))
            }
        }
        said += written(&router, number)
        #expect(said.isEmpty)
        #expect(delivered == ["on", "log", "off"])
    }
}

/// Whole frames of an array.
private enum ReadFrames {
    static func all(_ bytes: [UInt8]) -> [Frame] {
        var decoder = FrameDecoder()
        var frames: [Frame] = []
        _ = try? decoder.decode(bytes.span.bytes) { header, body in
            frames.append(Frame(header, body))
            return .more
        }
        return frames
    }
}
