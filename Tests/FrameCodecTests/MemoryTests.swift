import FrameCodec
import SocketCore
import TestSupport
import Testing

@Suite struct `Memory and copying` {
    /// A way of handing a stream over.
    enum Cutting: CaseIterable, Sendable {
        case bytewise, small, half, sticky, whole

        func cuts(_ count: Int, _ generator: inout SeededGenerator) -> [Int] {
            var cuts: [Int] = []
            var from = 0
            while from < count {
                let step =
                    switch self {
                    case .bytewise: 1
                    case .small: Int.random(in: 1...9, using: &generator)
                    case .half: Int.random(in: 1...1_500, using: &generator)
                    case .sticky: 65_536
                    case .whole: count
                    }
                from = min(count, from + step)
                cuts.append(from)
            }
            return cuts
        }
    }

    /// What feeding a stream cost.
    private struct Cost {
        var delivered = 0
        var copied = 0
        var highestCapacity = 0
        var largestRead = 0
    }

    /// Body lengths of streams.
    static let bodies: [[Int]] = [
        [Int](repeating: 16, count: 4_000), [Int](repeating: 0, count: 3_000), [1 << 20], [1 << 20, 5, 1 << 20, 0],
        [65_536, 65_536, 65_536],
        (0..<60).map { ($0 * 7_919) % 5_000 },
    ]

    @Test(arguments: bodies, Cutting.allCases)
    func `in place: each byte is copied a bounded number of times and the buffer never exceeds the largest frame`(
        lengths: [Int], cutting: Cutting
    ) throws {
        let cost = try feed(lengths, cutting) { read, decoder in
            var delivered = 0
            try decoder.decode(read.span.bytes) { header, _ in
                delivered += header.frameByteCount
                return .more
            }
            return delivered
        }
        check(cost, lengths, largestCapacity: max(64, 10 + (lengths.max() ?? 0)))
    }

    @Test(arguments: bodies, Cutting.allCases)
    func `pull: each byte is copied a bounded number of times and the buffer never exceeds the largest frame and one read`(
        lengths: [Int], cutting: Cutting
    ) throws {
        let cost = try feed(lengths, cutting) { read, decoder in
            try decoder.append(read.span.bytes)
            var delivered = 0
            while let frame = try decoder.next() { delivered += frame.header.frameByteCount }
            return delivered
        }
        check(cost, lengths, largestCapacity: max(64, 10 + (lengths.max() ?? 0) + cost.largestRead))
    }

    @Test(arguments: bodies, [Cutting.small, .half, .sticky])
    func `appending everything before the first pull costs a bounded number of copies as well`(lengths: [Int], cutting: Cutting) throws {
        var left = lengths.reduce(0) { $0 + 10 + $1 }
        let total = left
        let cost = try feed(lengths, cutting) { read, decoder in
            try decoder.append(read.span.bytes)
            left -= read.count
            var delivered = 0
            while left == 0, let frame = try decoder.next() { delivered += frame.header.frameByteCount }
            return delivered
        }
        check(cost, lengths, largestCapacity: 2 * total + 64)
    }

    @Test(arguments: [Cutting.small, .half])
    func `taking one frame a read from a long queue doesn't move the queue each time`(cutting: Cutting) throws {
        let lengths = [Int](repeating: 16, count: 20_000)
        var reads = 0
        let cost = try feed(lengths, cutting) { read, decoder in
            try decoder.append(read.span.bytes)
            reads += 1
            guard let frame = try decoder.next() else { return 0 }
            return frame.header.frameByteCount
        } finish: { decoder in
            var delivered = 0
            while let frame = try decoder.next() { delivered += frame.header.frameByteCount }
            return delivered
        }
        check(cost, lengths, largestCapacity: 2 * 26 * lengths.count + 64)
    }

    @Test(arguments: FrameLayout.allCases)
    func `a thousand peers that declare the limit and send nothing cost what they sent`(layout: FrameLayout) throws {
        let limit = min(1 << 20, layout.maximumExpressibleLength)
        let header = RawFrame.header(layout, length: UInt32(limit))
        var total = 0
        for index in 0..<1_000 {
            var decoder = FrameDecoder(layout: layout)
            if index.isMultiple(of: 2) {
                _ = try take(header, &decoder)
            } else {
                try decoder.append(header.span.bytes)
                let none = try pullAll(&decoder)
                #expect(none.isEmpty)
            }
            total += decoder.capacity
        }
        #expect(total <= 1_000 * 64)
    }

    @Test func `the buffer is at most twice what was received, at every byte of a large body`() throws {
        var decoder = FrameDecoder()
        let stream = RawFrame.header(length: 1 << 20) + [UInt8](repeating: 9, count: 200_000)
        var worst = 0.0
        for (index, byte) in stream.enumerated() {
            _ = try take([byte], &decoder)
            if index >= 64 { worst = max(worst, Double(decoder.capacity) / Double(index + 1)) }
        }
        #expect(worst <= 2)
    }

    @Test func `shrinking gives memory back and keeps what is held`() throws {
        var decoder = FrameDecoder()
        let large = RawFrame.frame([UInt8](repeating: 1, count: 100_000))
        let tail = RawFrame.frame([4, 5, 6], msgId: 2)
        let both = large + tail.prefix(12)
        try decoder.append(both.span.bytes)
        while try decoder.next() != nil {}
        decoder.shrink()
        let (capacity, held) = (decoder.capacity, decoder.heldByteCount)
        #expect(capacity == 64 && held == 12)
        let last = try take(Array(tail.dropFirst(12)), &decoder)
        #expect(last == [Frame(msgId: 2, body: [4, 5, 6])])
        decoder.shrink()
        let empty = decoder.capacity
        #expect(empty == 0)
    }

    private func feed(
        _ lengths: [Int], _ cutting: Cutting, _ step: ([UInt8], inout FrameDecoder) throws -> Int,
        finish: (inout FrameDecoder) throws -> Int = { _ in 0 }
    ) throws -> Cost {
        var generator = SeededGenerator(seed: 4)
        let stream = lengths.flatMap { RawFrame.frame([UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0)) }
        var decoder = FrameDecoder()
        var cost = Cost()
        var from = 0
        for cut in cutting.cuts(stream.count, &generator) {
            cost.delivered += try step(Array(stream[from..<cut]), &decoder)
            cost.largestRead = max(cost.largestRead, cut - from)
            cost.highestCapacity = max(cost.highestCapacity, decoder.capacity)
            from = cut
        }
        cost.delivered += try finish(&decoder)
        try decoder.finish()
        cost.copied = Int(decoder.copiedByteCount)
        return cost
    }

    private func check(_ cost: Cost, _ lengths: [Int], largestCapacity: Int, at location: SourceLocation = #_sourceLocation) {
        let total = lengths.reduce(0) { $0 + 10 + $1 }
        #expect(cost.delivered == total, sourceLocation: location)
        // Once into the buffer, up to twice while it grows by doubling, once when a tail moves to the front.
        #expect(cost.copied <= 4 * total, sourceLocation: location)
        #expect(cost.highestCapacity <= largestCapacity, sourceLocation: location)
    }
}
