import FrameCodec
import SocketCore

/// The figures of `wifictl bench decode` and `bench encode`.
struct CodecBench {
    /// Which figure a row is.
    struct Subject: Equatable {
        /// `decode` or `encode`.
        var bench: String
        /// Body bytes a frame.
        var body: Int
        /// How the bytes arrive; nil where nothing arrives.
        var input: String?
        /// Which public face was used.
        var face: String
    }

    /// One line of the report.
    struct Row {
        var subject: Subject
        var series: Sampling.Series
        /// The C reference, measured in turns with it.
        var reference: Sampling.Series?

        /// How many times the reference's time.
        var ratio: Double? { reference.map { series.median / $0.median } }
    }

    /// The two sides of a measurement disagree about the work, so their times can't be compared.
    struct Disagreement: Error {
        var subject: Subject
    }

    static let bodies = [16, 256, 4_096, 65_536]
    /// Any fixed number: it only makes runs comparable.
    static let seed: UInt64 = 19_510
    /// Two of the largest frames: small enough for a cache, as a connection's output buffer is.
    static let outputByteCount = 2 * (65_536 + FrameHeader.byteCount)

    /// How long each row is measured, both sides together.
    var nanosecondsPerRow: UInt64 = 200_000_000
    /// Nil where there's no C compiler.
    var reference: CReference?

    /// Measures decoding with both faces, for every body and input, handing each row on as it is done.
    func decode(_ report: (Row) throws -> Void) throws {
        for body in CodecBench.bodies {
            for input in FrameStream.Input.allCases {
                var generator = SeededGenerator(seed: CodecBench.seed)
                let stream = try FrameStream(bodyLength: body, input: input, using: &generator)
                let faces = [("inPlace", CodecPasses.inPlace), ("pull", CodecPasses.pull)]
                for (face, pass) in faces {
                    let subject = Subject(bench: "decode", body: body, input: input.rawValue, face: face)
                    let twin = reference.map { reference in
                        { (rounds: Int) in reference.decode(stream, rounds: rounds, copies: face == "pull") }
                    }
                    if let twin, try twin(2) != pass(stream, 2) { throw Disagreement(subject: subject) }
                    try report(row(subject, { try pass(stream, $0).frames }, twin.map { twin in { twin($0).frames } }))
                }
            }
        }
    }

    /// Measures encoding into an output span and into an array, for every body.
    func encode(_ report: (Row) throws -> Void) throws {
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: CodecBench.outputByteCount, alignment: 64)
        defer { output.deallocate() }
        var array: [UInt8] = []
        for body in CodecBench.bodies {
            let bytes = [UInt8](repeating: 0x5A, count: body)
            let twin = reference.map { reference in
                { (rounds: Int) in
                    _ = reference.encode(bytes, count: rounds, into: output)
                    return UInt64(rounds)
                }
            }
            let intoSpan = { (rounds: Int) in
                _ = try CodecPasses.encodeIntoSpan(bytes, count: rounds, buffer: output)
                return UInt64(rounds)
            }
            let intoArray = { (rounds: Int) in
                _ = try CodecPasses.encodeIntoArray(bytes, count: rounds, capacity: CodecBench.outputByteCount, output: &array)
                return UInt64(rounds)
            }
            try report(row(Subject(bench: "encode", body: body, input: nil, face: "span"), intoSpan, twin))
            try report(row(Subject(bench: "encode", body: body, input: nil, face: "array"), intoArray, twin))
        }
    }

    private func row(
        _ subject: Subject, _ work: @escaping (Int) throws -> UInt64, _ twin: ((Int) throws -> UInt64)?
    ) throws -> Row {
        let series = try Sampling.interleaved(for: nanosecondsPerRow, twin.map { [work, $0] } ?? [work])
        return Row(subject: subject, series: series[0], reference: series.count > 1 ? series[1] : nil)
    }
}
