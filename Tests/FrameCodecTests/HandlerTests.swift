import FrameCodec
import SocketCore
import TestSupport
import Testing

@Suite struct `Around the in-place handler` {
    private let three = RawFrame.frame([1], msgId: 1) + RawFrame.frame([2, 2], msgId: 2) + RawFrame.frame([3, 3, 3], msgId: 3)

    @Test func `stopping leaves the rest of the read to the caller, exactly at a frame's start`() throws {
        var decoder = FrameDecoder()
        var ids: [UInt32] = []
        let used = try decoder.decode(three.span.bytes) { header, _ in
            ids.append(header.msgId)
            return header.msgId == 2 ? .stop : .more
        }
        let (held, offset) = (decoder.heldByteCount, decoder.frameOffset)
        #expect(ids == [1, 2] && used == 23 && held == 0 && offset == 23)
    }

    @Test func `the rest can be appended and the decoder goes on with an empty read`() throws {
        var decoder = FrameDecoder()
        let used = try decoder.decode(three.span.bytes) { _, _ in .stop }
        try decoder.append(three.span.bytes.extracting(used..<three.count))
        let rest = try take([], &decoder)
        try decoder.finish()
        #expect(rest == [Frame(msgId: 2, body: [2, 2]), Frame(msgId: 3, body: [3, 3, 3])])
    }

    @Test func `stopping at a frame that was held leaves what follows it untouched`() throws {
        for cut in 1..<11 {
            var decoder = FrameDecoder()
            _ = try take(Array(three.prefix(cut)), &decoder)
            let used = try decoder.decode(three.span.bytes.extracting(cut..<three.count)) { _, _ in .stop }
            #expect(used == 11 - cut)
        }
    }

    @Test func `stopping at the last frame uses up the whole read`() throws {
        var decoder = FrameDecoder()
        let used = try decoder.decode(three.span.bytes) { header, _ in header.msgId == 3 ? .stop : .more }
        #expect(used == three.count)
    }

    @Test func `a handler that stopped is not shown the error behind its frame`() throws {
        var decoder = FrameDecoder()
        let stream = RawFrame.frame([1]) + RawFrame.header(version: 0, length: 0)
        let used = try decoder.decode(stream.span.bytes) { _, _ in .stop }
        #expect(used == 11)
        let error = caught { () throws(FrameError) in _ = try take(Array(stream.dropFirst(used)), &decoder) }
        let offset = decoder.frameOffset
        #expect(error == .unsupportedVersion(version: 0) && offset == 11)
    }

    @Test func `closing from the handler: the decoder can be dropped right after`() throws {
        var delivered = 0
        do {
            var decoder = FrameDecoder()
            try decoder.decode(three.span.bytes) { _, _ in
                delivered += 1
                return .stop
            }
        }
        #expect(delivered == 1)
    }

    @Test func `an empty read changes nothing at any point of the stream`() throws {
        var decoder = FrameDecoder()
        var frames: [Frame] = []
        for byte in three {
            frames += try take([], &decoder)
            frames += try take([byte], &decoder)
            try decoder.append(RawSpan())
        }
        try decoder.finish()
        #expect(frames == decoded(three).frames)
    }

    @Test func `both faces may take turns on one stream at any byte`() throws {
        let seed: UInt64 = 77
        var generator = SeededGenerator(seed: seed)
        for round in 0..<300 {
            let frames = (0..<12).map {
                Frame(msgId: $0, body: [UInt8](repeating: UInt8($0), count: Int.random(in: 0...40, using: &generator)))
            }
            let stream = frames.flatMap { RawFrame.frame($0.body, msgId: $0.msgId) }
            var decoder = FrameDecoder()
            var found: [Frame] = []
            var at = 0
            while at < stream.count {
                let read = Array(stream[at..<min(stream.count, at + Int.random(in: 1...60, using: &generator))])
                at += read.count
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: found += try take(read, &decoder)
                case 1: try decoder.append(read.span.bytes)
                case 2:
                    try decoder.append(read.span.bytes)
                    if let one = try decoder.next() { found.append(one.copy()) }
                default:
                    try decoder.append(read.span.bytes)
                    found += try take([], &decoder)
                    decoder.shrink()
                }
            }
            found += try pullAll(&decoder)
            try decoder.finish()
            #expect(found == frames, "seed \(seed), round \(round)")
        }
    }
}
