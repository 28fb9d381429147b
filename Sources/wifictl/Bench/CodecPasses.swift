import FrameCodec

/// What a pass found: compared between the implementations, so that none is measured at doing less.
struct PassResult: Equatable {
    var sum: UInt64 = 0
    var frames: UInt64 = 0

    /// The work done with each frame, the same as in reference.c.
    @inline(__always)
    mutating func take(_ header: FrameHeader, _ body: RawSpan) {
        let first = body.isEmpty ? 0 : body.unsafeLoad(as: UInt8.self)
        sum &+= UInt64(header.msgId) &+ UInt64(truncatingIfNeeded: body.byteCount) &+ UInt64(first)
        frames &+= 1
    }
}

/// The codec's hot loops as a program would write them, on the public API alone.
enum CodecPasses {
    /// Decodes the stream `rounds` times over, each read in place.
    @inline(never)
    static func inPlace(_ stream: FrameStream, rounds: Int) throws(FrameError) -> PassResult {
        var result = PassResult()
        var decoder = FrameDecoder()
        let bytes = stream.bytes.span.bytes
        let cuts = stream.cuts.span
        for _ in 0..<rounds {
            var from = 0
            for index in cuts.indices {
                let cut = cuts[index]
                try decoder.decode(bytes.extracting(from..<cut)) { header, body in
                    result.take(header, body)
                    return .more
                }
                from = cut
            }
        }
        return result
    }

    /// Decodes the stream `rounds` times over, each read appended and its frames pulled.
    @inline(never)
    static func pull(_ stream: FrameStream, rounds: Int) throws(FrameError) -> PassResult {
        var result = PassResult()
        var decoder = FrameDecoder()
        let bytes = stream.bytes.span.bytes
        let cuts = stream.cuts.span
        for _ in 0..<rounds {
            var from = 0
            for index in cuts.indices {
                let cut = cuts[index]
                try decoder.append(bytes.extracting(from..<cut))
                while let frame = try decoder.next() {
                    result.take(frame.header, frame.body)
                }
                from = cut
            }
        }
        return result
    }

    /// Appends `count` frames to an array, emptied whenever it's full. Gives the bytes written.
    @inline(never)
    static func encodeIntoArray(_ body: [UInt8], count: Int, capacity: Int, output: inout [UInt8]) throws(FrameError) -> UInt64 {
        let encoder = FrameEncoder()
        let bytes = body.span.bytes
        let frameByteCount = FrameHeader.byteCount + body.count
        var written: UInt64 = 0
        output.removeAll(keepingCapacity: true)
        output.reserveCapacity(capacity)
        for index in 0..<count {
            if capacity - output.count < frameByteCount { output.removeAll(keepingCapacity: true) }
            try encoder.encode(msgId: UInt32(truncatingIfNeeded: index), body: bytes, into: &output)
            written &+= UInt64(frameByteCount)
        }
        return written
    }

    /// Writes `count` frames to an output span, emptied whenever the encoder finds it full. Gives the bytes written.
    @inline(never)
    static func encodeIntoSpan(_ body: [UInt8], count: Int, buffer: UnsafeMutableRawBufferPointer) throws(FrameError) -> UInt64 {
        var output = OutputRawSpan(buffer: buffer, initializedCount: 0)
        let encoder = FrameEncoder()
        let bytes = body.span.bytes
        var written: UInt64 = 0
        output.removeAll()
        for index in 0..<count {
            do {
                try encoder.encode(msgId: UInt32(truncatingIfNeeded: index), body: bytes, into: &output)
            } catch {
                written &+= UInt64(output.byteCount)
                output.removeAll()
                try encoder.encode(msgId: UInt32(truncatingIfNeeded: index), body: bytes, into: &output)
            }
        }
        written &+= UInt64(output.byteCount)
        _ = output.finalize(for: buffer)
        return written
    }
}
