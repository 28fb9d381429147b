import Glibc
import SocketCore
import WifiDiscovery

/// `read ROUTER STREAM`: a stream of the router, in pieces.
extension Command {
    private static let outputFile = Option(
        "output", "FILE", .path, "write there; an unfinished FILE.part is gone on with, and renamed when it is whole")

    static let read = Command(
        name: "read", summary: "fetches a stream of a router in pieces", positionals: ["ROUTER", "STREAM"],
        discussion: "Without --output the bytes go to standard output. A connection that is lost on the way is resumed where it was.",
        options: [outputFile, SessionTool.alone] + TrustOptions.talking, isForAgent: SessionTool.isForAgent,
        examples: [Example("wifictl read Attic log --output attic.log", "with progress, and resumable after an interruption")]
    ) { arguments, context in
        let stream = try arguments.required(1, "STREAM")
        let path = arguments[outputFile]
        let output = context.output
        let sink = try StreamSink(path, output)
        return try await SessionTool.withRouter(try arguments.required(0, "ROUTER"), arguments, context, within: nil) {
            let total = try await $0.read(stream, from: sink.offset) { piece in
                try sink.take(piece)
                await output.room()
                output.progress("\(stream): \(piece.offset + piece.data.count) of \(piece.total) bytes")
            }
            output.clearProgress()
            try sink.finish()
            if output.isJSON { output.json("read", ["stream": .string(stream), "bytes": .whole(total), "file": .text(path)]) }
            output.remark("\(total) bytes\(path.map { " in \($0)" } ?? "")")
            return .success
        }
    }
}

/// Where a stream's bytes go: a file beside the one that is wanted, renamed when it's whole, or standard output.
private final class StreamSink: Sendable {
    private let path: String?
    private let part: FileDescriptor?
    private let number: Int32
    private let output: Output
    /// Where to go on.
    let offset: Int

    init(_ path: String?, _ output: Output) throws {
        self.path = path
        self.output = output
        guard let path else {
            guard !output.isJSON else {
                throw UsageError("with --json the bytes need a file", hint: "add --output FILE")
            }
            part = nil
            number = -1
            offset = 0
            return
        }
        number = open(path + ".part", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw ToolError("cannot write \(path).part: \(systemMessage(errno))", hint: "name another file") }
        part = FileDescriptor(owning: number)
        offset = Int(lseek(number, 0, SEEK_END))
    }

    func take(_ piece: StreamPiece) throws {
        guard let path else { return output.bytes(piece.data) }
        var written = 0
        while written < piece.data.count {
            let count = piece.data.withUnsafeBytes { write(number, $0.baseAddress! + written, $0.count - written) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ToolError("cannot write \(path).part: \(systemMessage(errno))", hint: "is the disk full?") }
            written += count
        }
    }

    func finish() throws {
        guard let path else { return }
        guard fsync(number) == 0, rename(path + ".part", path) == 0 else {
            throw ToolError("cannot finish \(path): \(systemMessage(errno))", hint: "its bytes are in \(path).part")
        }
    }
}
