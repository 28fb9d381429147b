import Glibc
import SocketCore
import WifiDiscovery

/// A file that a command writes: beside its place first, then renamed, so that nobody meets half of one. What is no regular file is
/// written as it is.
enum FileOutput {
    /// Whether the place can be written to, before long work is done for it; nothing is made or changed.
    ///
    /// - Throws: ``ToolError`` that names the file.
    static func check(_ path: String) throws(ToolError) {
        let place = try place(path)
        guard place.isFile else { return }
        let folder = place.target.lastIndex(of: "/").map { $0 == place.target.startIndex ? "/" : String(place.target[..<$0]) } ?? "."
        guard access(folder, W_OK | X_OK) == 0 else { throw failure(path, errno, "name a place that you may write to") }
    }

    /// - Throws: ``ToolError`` that names the file.
    static func write(_ bytes: [UInt8], to path: String) throws(ToolError) {
        let place = try place(path)
        guard place.isFile else {
            do throws(SystemError) {
                // In a variable: its number alone is valid only for as long as somebody holds the descriptor.
                let open = try place.open()
                try write(bytes, open.number)
                return
            } catch { throw failure(path, error.code, "is it full?") }
        }
        let beside = place.target + ".new"
        let number = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard number >= 0 else { throw failure(path, errno, "name a place that you may write to") }
        let file = FileDescriptor(owning: number)
        do throws(SystemError) {
            try write(bytes, file.number)
            try place.handDown(to: file.number)
            guard rename(beside, place.target) == 0 else { throw SystemError(function: "rename", code: errno) }
        } catch {
            unlink(beside)
            throw failure(path, error.code, "is the disk full?")
        }
    }

    private static func write(_ bytes: [UInt8], _ number: Int32) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(number, $0.baseAddress! + written, bytes.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(function: "write", code: errno) }
            written += count
        }
    }

    private static func place(_ path: String) throws(ToolError) -> OutputPlace {
        do throws(StreamFileError) { return try OutputPlace(path) } catch {
            switch error {
            case .unfit(_, let kind): throw ToolError("cannot write \(path): it is \(kind)", hint: "name a file")
            case .system(let error): throw failure(path, error.code, "name a place that you may write to")
            default: throw ToolError("cannot write \(path): \(error)")
            }
        }
    }

    private static func failure(_ path: String, _ code: Int32, _ hint: String) -> ToolError {
        ToolError("cannot write \(path): \(systemMessage(code))", hint: hint)
    }
}
