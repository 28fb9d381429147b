import Glibc

/// A file that a command writes: beside its place first, then renamed, so that nobody meets half of one.
enum FileOutput {
    /// - Throws: ``ToolError`` that names the file.
    static func write(_ bytes: [UInt8], to path: String) throws(ToolError) {
        let beside = path + ".new"
        let number = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw failure(path, "name a place that you may write to") }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress! + written, bytes.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = failure(path, "is the disk full?")
                close(number)
                unlink(beside)
                throw error
            }
            written += count
        }
        guard close(number) == 0, rename(beside, path) == 0 else { throw failure(path, "is the disk full, or is it a directory?") }
    }

    private static func failure(_ path: String, _ hint: String) -> ToolError {
        ToolError("cannot write \(path): \(systemMessage(errno))", hint: hint)
    }
}
