import Glibc

/// The C code that the codec is measured against, compiled when it's needed.
final class CReference {
    typealias Decode = @convention(c) (UnsafePointer<UInt8>, UnsafePointer<Int>, Int, Int, Int32, UnsafeMutablePointer<UInt64>) -> UInt64
    typealias Encode = @convention(c) (UnsafeMutableRawPointer, Int, UnsafePointer<UInt8>, UInt32, Int) -> UInt64

    /// Why there are no reference figures.
    enum Absence: Error {
        case noSource(looked: [String])
        case noCompiler(tried: [String])
        case refused(compiler: String, message: String)
        case noFolder(parent: String)

        /// The reason in words, for a remark.
        var text: String {
            switch self {
            case .noSource(let looked): "its source isn't there (looked for \(looked.joined(separator: ", ")))"
            case .noCompiler(let tried): "there's no C compiler (tried \(tried.joined(separator: ", ")))"
            case .refused(let compiler, let message): "\(compiler) can't make it: \(message)"
            case .noFolder(let parent): "no folder can be made in \(parent) (see TMPDIR)"
            }
        }
    }

    /// The compiler that was used, for the report.
    let compiler: String
    private let handle: UnsafeMutableRawPointer
    private let decodeFunction: Decode
    private let encodeFunction: Encode

    static let compilers = ["cc", "clang", "gcc"]
    static let sourcePath = "Fixtures/bench/reference.c"

    /// Compiles and loads the reference.
    ///
    /// - Parameter source: the C file; nil looks above the executable.
    init(source: String? = nil) throws(Absence) {
        let source = if let source { source } else { try CReference.findSource(CReference.sourcePath) }
        let folder = try TemporaryFolder()
        let object = folder.path + "/reference.so"
        compiler = try CReference.compile(source, to: object)
        guard let handle = dlopen(object, RTLD_NOW | RTLD_LOCAL) else {
            throw .refused(compiler: compiler, message: dlerror().map { String(cString: $0) } ?? "the compiled reference can't be loaded")
        }
        guard let decode = dlsym(handle, "reference_decode"), let encode = dlsym(handle, "reference_encode") else {
            dlclose(handle)
            throw .refused(compiler: compiler, message: "\(source) lacks reference_decode or reference_encode")
        }
        self.handle = handle
        decodeFunction = unsafeBitCast(decode, to: Decode.self)
        encodeFunction = unsafeBitCast(encode, to: Encode.self)
    }

    deinit { dlclose(handle) }

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

    /// In a folder above the executable, as after a build. Not beside the working directory: this file's code is run, and a folder that
    /// one happens to be in has no say about that.
    static func findSource(_ sourcePath: String) throws(Absence) -> String {
        var looked: [String] = []
        guard let executable = realpath("/proc/self/exe", nil) else { throw .noSource(looked: looked) }
        defer { free(executable) }
        var folder = String(cString: executable)
        while let slash = folder.lastIndex(of: "/"), looked.count < 8 {
            folder = String(folder[..<slash])
            let path = folder + "/" + sourcePath
            if isTrusted(path) { return path }
            looked.append(path)
        }
        throw .noSource(looked: looked)
    }

    /// Whether the file is there and was put there by this user or the system's administrator.
    private static func isTrusted(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && (facts.st_uid == geteuid() || facts.st_uid == 0)
    }

    /// Makes a shared object of a C file; gives the compiler that did.
    static func compile(_ source: String, to object: String, libraries: [String] = []) throws(Absence) -> String {
        for compiler in compilers {
            switch ChildRun.run([compiler, "-O3", "-shared", "-fPIC", "-o", object, source] + libraries.map { "-l" + $0 }) {
            case .notStarted: continue
            case .ended(status: 0): return compiler
            case .ended(let status): throw .refused(compiler: compiler, message: "it ended with status \(status)")
            }
        }
        throw .noCompiler(tried: compilers)
    }
}

/// A folder that is gone, with the file in it, when the value is.
struct TemporaryFolder: ~Copyable {
    let path: String

    init() throws(CReference.Absence) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((parent + "/wifictl-bench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw .noFolder(parent: parent) }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        unlink(path + "/reference.so")
        rmdir(path)
    }
}
