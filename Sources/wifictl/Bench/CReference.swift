/// The C code that the codec is measured against.
final class CReference {
    private typealias Decode =
        @convention(c) (UnsafePointer<UInt8>, UnsafePointer<Int>, Int, Int, Int32, UnsafeMutablePointer<UInt64>) -> UInt64
    private typealias Encode = @convention(c) (UnsafeMutableRawPointer, Int, UnsafePointer<UInt8>, UInt32, Int) -> UInt64

    private let library: CLibrary
    private let decodeFunction: Decode
    private let encodeFunction: Encode

    /// The compiler that was used, for the report.
    var compiler: String { library.compiler }

    init() throws(CLibrary.Absence) {
        library = try CLibrary("Fixtures/bench/reference.c")
        decodeFunction = try library.function("reference_decode", Decode.self)
        encodeFunction = try library.function("reference_encode", Encode.self)
    }

    /// The C twin of ``CodecPasses/inPlace(_:rounds:)`` or, with `copies`, of ``CodecPasses/pull(_:rounds:)``.
    func decode(_ stream: FrameStream, rounds: Int, copies: Bool) -> PassResult {
        var result = PassResult()
        stream.bytes.withUnsafeBufferPointer { bytes in
            stream.cuts.withUnsafeBufferPointer { cuts in
                guard let bytes = bytes.baseAddress, let first = cuts.baseAddress else { return }
                result.sum = decodeFunction(bytes, first, cuts.count, rounds, copies ? 1 : 0, &result.frames)
            }
        }
        return result
    }

    /// The C twin of the encoding passes. Gives the bytes written.
    func encode(_ body: [UInt8], count: Int, into output: UnsafeMutableRawBufferPointer) -> UInt64 {
        body.withUnsafeBufferPointer { bytes in
            guard let target = output.baseAddress, let source = bytes.baseAddress else { return 0 }
            return encodeFunction(target, output.count, source, UInt32(truncatingIfNeeded: bytes.count), count)
        }
    }
}
