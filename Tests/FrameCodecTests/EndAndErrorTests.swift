import FrameCodec
import TestSupport
import Testing

@Suite struct `The end of a stream` {
    @Test(arguments: FrameLayout.allCases)
    func `is clean between frames and truncated everywhere else, with what was there and what was due`(layout: FrameLayout) {
        let bodies: [[UInt8]] = [[], [1], [UInt8](repeating: 7, count: 30), []]
        let stream = bodies.flatMap { RawFrame.frame($0, layout: layout) }
        var starts = [0]
        for body in bodies { starts.append(starts[starts.count - 1] + 10 + body.count) }
        for end in 0...stream.count {
            let whole = starts.lastIndex { $0 <= end } ?? 0
            let have = end - starts[whole]
            var expected = StreamAnswer(frameOffset: UInt64(starts[whole]))
            expected.frames = bodies.prefix(whole).map { Frame(msgId: 1, body: $0) }
            if have > 0 { expected.error = .truncated(have: have, need: have < 10 ? 10 : 10 + bodies[whole].count) }
            for face in SplitVerifier.Face.allCases {
                let found = SplitVerifier(layout: layout).answer(Array(stream.prefix(end)), cuts: [], face: face)
                #expect(found == expected, "end \(end), \(face)")
            }
        }
    }

    @Test func `is judged behind whole frames that nobody took`() throws {
        var decoder = FrameDecoder()
        try decoder.append((RawFrame.frame([1, 2]) + RawFrame.frame([3, 4])).span.bytes)
        try decoder.finish()
        try decoder.append(RawFrame.frame([1, 2]).span.bytes)
        try decoder.append(RawFrame.header(length: 4).span.bytes)
        let error = caught { () throws(FrameError) in try decoder.finish() }
        let offset = decoder.frameOffset
        #expect(error == .truncated(have: 10, need: 14) && offset == 36)
    }

    @Test func `is reported again however often it is asked for`() {
        var decoder = FrameDecoder()
        let work: [FrameError?] = (0..<3).map { _ in
            caught { () throws(FrameError) in
                if decoder.failure == nil { _ = try take([1, 2, 3], &decoder) }
                try decoder.finish()
            }
        }
        #expect(work == [FrameError?](repeating: .truncated(have: 3, need: 10), count: 3))
    }
}

@Suite struct `After an error` {
    @Test(arguments: [
        RawFrame.header(version: 0, length: 0), RawFrame.header(length: 0x8000_0000),
    ])
    func `nothing more is delivered or kept, and each call throws the same`(bad: [UInt8]) {
        var decoder = FrameDecoder()
        var frames: [Frame] = []
        let first = caught { () throws(FrameError) in
            try decoder.decode((RawFrame.frame([1]) + bad + RawFrame.frame([2])).span.bytes) { header, body in
                frames.append(Frame(header, body))
                return .more
            }
        }
        #expect(frames == [Frame(msgId: 1, body: [1])])
        #expect(first != nil)
        let good = RawFrame.frame([3])
        for _ in 0..<3 {
            let again = [
                caught { () throws(FrameError) in frames += try take(good, &decoder) },
                caught { () throws(FrameError) in frames += try take([], &decoder) },
                caught { () throws(FrameError) in try decoder.append(good.span.bytes) },
                caught { () throws(FrameError) in frames += try pullAll(&decoder) },
                caught { () throws(FrameError) in try decoder.finish() },
                decoder.failure,
            ]
            #expect(again == [FrameError?](repeating: first, count: 6))
        }
        let (held, capacity, offset) = (decoder.heldByteCount, decoder.capacity, decoder.frameOffset)
        #expect(frames.count == 1 && held == 0 && capacity == 0 && offset == 11)
    }

    @Test func `what was held is given back`() throws {
        var decoder = FrameDecoder()
        try decoder.append((RawFrame.frame([UInt8](repeating: 1, count: 5_000)) + RawFrame.header(version: 0, length: 0)).span.bytes)
        let frames = try pull(1, &decoder)
        #expect(frames == 1)
        let before = decoder.capacity
        let error = caught { () throws(FrameError) in _ = try pullAll(&decoder) }
        let after = decoder.capacity
        #expect(before > 5_000 && after == 0 && error == .unsupportedVersion(version: 0))
    }

    private func pull(_ count: Int, _ decoder: inout FrameDecoder) throws(FrameError) -> Int {
        var found = 0
        while found < count, try decoder.next() != nil { found += 1 }
        return found
    }
}
