import Glibc

/// C code of this project, compiled with the system's compiler when it's needed, and loaded: what benchmarks are measured against.
final class CLibrary {
    /// Why there are no reference figures.
    enum Absence: Error, CustomStringConvertible {
        case noSource(String)
        case noCompiler(tried: [String])
        case refused(compiler: String, message: String)
        case noFolder(ToolError)

        /// The reason in words, for a remark.
        var description: String {
            switch self {
            case .noSource(let path): "its source, \(path), comes with this project's sources, and isn't above this wifictl (make bench)"
            case .noCompiler(let tried): "there's no C compiler (tried \(tried.joined(separator: ", ")))"
            case .refused(let compiler, let message): "\(compiler) can't make it: \(message)"
            case .noFolder(let error): error.description
            }
        }
    }

    /// As far above the executable as a build's folder can be.
    private static let mostFolders = 8
    private static let compilers = ["cc", "clang", "gcc"]

    /// The compiler that was used, for the report.
    let compiler: String
    private let source: String
    private let handle: UnsafeMutableRawPointer
    private let staysLoaded: Bool

    /// Compiles and loads a file of this project.
    ///
    /// - Parameters:
    ///   - sourcePath: the file below the project's folder.
    ///   - libraries: what it's linked with.
    ///   - staysLoaded: for code whose threads may outlive whoever asked for it.
    init(_ sourcePath: String, libraries: [String] = [], staysLoaded: Bool = false) throws(Absence) {
        source = try CLibrary.find(sourcePath)
        let folder: ScratchFolder
        do throws(ToolError) { folder = try ScratchFolder("bench") } catch { throw .noFolder(error) }
        let object = folder.path + "/reference.so"
        compiler = try CLibrary.compile(source, to: object, libraries)
        guard let handle = dlopen(object, RTLD_NOW | RTLD_LOCAL) else {
            throw .refused(compiler: compiler, message: dlerror().map { String(cString: $0) } ?? "the compiled reference can't be loaded")
        }
        self.handle = handle
        self.staysLoaded = staysLoaded
    }

    deinit { if !staysLoaded { dlclose(handle) } }

    /// One of its functions, valid as long as the library is kept.
    ///
    /// - Parameter type: a `@convention(c)` function type that agrees with the C declaration.
    func function<Function>(_ name: String, _ type: Function.Type) throws(Absence) -> Function {
        guard let found = dlsym(handle, name) else {
            throw .refused(compiler: compiler, message: "\(source) lacks \(name)")
        }
        return unsafeBitCast(found, to: type)
    }

    /// In a folder above the executable, as after a build. Not beside the working directory: this file's code is run, and a folder that
    /// one happens to be in has no say about that.
    private static func find(_ sourcePath: String) throws(Absence) -> String {
        guard let executable = realpath("/proc/self/exe", nil) else { throw .noSource(sourcePath) }
        defer { free(executable) }
        var folder = String(cString: executable)
        for _ in 0..<mostFolders {
            guard let slash = folder.lastIndex(of: "/") else { break }
            folder = String(folder[..<slash])
            let path = folder + "/" + sourcePath
            if isTrusted(path) { return path }
        }
        throw .noSource(sourcePath)
    }

    /// Whether the file is there and was put there by this user or the system's administrator.
    private static func isTrusted(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && (facts.st_uid == geteuid() || facts.st_uid == 0)
    }

    /// Makes a shared object of a C file; gives the compiler that did.
    private static func compile(_ source: String, to object: String, _ libraries: [String]) throws(Absence) -> String {
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
