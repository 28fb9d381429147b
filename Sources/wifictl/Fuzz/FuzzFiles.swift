import Glibc

/// The fuzzer's files: streams to start from, and findings to keep.
enum FuzzFiles {
    /// The largest corpus or replay file, in bytes: longer streams only make runs slow.
    static let largestFile = 1 << 20

    /// The content of every file in `directory`, in the order of their names.
    static func corpus(_ directory: String) throws -> [(name: String, bytes: [UInt8])] {
        guard let handle = opendir(directory) else {
            throw ToolError("cannot read the corpus in \(directory): \(systemMessage(errno))", hint: "--corpus names a directory of files")
        }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix("."), isFile("\(directory)/\(name)") { names.append(name) }
        }
        var files: [(name: String, bytes: [UInt8])] = []
        for name in names.sorted() {
            let file = try InputFile("\(directory)/\(name)")
            files.append((name, try file.all(limit: largestFile)))
        }
        return files
    }

    /// Writes a file into `directory`, which is made if need be.
    ///
    /// - Returns: the file's path.
    static func write(_ bytes: [UInt8], as name: String, in directory: String) throws(ToolError) -> String {
        try makeDirectory(directory)
        let path = "\(directory)/\(name)"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw refused(path) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { throw refused(path) }
            rest = rest.dropFirst(max(0, count))
        }
        return path
    }

    static func makeDirectory(_ directory: String) throws(ToolError) {
        var made = directory.hasPrefix("/") ? "/" : ""
        for part in directory.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
            if mkdir(made, 0o755) != 0, errno != EEXIST { throw refused(made) }
        }
    }

    private static func refused(_ path: String) -> ToolError {
        ToolError("cannot write \(path): \(systemMessage(errno))", hint: "name another directory with --artifacts")
    }

    private static func isFile(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }
}
