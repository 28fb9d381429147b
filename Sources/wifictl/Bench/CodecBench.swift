import FrameCodec
import SocketCore

extension Benchmark {
    static let decode = Benchmark(name: "decode", summary: "decoding frames, in place and pulled, for several bodies and ways of cutting") {
        try CodecBench(run: $0).decode()
    }
    static let encode = Benchmark(name: "encode", summary: "encoding frames into an output span and into an array") {
        try CodecBench(run: $0).encode()
    }
}

/// The figures of `wifictl bench decode` and `bench encode`.
struct CodecBench {
    /// The two sides of a measurement disagree about the work, so their times can't be compared.
    struct Disagreement: Error, CustomStringConvertible {
        var parameters: [JSONValue.Member]
        var description: String { "the codec and its reference in C found different frames at \(parameters)" }
    }

    static let bodies = [16, 256, 4_096, 65_536]
    /// Any fixed number: it only makes runs comparable.
    static let seed: UInt64 = 19_510
    /// Two of the largest frames: small enough for a cache, as a connection's output buffer is.
    static let outputByteCount = 2 * (65_536 + FrameHeader.byteCount)
    static let unit = "ns/frame"

    let run: Benchmark.Run
    /// Nil where there's no C compiler.
    let reference: CReference?

    init(run: Benchmark.Run) {
        self.run = run
        do throws(CLibrary.Absence) {
            reference = try CReference()
        } catch {
            reference = nil
            run.remark("no figures of the reference in C: \(error)")
        }
    }

    /// Measures decoding with both faces, for every body and input.
    func decode() throws {
        for body in CodecBench.bodies {
            for input in FrameStream.Input.allCases {
                var generator = SeededGenerator(seed: CodecBench.seed)
                let stream = try FrameStream(bodyLength: body, input: input, using: &generator)
                let faces = [("inPlace", CodecPasses.inPlace), ("pull", CodecPasses.pull)]
                for (face, pass) in faces {
                    let parameters: [JSONValue.Member] = [
                        .init("body", .whole(body)), .init("input", .string(input.rawValue)), .init("face", .string(face)),
                    ]
                    let twin = reference.map { reference in
                        { (rounds: Int) in reference.decode(stream, rounds: rounds, copies: face == "pull") }
                    }
                    if let twin, try twin(2) != pass(stream, 2) { throw Disagreement(parameters: parameters) }
                    try measure("decode", parameters, { try pass(stream, $0).frames }, twin.map { twin in { twin($0).frames } })
                }
            }
        }
    }

    /// Measures encoding into an output span and into an array, for every body.
    func encode() throws {
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
            func parameters(_ face: String) -> [JSONValue.Member] { [.init("body", .whole(body)), .init("face", .string(face))] }
            try measure(
                "encode", parameters("span"),
                { rounds in
                    _ = try CodecPasses.encodeIntoSpan(bytes, count: rounds, buffer: output)
                    return UInt64(rounds)
                }, twin)
            // The reference has no growing array, so this face stands alone.
            try measure(
                "encode", parameters("array"),
                { rounds in
                    _ = try CodecPasses.encodeIntoArray(bytes, count: rounds, capacity: CodecBench.outputByteCount, output: &array)
                    return UInt64(rounds)
                }, nil)
        }
    }

    private func measure(
        _ name: String, _ parameters: [JSONValue.Member], _ work: (Int) throws -> UInt64, _ twin: ((Int) throws -> UInt64)?
    ) throws {
        try withoutActuallyEscaping(work) { work in
            let series = try Sampling.interleaved(for: run.nanosecondsPerFigure, twin.map { [work, $0] } ?? [work])
            let own = series[0]
            var figure = Benchmark.Figure(
                name: name, parameters: parameters, value: own.median, unit: CodecBench.unit, samples: own.samples)
            if series.count > 1 {
                figure.ratio = own.median / series[1].median
                try run.report(
                    Benchmark.Figure(
                        name: name + "Reference", parameters: parameters, value: series[1].median, unit: CodecBench.unit,
                        samples: series[1].samples))
            }
            figure.more = try CallCounter.shared?.count(work) ?? []
            try run.report(figure)
        }
    }
}
