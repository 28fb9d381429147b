import FrameCodec
import SocketCore
import TestSupport
import Testing

@Suite struct `The encoder` {
    @Test(arguments: FrameLayout.allCases)
    func `writes the layouts byte for byte`(layout: FrameLayout) throws {
        let encoder = FrameEncoder(layout: layout)
        for (id, version, count) in [(1, 1, 0), (0xFFFF_FFFF, 0xFFFF, 1), (0x0102_0304, 0x0506, 16), (0, 9, 300), (7, 1, 9_999)]
            as [(UInt32, UInt16, Int)]
        {
            let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let expected = RawFrame.frame(body, msgId: id, version: version, layout: layout)
            #expect(try encoder.encode(Frame(msgId: id, version: version, body: body)) == expected)
            var array: [UInt8] = [0xAA]
            try encoder.encode(msgId: id, version: version, body: body.span.bytes, into: &array)
            #expect(array == [0xAA] + expected)
            #expect(try intoSpan(encoder, id, version, body, capacity: expected.count).bytes == expected)
        }
    }

    @Test func `moves bodies of every short length whole`() throws {
        for count in 0...70 {
            let body = (0..<count).map { UInt8($0 + 1) }
            let written = try intoSpan(FrameEncoder(), 1, 1, body, capacity: 100)
            #expect(written.bytes == RawFrame.frame(body))
        }
    }

    @Test func `refuses what doesn't fit the output, with nothing written`() throws {
        for count in [0, 1, 8, 16, 50] {
            let body = [UInt8](repeating: 1, count: count)
            for missing in [1, 10 + count] {
                let result = try intoSpan(FrameEncoder(), 1, 1, body, capacity: 10 + count - missing)
                #expect(result.error == .outputTooSmall(have: 10 + count - missing, need: 10 + count))
                #expect(result.bytes.isEmpty)
            }
        }
    }

    @Test(arguments: FrameLayout.allCases)
    func `refuses exactly what a decoder with the same limits refuses, with nothing written, and says the same`(layout: FrameLayout) throws
    {
        let seed: UInt64 = 3_600
        var generator = SeededGenerator(seed: seed)
        for round in 0..<2_000 {
            let lowest = UInt16.random(in: 1...3, using: &generator)
            let limit = [0, 1, 15, 16, 17, 40, 9_998, 9_999, 10_000, 20_000][Int.random(in: 0..<10, using: &generator)]
            let limits = FrameLimits(maximumBodyLength: limit, versions: lowest...UInt16.random(in: lowest...4, using: &generator))
            let version = UInt16.random(in: 0...5, using: &generator)
            let near = min(limit, layout.maximumExpressibleLength)
            let count = max(
                0, round.isMultiple(of: 3) ? near + Int.random(in: -1...1, using: &generator) : Int.random(in: 0...60, using: &generator))
            let body = [UInt8](repeating: UInt8.random(in: 0...255, using: &generator), count: count)
            let id = UInt32.random(in: 0...UInt32.max, using: &generator)

            let encoder = FrameEncoder(layout: layout, limits: limits)
            var array: [UInt8] = []
            let refusal = caught { () throws(FrameError) in
                try encoder.encode(msgId: id, version: version, body: body.span.bytes, into: &array)
            }
            let span = try intoSpan(encoder, id, version, body, capacity: 30_000)
            #expect(span.bytes == array && span.error == refusal, "seed \(seed), round \(round)")
            if layout == .asciiLength, count > 9_999 {
                // What no header can say, no decoder can be shown.
                #expect(array.isEmpty && refusal != nil, "seed \(seed), round \(round)")
                continue
            }
            let answer = decoded(RawFrame.frame(body, msgId: id, version: version, layout: layout), layout: layout, limits: limits)
            #expect(answer.error == refusal, "seed \(seed), round \(round)")
            let back = decoded(array, layout: layout, limits: limits, ended: true)
            #expect(back.frames == (refusal == nil ? [Frame(msgId: id, version: version, body: body)] : []), "seed \(seed), round \(round)")
        }
    }

    @Test(arguments: FrameLayout.allCases)
    func `writes again, byte for byte, whatever canonical stream a decoder has read`(layout: FrameLayout) throws {
        var generator = SeededGenerator(seed: 8)
        let stream = (0..<200).flatMap { index in
            let body = [UInt8](repeating: UInt8(index), count: Int.random(in: 0...90, using: &generator))
            return RawFrame.frame(
                body, msgId: .random(in: 0...(.max), using: &generator), version: .random(in: 1...(.max), using: &generator), layout: layout
            )
        }
        let encoder = FrameEncoder(layout: layout)
        let again = try decoded(stream, layout: layout).frames.flatMap { try encoder.encode($0) }
        #expect(again == stream)
    }

    private func intoSpan(
        _ encoder: FrameEncoder, _ id: UInt32, _ version: UInt16, _ body: [UInt8], capacity: Int
    ) throws -> (bytes: [UInt8], error: FrameError?) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, capacity), alignment: 1)
        defer { buffer.deallocate() }
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<capacity])
        var output = OutputRawSpan(buffer: room, initializedCount: 0)
        var error: FrameError?
        do throws(FrameError) {
            try encoder.encode(msgId: id, version: version, body: body.span.bytes, into: &output)
        } catch let refusal {
            error = refusal
        }
        let written = output.finalize(for: room)
        return (Array(room[..<written]), error)
    }
}
